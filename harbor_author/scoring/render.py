"""Scored reports as text for people."""

from __future__ import annotations

from collections.abc import Callable

from harbor_author.scoring.calibration import Calibration
from harbor_author.scoring.evaluation import Evaluation
from harbor_author.scoring.explanation import Explanation, Words
from harbor_author.scoring.grading import Grade, shortened
from harbor_author.scoring.jsnumber import to_fixed

_RATES = (
    ("found", "true_positive_rate"),
    ("missed", "false_negative_rate"),
    ("spurious", "false_positive_rate"),
    ("severity accuracy", "severity_accuracy"),
    ("missing coverage", "missing_coverage"),
    ("perspective coverage", "perspective_coverage"),
    ("evidence", "evidence_rate"),
)


def percent(value: float) -> str:
    """A rate as the reports print it: one decimal and a percent sign."""
    return f"{to_fixed(value * 100, 1)}%"


def render_score(
    evaluation: Evaluation, explanation: Explanation, grade: Grade | None, *, printable: Callable[[str], str]
) -> str:
    """The text of `author score`. `printable` makes another person's words safe for a terminal."""
    lines = []
    for matched in explanation.matched:
        lines.append(f"found   {printable(matched.finding.id)}  {_held(matched.words, printable)}")
        lines.append(f"        in: {printable(shortened(matched.text))}")
    for missed in explanation.missed:
        lines.append(
            f"missed  {printable(missed.finding.id)}  {printable(shortened(missed.finding.summary))}"
        )
        if missed.nearest is None or missed.words is None:
            lines.append("        no text holds any of its words")
            continue
        lines.append(f"        nearest: {printable(shortened(missed.nearest))}")
        if missed.words.missing:
            lacking = ", ".join(map(printable, missed.words.lacks))
            lines.append(
                f"        {_held(missed.words, printable)}; {missed.words.missing} more of: {lacking}"
            )
        if missed.taken_by is not None:
            lines.append(f"        that text already counts for {printable(missed.taken_by)}")
        elif not missed.was_read:
            lines.append(
                "        the parser passes over that text: no list item under a heading that it knows"
            )
    lines.extend(f"spurious  {printable(shortened(text))}" for text in explanation.spurious)
    scores = evaluation.scores
    total = len(explanation.matched) + len(explanation.missed)
    rates = ", ".join(f"{name} {percent(getattr(scores, field))}" for name, field in _RATES)
    lines.append("")
    lines.append(
        f"{len(explanation.matched)} of {total} findings; composite {percent(scores.composite_score)}"
    )
    lines.append(rates)
    if grade is not None:
        lines.append(f"as a task's report: {grade.score:g} of 100")
    return "\n".join(lines)


def _held(words: Words, printable: Callable[[str], str]) -> str:
    language = f" ({printable(words.language)})" if words.language else ""
    held = ", ".join(map(printable, words.holds)) or "no word"
    return f"{len(words.holds)} of {words.required} needed{language}: {held}"


def calibration_rows(calibration: Calibration) -> list[list[str]]:
    """The table of reports, its header first."""
    rows = [["report", "kind", "score", "expected", ""]]
    for outcome in calibration.outcomes:
        expectation = outcome.expectation
        if expectation.finds is None:
            wanted = f"{expectation.min_score:g} to {expectation.max_score:g}"
        else:
            everything = len(expectation.finds) == len(calibration.confusion)
            wanted = "all findings" if everything else ", ".join(sorted(expectation.finds)) or "nothing"
        verdict = "MISSED" if outcome.problems else "ok"
        rows.append([expectation.name, expectation.kind, f"{outcome.grade.score:g}", wanted, verdict])
    return rows


def confusion_rows(calibration: Calibration) -> list[list[str]]:
    """The confusion table, its header first."""
    header = ["finding", "named: found", "named: missed", "not named: found", "not named: not found"]
    counts = [
        [row.id, *map(str, (row.hits, row.misses, row.false_alarms, row.rejections))]
        for row in calibration.confusion
    ]
    return [header, *counts]
