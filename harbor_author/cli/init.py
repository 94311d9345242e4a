"""`author init`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json
from harbor_author.scaffold import init_suite
from harbor_author.suite.settings import FILE_NAME, load_settings


@author_command(
    "author init",
    "author init my-suite --name my-suite",
    "author init suite --host 0.1.2-alpha.3 --source pypi --reserved H1-H22",
)
@click.argument("directory", type=click.Path(path_type=Path), default=".")
@click.option("--name", help="The suite's name, the first half of every task's name (default: the folder's).")
@click.option("--host", "dsh", metavar="VERSION", help="Version of the dsh host that the tasks install.")
@click.option("--source", type=click.Choice(["npm", "pypi"]), help="The registry that has that host.")
@click.option(
    "--reserved", multiple=True, metavar="RANGE", help="IDs in use elsewhere, as in H1-H22; may be repeated."
)
@json_option
def command(
    directory: Path,
    name: str | None,
    dsh: str | None,
    source: str | None,
    reserved: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a folder a suite: author.toml, tasks/ and references/. Nothing that exists is changed."""
    ranges = tuple(part.strip() for entry in reserved for part in entry.split(",") if part.strip())
    made = init_suite(directory, name=name, dsh=dsh, source=source, reserved=ranges)
    if as_json:
        print_json(
            {
                "schema": "author/init/1",
                "path": str(directory.resolve()),
                "made": [str(path) for path in made],
            }
        )
        return
    for path in made:
        click.echo(f"Made {path}")
    host = load_settings(directory / FILE_NAME).host
    if dsh is None and source is None and host.source == "npm":
        click.echo(
            f"\nTasks about the host install dsh {host.dsh} from npm. Where npm lacks it, let author.toml say:"
        )
        click.echo('  [host]\n  source = "pypi"\n  dsh = "0.1.2-alpha.3"')
    option = "" if directory == Path() else f" --suite {shlex.quote(str(directory))}"
    click.echo(f"\nNext:\n  author new --series H{option}")
