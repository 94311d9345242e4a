"""`author extract`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.cli.complete import card_ids
from harbor_author.scaffold import DEFAULT_SLUG, TaskRequest


@author_command(
    "author extract ../some-plugin 3f2c91d --series M --dry-run",
    "author extract ../some-plugin 3f2c91d --series M --cards DSH-0.1.2-A3-01",
    "author extract ../mono 8d1e --from 51aa --series H --subdir packages/board --trap --scrub",
)
@click.argument("repository", type=click.Path(path_type=Path))
@click.argument("commit")
@click.option("--from", "first", metavar="REV", help="The first commit of a corridor that ends with COMMIT.")
@click.option("--series", required=True, metavar="LETTER", help="M migration, H hands-on trap, or your own.")
@click.option(
    "--slug", default=DEFAULT_SLUG, help="The words after the number (default: the package's name)."
)
@click.option("--title", help="One line of any text; default: made from the slug.")
@click.option(
    "--cards", metavar="ID,...", shell_complete=card_ids, help="Full IDs of cards that the task is about."
)
@click.option("--subdir", default="", metavar="PATH", help="The plugin's folder in its repository.")
@click.option("--with", "wanted", multiple=True, metavar="GLOB", help="Keep these tests, as in 'tests/**'.")
@click.option("--trap", is_flag=True, help="Make the state before the last commit a decoy.")
@click.option("--scrub", is_flag=True, help="Remove what gives the answer away from comments and documents.")
@click.option("--source", metavar="URL", help="Where the repository can be had, when it does not tell.")
@click.option(
    "--accept-licence", metavar="WHO:WHY", help="Who takes a licence on that is not permissive, and why."
)
@click.option(
    "--host", default="dsh", show_default=True, help="Whose changes to look for: a name or a data file."
)
@click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True)
@click.option("--dry-run", is_flag=True, help="Say what would be made; write nothing.")
@suite_option
@json_option
def command(
    repository: Path,
    commit: str,
    first: str | None,
    series: str,
    slug: str,
    title: str | None,
    cards: str | None,
    subdir: str,
    wanted: tuple[str, ...],
    trap: bool,
    scrub: bool,
    source: str | None,
    accept_licence: str | None,
    host: str,
    language: str,
    dry_run: bool,
    suite_dir: Path | None,
    as_json: bool,
) -> int:
    """Make a task of a commit: the fixture is the state before, the reference solution the state after.

    Files come from git's objects alone. What must not travel stays behind, and is named.
    """
    from harbor_author.mining import ExtractRequest, extract_task
    from harbor_author.mining.report import extract_document, extract_text
    from harbor_author.output.progress import working

    suite = open_suite(suite_dir)
    named = tuple(card.strip() for card in (cards or "").split(",") if card.strip())
    with working("extracting"):
        made = extract_task(
            suite,
            ExtractRequest(
                repository=repository,
                commit=commit,
                first=first,
                subdir=subdir,
                wanted=wanted,
                cards=named,
                trap=trap,
                scrub=scrub,
                source=source,
                accept_licence=accept_licence,
                host=host,
            ),
            TaskRequest(
                series=series,
                slug=slug,
                title=title,
                cards=named,
                language="zh" if language == "zh" else "en",
            ),
            dry_run=dry_run,
        )
    if as_json:
        print_json(extract_document(made))
    else:
        click.echo(extract_text(made, dry_run=dry_run, scrubbed=scrub))
    return 0
