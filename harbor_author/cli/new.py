"""`author new`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.cli.complete import card_ids
from harbor_author.errors import AuthorError
from harbor_author.scaffold import DEFAULT_SLUG, TaskRequest, new_task, parse_host
from harbor_author.suite import Suite, check_series, check_slug, next_id


@author_command(
    "author new --series H",
    "author new --series M --slug renamed-service --cards DSH-0.1.2-A3-01",
    "author new --series S --title '旧插件的触点' --language zh --json",
)
@click.option(
    "--series", required=True, metavar="LETTER", help="S static, M migration, H hands-on trap, or your own."
)
@click.option(
    "--slug", help=f"The words after the number (default: {DEFAULT_SLUG}; asked for on a terminal)."
)
@click.option("--title", help="One line of any text; default: made from the slug.")
@click.option(
    "--cards", metavar="ID,...", shell_complete=card_ids, help="Full IDs of the cards that the task is about."
)
@click.option("--mode", help="readonly, mutable or build-artifacts-only (default: the series').")
@click.option(
    "--host", metavar="[SOURCE:]VERSION", help="Another host than the suite's, as in pypi:0.1.2-alpha.3."
)
@click.option(
    "--language", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Of the instruction."
)
@click.option("--branches", is_flag=True, help="Numbers on remote-tracking branches are in use, too.")
@click.option("--dry-run", is_flag=True, help="Say what would be made; write nothing.")
@suite_option
@json_option
def command(
    series: str,
    slug: str | None,
    title: str | None,
    cards: str | None,
    mode: str | None,
    host: str | None,
    language: str,
    branches: bool,
    dry_run: bool,
    suite_dir: Path | None,
    as_json: bool,
) -> None:
    """Scaffold a task that is sound from the start, under the next free ID.

    It validates and proves 0 to 100 as it is; replace it piece by piece and stay green.
    """
    suite = open_suite(suite_dir)
    check_series(suite, series)
    request = TaskRequest(
        series=series,
        slug=slug if slug is not None else _ask_slug(suite, series, as_json),
        title=title,
        cards=tuple(card.strip() for card in cards.split(",") if card.strip()) if cards else (),
        mode=mode,
        host=parse_host(host, suite.settings.host) if host is not None else None,
        language="zh" if language == "zh" else "en",
    )
    made = new_task(suite, request, remotes=branches, dry_run=dry_run)
    if as_json:
        print_json(
            {"schema": "author/new/1", "id": made.name.id, "name": str(made.name), "path": str(made.path)}
        )
        return
    click.echo(f"{'Would make' if dry_run else 'Made'} {made.name} in {made.path}")
    for file in made.files:
        click.echo(f"  {file.path}")
    if dry_run:
        click.echo("Nothing was written (--dry-run).")
        return
    option = f" --suite {shlex.quote(str(suite_dir))}" if suite_dir else ""
    click.echo("\nNext:")
    click.echo(f"  author validate {made.name.id}{option}")
    click.echo(f"  author oracle-check {made.name.id}{option}")
    click.echo(f"  $EDITOR {shlex.quote(str(made.path / 'instruction.md'))}")


def _ask_slug(suite: Suite, series: str, as_json: bool) -> str:
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return DEFAULT_SLUG

    def checked(value: str) -> str:
        try:
            return check_slug(value.strip())
        except AuthorError as error:
            raise click.BadParameter(str(error)) from error

    text = f"Slug of the new task ({next_id(suite, series)}-...)"
    answer = click.prompt(text, default=DEFAULT_SLUG, value_proc=checked, err=True)
    return str(answer)
