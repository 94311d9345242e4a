"""`author calibrate`: test a task's ground truth on reports whose worth is known."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.scoring.calibration import calibrate
from harbor_author.suite import find_suite, find_suite_or_none, resolve_tasks


@author_command("author calibrate S17", "author calibrate S17 --reports my-reports --json")
@click.argument("task", metavar="TASK", shell_complete=task_names)
@click.option(
    "--reports",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Reports with a reports.toml that says what each must find (default: solution/reports of the task).",
)
@suite_option
@json_option
def command(task: str, folder: Path | None, suite_dir: Path | None, as_json: bool) -> int:
    """Test the ground truth of TASK on reports whose worth is known.

    Grades the reference report, a copy of the instruction, the bare card IDs, an empty report, and the reports of a
    folder; shows where findings are confused, and which keywords and thresholds are fragile.
    Exit status 1 when a report misses what was declared for it.
    """
    suite = find_suite(suite_dir) if suite_dir is not None else find_suite_or_none()
    (chosen,) = resolve_tasks([task], suite)
    calibration = calibrate(chosen, folder=folder)
    if as_json:
        print_json({"schema": "author/calibrate/1", "task": chosen.label, **calibration.to_json()})
    else:
        from harbor_author.output.tables import table
        from harbor_author.output.text import printable
        from harbor_author.scoring.render import calibration_rows, confusion_rows

        click.echo(table(calibration_rows(calibration)))
        click.echo("\n" + table(confusion_rows(calibration)))
        for outcome in calibration.outcomes:
            for problem in outcome.problems:
                click.echo(f"\nMISSED {printable(outcome.expectation.name)}: {printable(problem)}")
        for weakness in calibration.weaknesses:
            click.echo(f"\n{weakness.kind} {printable(weakness.finding)}: {printable(weakness.message)}")
        for name in calibration.undeclared:
            click.echo(f"\nundeclared: {printable(name)} is not named in reports.toml")
    return 0 if calibration.ok else 1
