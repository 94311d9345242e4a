"""`author validate`: check tasks against every rule, without a container."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from harbor_author.checks import find_tasks, validate
from harbor_author.cli.common import author_command, json_option, print_json, suite_option
from harbor_author.suite import find_suite, find_suite_or_none


@author_command("author validate", "author validate H23 S17 --json", "author validate path/to/tasks")
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@suite_option
@json_option
def command(tasks: tuple[str, ...], suite_dir: Path | None, as_json: bool) -> int:
    """Check tasks against every rule, without a container.

    TASK is an ID, a directory name, a path, or a directory of tasks; default: every task of the suite.
    """
    suite = find_suite(suite_dir) if suite_dir is not None else find_suite_or_none()
    report = validate(find_tasks(tasks, suite), suite=suite)
    base = Path.cwd()
    if as_json:
        from harbor_author.output.findings_json import document

        print_json(document(report, base=base))
    else:
        from harbor_author.output.findings_text import render

        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        click.echo(render(report, base=base, colour=colour))
    return 0 if report.ok else 1
