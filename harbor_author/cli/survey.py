"""`author survey`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json


@author_command(
    "author survey ../some-plugin",
    "author survey ../some-plugin --since v0.4.0 --limit 5",
    "author survey some-plugin.git --json",
)
@click.argument("repository", type=click.Path(path_type=Path))
@click.option("--since", metavar="REV", help="Only commits that this commit, tag or branch does not reach.")
@click.option(
    "--host", default="dsh", show_default=True, help="Whose changes to look for: a name or a data file."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many candidates."
)
@json_option
def command(repository: Path, since: str | None, host: str, limit: int, as_json: bool) -> int:
    """Rank a repository's commits by how likely its host forced them, and say why.

    The repository is only read: nothing is checked out, and its own configuration has no effect.
    """
    from harbor_author.mining import survey_repository
    from harbor_author.output.progress import working

    with working("reading the history") as work:
        found = survey_repository(
            repository,
            since=since,
            host=host,
            limit=limit,
            progress=lambda commits: work.count(commits, "commits"),
        )
    if as_json:
        print_json(
            {
                "schema": "author/survey/1",
                "head": found.head,
                "commits": found.commits,
                "candidates": [
                    {
                        "commits": list(candidate.commits),
                        "score": candidate.score,
                        "reasons": list(candidate.reasons),
                        "cards": list(candidate.cards),
                        "touch_points": candidate.touch_points,
                        "subject": candidate.subject,
                        "date": candidate.date,
                    }
                    for candidate in found.candidates
                ],
            }
        )
        return 0
    from harbor_author.mining.report import survey_text

    click.echo(survey_text(found, repository))
    return 0
