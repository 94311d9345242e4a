"""`author new-decoy`: scaffold a wrong submission that tempts, or another right one."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, open_suite, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.suite import find_suite_or_none, resolve_tasks


@author_command(
    "author new-decoy H23 keeps-manifest --max-score 40", "author new-decoy H23 by-rename --variant"
)
@click.argument("task", shell_complete=task_names)
@click.argument("name")
@suite_option
@click.option("--variant", is_flag=True, help="An independent right submission, which must score full marks.")
@click.option(
    "--max-score",
    type=click.FloatRange(0, 99.999),
    default=40,
    show_default=True,
    help="The most it may score, of 100.",
)
def command(task: str, name: str, suite_dir: Path | None, variant: bool, max_score: float) -> int:
    """Scaffold a decoy: a wrong submission with the most that the judge may give it.

    'author oracle-check --matrix' then tries it in a trial of its own.
    """
    from harbor_author.proof.decoys import new_decoy

    suite = open_suite(suite_dir) if suite_dir else find_suite_or_none()
    (found,) = resolve_tasks([task], suite)
    made = new_decoy(found.path, name, variant=variant, max_score=max_score)
    for path in made:
        click.echo(f"made {path}")
    click.echo(f"next: edit both, then 'author oracle-check {found.label} --matrix'")
    return 0
