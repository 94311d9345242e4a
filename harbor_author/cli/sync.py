"""`author sync`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.integrity import directory_lock, reap_siblings, write_atomic
from harbor_author.output.progress import working
from harbor_author.output.text import printable
from harbor_author.suite.register_sync import plan_registers


@author_command("author sync --check", "author sync", "author sync --check --json")
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when a register is not true.")
@suite_option
@json_option
def command(check: bool, suite_dir: Path | None, as_json: bool) -> int:
    """Make the registers true from the tasks: rows, counts, totals, score breakdowns, grading boundaries.

    The registers are the documents that [registers] in author.toml names. Their tables are found by the IDs in their
    first column, or between the markers <!-- author:tasks:begin --> and <!-- author:tasks:end -->; sentences by their
    shape, or by <!-- count:total -->52<!-- /count -->. All other text stays as it is.
    """
    suite = open_suite(suite_dir)
    with working("reading the tasks"), directory_lock(suite.root):
        plans = plan_registers(suite)
        if not check:
            for plan in plans:
                if plan.after != plan.before:
                    reap_siblings(plan.path.parent)
                    write_atomic(plan.path, plan.after)
    drifts = [drift for plan in plans for drift in plan.drifts]
    if as_json:
        print_json(
            {
                "schema": "author/sync/1",
                "check": check,
                "drifts": [{**asdict(drift), "fixed": drift.fixable and not check} for drift in drifts],
                "written": [] if check else [str(plan.path) for plan in plans if plan.after != plan.before],
            }
        )
    else:
        for drift in drifts:
            fixed = "" if check or not drift.fixable else " (set right)"
            click.echo(f"{drift.path}:{drift.line}: {printable(drift.message)}{fixed}")
        if not plans:
            click.echo("author.toml names no registers: there is nothing to keep true", err=True)
        elif not drifts:
            click.echo("the registers are true")
    return 1 if any(check or not drift.fixable for drift in drifts) else 0
