"""`author import`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json
from harbor_author.output.text import counted, printable
from harbor_author.scaffold import import_suite


@author_command("author import", "author import path/to/suite --dry-run")
@click.argument("directory", type=click.Path(path_type=Path), default=".")
@click.option("--dry-run", is_flag=True, help="Print the author.toml; write nothing.")
@json_option
def command(directory: Path, dry_run: bool, as_json: bool) -> None:
    """Bring an existing folder of tasks under an author.toml, without touching a task.

    Name, host, modes, registers and reserved numbers are inferred; each inference is said.
    """
    imported = import_suite(directory, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "schema": "author/import/1",
                "path": str(imported.path),
                "tasks": imported.tasks,
                "author_toml": imported.text,
                "notes": list(imported.notes),
                "dry_run": dry_run,
            }
        )
        return
    click.echo(
        f"{'Would write' if dry_run else 'Wrote'} {imported.path} for {counted(imported.tasks, 'task')}"
    )
    for note in imported.notes:
        click.echo(f"  {printable(note)}")
    if dry_run:
        click.echo(f"\n{imported.text}", nl=False)
    else:
        click.echo("\nNext:\n  author list\n  author validate")
