"""`author score`: grade one report against a ground truth."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json
from harbor_author.scoring import (
    PARSERS,
    Evaluator,
    Grader,
    explain,
    load_truth_document,
    read_report,
    read_truth,
)


@author_command(
    "author score report.md --truth tests/ground-truth.json",
    "author score - --truth truth.json --parser harsh-critic --json < report.md",
)
@click.argument("report", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--truth",
    "truth_path",
    type=click.Path(path_type=Path),
    required=True,
    help="The ground truth, a JSON file.",
)
@click.option(
    "--parser",
    type=click.Choice(list(PARSERS)),
    default="generic",
    show_default=True,
    help="How the report is read.",
)
@json_option
def command(report: Path, truth_path: Path, parser: str, as_json: bool) -> int:
    """Score REPORT (or "-") by the findings of a ground truth: found with which words, missed by what, spurious.

    The scores are those of the findings benchmark, to the last digit; the grade is what a task's judge would give.
    """
    document = load_truth_document(truth_path)
    truth = read_truth(document)
    text = read_report(report)
    evaluation = Evaluator(truth, parser=parser).evaluate(text)
    grade = Grader(document).grade(text) if truth.findings else None
    explanation = explain(evaluation, truth)
    if as_json:
        print_json(
            {
                "schema": "author/score/1",
                "report": str(report),
                "truth": str(truth_path),
                "parser": parser,
                **evaluation.to_json(),
                **explanation.to_json(),
                "grade": grade.to_json() if grade else None,
            }
        )
    else:
        from harbor_author.output.text import printable
        from harbor_author.scoring.render import render_score

        click.echo(render_score(evaluation, explanation, grade, printable=printable))
    return 0
