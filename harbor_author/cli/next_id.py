"""`author next-id`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.suite import check_series, gaps, used_ids
from harbor_author.suite.ids import next_number


@author_command("author next-id", "author next-id --series H", "author next-id --branches --json")
@click.argument("letter", required=False, metavar="[SERIES]")
@click.option("--series", metavar="LETTER", help="Only this series (default: each of the suite's).")
@click.option("--branches", is_flag=True, help="Numbers on remote-tracking branches are in use, too.")
@suite_option
@json_option
def command(
    letter: str | None, series: str | None, branches: bool, suite_dir: Path | None, as_json: bool
) -> None:
    """Print the next free ID, and the gaps, which are never filled.

    In use is what directories, registers, reserved and retired numbers, and git branches hold.
    """
    suite = open_suite(suite_dir)
    series = series or letter
    letters = [check_series(suite, series)] if series else sorted(suite.settings.series)
    used = used_ids(suite, remotes=branches)
    rows = [(letter, next_number(letter, used), gaps(letter, used)) for letter in letters]
    if as_json:
        print_json(
            {
                "schema": "author/next-id/1",
                "next": {letter: f"{letter}{number}" for letter, number, _ in rows},
                "gaps": {letter: [f"{letter}{gap}" for gap in missing] for letter, _, missing in rows},
            }
        )
        return
    for letter, number, missing in rows:
        click.echo(f"{letter}{number}")
        if missing:
            names = ", ".join(f"{letter}{gap}" for gap in missing[:20]) + (
                ", ..." if len(missing) > 20 else ""
            )
            click.echo(f"author: unused below it: {names} (numbers are never filled in)", err=True)
