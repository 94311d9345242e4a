"""`author vendor`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.output.progress import working
from harbor_author.scaffold.vendor import update, vendored
from harbor_author.suite import find_suite_or_none, resolve_tasks

_WORDS = {
    "current": "as released",
    "lags": "lags behind {released}",
    "ahead": "is newer than this tool's {released}",
    "edited": "was edited: its bytes are not those of the release",
}


@author_command("author vendor --check", "author vendor H23 --update")
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option("--check", is_flag=True, help="Change nothing (the default); for the clarity of scripts.")
@click.option("--update", "renew", is_flag=True, help="Replace copies that lag by the released ones.")
@click.option("--force", is_flag=True, help="With --update: edited copies, too.")
@suite_option
@json_option
def command(
    tasks: tuple[str, ...], check: bool, renew: bool, force: bool, suite_dir: Path | None, as_json: bool
) -> int:
    """Compare the judge libraries in tasks with the released ones; say which tasks lag.

    Exits 1 when a copy is not the released one.
    """
    if check and renew:
        raise click.UsageError("give either --check or --update")
    suite = open_suite(suite_dir) if suite_dir or not tasks else find_suite_or_none()
    chosen = resolve_tasks(tasks, suite) if tasks or suite is None else suite.tasks()
    with working("comparing copies"):
        copies = vendored(chosen)
    if renew:
        renewed = [copy for copy in copies if update(copy, force=force)]
        for copy in renewed:
            click.echo(f"{copy.task}: tests/{copy.library} replaced by {copy.released}", err=as_json)
        copies = vendored(chosen)
    if as_json:
        print_json(
            {
                "schema": "author/vendor/1",
                "copies": [
                    {
                        "task": copy.task,
                        "path": str(copy.path),
                        "version": copy.version,
                        "released": copy.released,
                        "state": copy.state,
                    }
                    for copy in copies
                ],
            }
        )
    else:
        from harbor_author.output.tables import table

        rows = [
            (
                copy.task,
                f"tests/{copy.library}",
                copy.version or "?",
                _WORDS[copy.state].format(released=copy.released),
            )
            for copy in copies
        ]
        click.echo(table(rows) if rows else "No task has a copy of a judge library.")
    return 0 if all(copy.state == "current" for copy in copies) else 1
