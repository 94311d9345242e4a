"""`author clean`: remove what interrupted runs left, and our cached images."""

from __future__ import annotations

import click

from harbor_author.cli.common import author_command, json_option, print_json


@author_command("author clean --dry-run", "author clean --keep-images")
@json_option
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--keep-images", is_flag=True, help="Leave the images that make the next proof fast.")
def command(as_json: bool, dry_run: bool, keep_images: bool) -> int:
    """Remove containers of runs that are no more, those kept by --keep, and cached task images.

    Only what carries our label is touched; containers of a run that still goes on, and your own, stay.
    """
    from harbor_author.sandbox import connect
    from harbor_author.sandbox.ownership import clean

    removed = clean(connect(), dry_run=dry_run, images=not keep_images)
    if as_json:
        print_json(
            {
                "schema": "harbor-author/clean@1",
                "dry_run": dry_run,
                "removed": [{"kind": item.kind, "name": item.name, "task": item.task} for item in removed],
            }
        )
        return 0
    verb = "would remove" if dry_run else "removed"
    for item in removed:
        click.echo(f"{verb} {item.kind} {item.name}{f' (of {item.task})' if item.task else ''}")
    if not removed:
        click.echo("nothing to remove")
    return 0
