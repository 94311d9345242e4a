"""`author rename`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, say, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.scaffold import rename_task
from harbor_author.suite import resolve_tasks


@author_command("author rename H23 left-behind", "author rename H23 H24-left-behind --dry-run")
@click.argument("task", shell_complete=task_names)
@click.argument("target", metavar="NEW-SLUG|NEW-NAME")
@click.option("--dry-run", is_flag=True, help="Say what would change; write nothing.")
@suite_option
@json_option
def command(task: str, target: str, dry_run: bool, suite_dir: Path | None, as_json: bool) -> None:
    """Give a task another slug or ID: its directory and every mention of the old name inside it.

    Files under provenance/ keep their bytes. A proof of the old name is dropped.
    """
    suite = open_suite(suite_dir)
    renaming = rename_task(suite, resolve_tasks([task], suite)[0], target, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "schema": "author/rename/1",
                "old": str(renaming.old),
                "id": renaming.new.id,
                "name": str(renaming.new),
                "path": str(renaming.path),
                "mentions": dict(renaming.mentions),
                "dry_run": dry_run,
            }
        )
        return
    click.echo(f"{'Would rename' if dry_run else 'Renamed'} {renaming.old} to {renaming.new}")
    for name, count in renaming.mentions.items():
        say(f"  {name}: {count} mention{'s' if count > 1 else ''}")
    if renaming.receipt:
        click.echo("  proof.json: dropped, it proves the old name")
    if not dry_run:
        click.echo(f"\nNext:\n  author validate {renaming.new.id}\n  author oracle-check {renaming.new.id}")
