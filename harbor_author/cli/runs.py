"""`author runs summarize`: the rewards of real Harbor jobs."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, author_group, json_option, print_json

_FOLDER = click.Path(path_type=Path)


@author_group("author runs summarize jobs/2026-01-05", "author runs summarize jobs/new --against jobs/old")
def command() -> None:
    """Read the results of real Harbor jobs."""


@author_command(
    "author runs summarize jobs/2026-01-05",
    "author runs summarize jobs/new --against jobs/old --format markdown",
)
@click.argument("folders", nargs=-1, required=True, type=_FOLDER, metavar="DIR...")
@click.option(
    "--against",
    "base",
    multiple=True,
    type=_FOLDER,
    metavar="DIR",
    help="A job to compare with; may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "html"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@json_option
def summarize(folders: tuple[Path, ...], base: tuple[Path, ...], form: str, as_json: bool) -> int:
    """Summarise the rewards of the Harbor jobs in DIR..., per task: mean, median, min, max, perfect.

    With --against, the tasks of both groups are compared by their medians: improved, tied, regressed.
    A trial without a reward, or with an exception, is an anomaly and never counts as 0.
    Exit status 1 when there are anomalies.
    """
    from harbor_author.scoring import runs
    from harbor_author.scoring.runs import render
    from harbor_author.scoring.runs.jobs import Reader

    reader = Reader()
    now = reader.read(folders)
    summaries = [runs.summarize(now, ", ".join(map(str, folders)))]
    comparison = None
    if base:
        before = reader.read(base)
        summaries.insert(0, runs.summarize(before, ", ".join(map(str, base))))
        comparison = runs.compare(before, now)
    if as_json or form == "json":
        print_json(
            {
                "schema": "author/runs/1",
                "groups": [summary.to_json() for summary in summaries],
                "comparison": comparison.to_json() if comparison else None,
            }
        )
    else:
        from harbor_author.output.tables import table
        from harbor_author.output.text import printable

        shown = render.sections(summaries, comparison)
        if form == "text":
            click.echo(render.as_text(shown, table=table, printable=printable))
        else:
            click.echo(render.as_markdown(shown) if form == "markdown" else render.as_html(shown))
    unpaired = comparison.unpaired if comparison else ()
    return 1 if unpaired or any(summary.anomalies for summary in summaries) else 0


command.add_command(summarize, "summarize")
