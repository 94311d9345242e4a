"""`author publish`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, say, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.suite import resolve_tasks


@author_command("author publish H23", "author publish H23 --dry-run", "author publish H23 --with harbor")
@click.argument("task", shell_complete=task_names)
@click.option("--dry-run", is_flag=True, help="Show the gate and the description; record and upload nothing.")
@click.option(
    "--with", "uploader", type=click.Choice(["harbor"]), help="Then upload by Harbor's own publish."
)
@suite_option
@json_option
def command(task: str, dry_run: bool, uploader: str | None, suite_dir: Path | None, as_json: bool) -> int:
    """Check that a task is ready for delivery, record it, and print the description of its change set.

    No placeholder, validate clean, registers in step, matrix passed and current, the manifest's reasons given. The
    description is Markdown on standard output. Nothing is uploaded without --with harbor.
    """
    from harbor_author.output.text import printable
    from harbor_author.publish import change_set, gates, record

    suite = open_suite(suite_dir)
    chosen = resolve_tasks([task], suite)[0]
    found = gates(suite, chosen)
    ready = all(gate.holds for gate in found)
    description = change_set(suite, chosen) if ready else None
    recorded = record(suite, chosen) if ready and not dry_run else None
    if as_json:
        print_json(
            {
                "schema": "author/publish/1",
                "task": chosen.id,
                "ready": ready,
                "gates": [
                    {"name": gate.name, "holds": gate.holds, "details": list(gate.details), "fix": gate.fix}
                    for gate in found
                ],
                "description": description,
                "recorded": str(recorded) if recorded else None,
            }
        )
    else:
        for gate in found:
            click.echo(f"{'ok   ' if gate.holds else 'FAILS'}  {gate.name}", err=True)
            for line in gate.details:
                click.echo(f"         {printable(line)}", err=True)
            if not gate.holds:
                click.echo(f"         fix: {gate.fix}", err=True)
        if description is not None:
            say(description.rstrip("\n"))
        if recorded:
            say(f"recorded in {recorded}", err=True)
    if not ready:
        return 1
    return _upload(chosen.path) if uploader and not dry_run else 0


def _upload(path: Path) -> int:
    from harbor_author.publish import PublishError

    try:
        done = subprocess.run(["harbor", "publish", str(path)], check=False)
    except OSError as error:
        raise PublishError(
            f"Harbor's own command cannot be run: {error.strerror}",
            hint="install harbor (Python 3.12 or later)",
        ) from error
    return 0 if done.returncode == 0 else 1
