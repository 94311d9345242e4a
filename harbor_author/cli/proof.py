"""`author proof`: read the receipts of proofs."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import json_option, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.cli.oracle_check import select_tasks


@click.group(epilog="\b\nExamples:\n  author proof check --all\n  author proof show H23")
def command() -> None:
    """Show receipts, and check whether they still hold. No container is started."""


@command.command("show")
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option("--all", "every", is_flag=True, help="Every task of the suite.")
@suite_option
@json_option
def show(tasks: tuple[str, ...], every: bool, suite_dir: Path | None, as_json: bool) -> int:
    """Print what was proved, and what it is bound to."""
    from harbor_author.output.text import printable
    from harbor_author.proof.overview import details, look_at

    found = look_at(select_tasks(tasks, every, suite_dir))
    if as_json:
        receipts = [
            {**item.document(), "receipt": item.currency.receipt.document if item.currency.receipt else None}
            for item in found
        ]
        print_json({"schema": "author/proof-show/1", "receipts": receipts})
    else:
        for item in found:
            for line in details(item):
                click.echo(printable(line))
    return 0


@command.command("check")
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option("--all", "every", is_flag=True, help="Every task of the suite.")
@suite_option
@json_option
def check(tasks: tuple[str, ...], every: bool, suite_dir: Path | None, as_json: bool) -> int:
    """Tell which receipts are current, stale and by what, or missing. Exit status 1 unless all are current passes."""
    from harbor_author.output.text import printable
    from harbor_author.proof.overview import lines, look_at

    found = look_at(select_tasks(tasks, every, suite_dir))
    if as_json:
        print_json({"schema": "author/proof-check/1", "receipts": [item.document() for item in found]})
    else:
        for item in found:
            for line in lines(item):
                click.echo(printable(line))
    return 0 if all(item.holds for item in found) else 1
