"""`author retire`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.integrity import directory_lock
from harbor_author.integrity.retirement import retire


@author_command('author retire H4 --reason "the answer leaked"')
@click.argument("task", metavar="TASK", shell_complete=task_names)
@click.option("--reason", required=True, help="Why; it stands in author.toml and in the manifest.")
@suite_option
@json_option
def command(task: str, reason: str, suite_dir: Path | None, as_json: bool) -> int:
    """Take a task out of every new run; its evidence stays and its number is never used again."""
    suite = open_suite(suite_dir)
    task = next((found.id for found in suite.tasks() if found.id and found.name == task), task)
    with directory_lock(suite.root):
        written = retire(suite, task, reason)
    if as_json:
        names = [str(path.relative_to(suite.root)) for path in written]
        print_json({"schema": "author/retire/1", "id": task, "reason": reason, "written": names})
    else:
        click.echo(f"{task} is retired: 'author sync' makes the registers follow")
    return 0
