"""`author clean`: remove what interrupted runs left, and our cached images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json, say


@author_command(
    "author clean --dry-run", "author clean --keep-images", "author clean --artifacts out --older-than 14"
)
@json_option
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--keep-images", is_flag=True, help="Leave the images that make the next proof fast.")
@click.option(
    "--artifacts",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Only expire what 'oracle-check --artifacts DIR' kept there.",
)
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=14,
    show_default=True,
    metavar="DAYS",
    help="For --artifacts.",
)
def command(
    as_json: bool, dry_run: bool, keep_images: bool, artifacts: Path | None, older_than: float
) -> int:
    """Remove containers and working copies of runs that are no more, containers kept by --keep, cached task images.

    Only what carries our label or name is touched; what belongs to a run that still goes on, and your own, stays.
    """
    if artifacts is not None:
        return _report(
            [("artifacts", str(path), "") for path in _expire(artifacts, older_than, dry_run)],
            dry_run,
            as_json,
        )
    from harbor_author.integrity import reap_orphans
    from harbor_author.sandbox import connect
    from harbor_author.sandbox.ownership import clean

    copies = [] if dry_run else [("copy", name, "") for name in reap_orphans().removed]
    removed = clean(connect(), dry_run=dry_run, images=not keep_images)
    return _report([*copies, *((item.kind, item.name, item.task) for item in removed)], dry_run, as_json)


def _expire(folder: Path, days: float, dry_run: bool) -> list[Path]:
    from harbor_author.integrity import ArtefactFolder

    return ArtefactFolder(folder).expire(days * 24 * 3600, dry_run=dry_run)


def _report(removed: Sequence[tuple[str, str, str]], dry_run: bool, as_json: bool) -> int:
    if as_json:
        print_json(
            {
                "schema": "author/clean/1",
                "dry_run": dry_run,
                "removed": [{"kind": kind, "name": name, "task": task} for kind, name, task in removed],
            }
        )
        return 0
    verb = "would remove" if dry_run else "removed"
    for kind, name, task in removed:
        say(f"{verb} {kind} {name}{f' (of {task})' if task else ''}")
    if not removed:
        click.echo("nothing to remove")
    return 0
