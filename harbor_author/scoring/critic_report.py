"""The comparison of the two critics: aggregates over all results of each, absent agents count as zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harbor_author.scoring.aggregate import aggregate, mean, score_deltas
from harbor_author.scoring.render import percent
from harbor_author.scoring.reports import winner_of
from harbor_author.scoring.text import utf16_length, utf16_prefix

HARSH, PLAIN = "harsh-critic", "critic"
_METRICS = (
    ("True Positive Rate", "truePositiveRate"),
    ("False Negative Rate", "falseNegativeRate"),
    ("False Positive Rate", "falsePositiveRate"),
    ("Severity Accuracy", "severityAccuracy"),
    ("Missing Coverage", "missingCoverage"),
    ("Perspective Coverage", "perspectiveCoverage"),
    ("Evidence Rate", "evidenceRate"),
    ("Composite Score", "compositeScore"),
)
_FLAGS = (
    ("Pre-Commitment", "hasPreCommitment"),
    ("Multi-Perspective", "hasMultiPerspective"),
    ("Gap Analysis", "hasGapAnalysis"),
)
_PREVIEWED_TEXTS = 3
_PREVIEW_UNITS = 60

Result = Mapping[str, Any]


def build_critic_report(results: Sequence[Result], *, model: str, timestamp: str) -> dict[str, Any]:
    """The report's JSON document; deltas are the harsh critic minus the critic."""
    scores = {
        agent: aggregate([result["scores"] for result in results if result["agentType"] == agent])
        for agent in (HARSH, PLAIN)
    }
    duels = []
    for fixture in dict.fromkeys(str(result["fixtureId"]) for result in results):
        delta = _composite(results, fixture, HARSH) - _composite(results, fixture, PLAIN)
        duels.append({"fixtureId": fixture, "winner": winner_of(delta, HARSH, PLAIN), "delta": delta})
    return {
        "timestamp": timestamp,
        "model": model,
        "results": list(results),
        "aggregateScores": scores,
        "deltas": score_deltas(scores[HARSH], scores[PLAIN]),
        "headToHead": duels,
    }


def _find(results: Sequence[Result], fixture: str, agent: str) -> Result | None:
    return next((one for one in results if one["fixtureId"] == fixture and one["agentType"] == agent), None)


def _composite(results: Sequence[Result], fixture: str, agent: str) -> float:
    result = _find(results, fixture, agent)
    return float(result["scores"]["compositeScore"]) if result else 0.0


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{percent(value)}"


def render_critic_markdown(report: Mapping[str, Any]) -> str:
    """The report in Markdown."""
    harsh, plain = report["aggregateScores"][HARSH], report["aggregateScores"][PLAIN]
    fixtures = sorted({str(result["fixtureId"]) for result in report["results"]})
    lines = [
        "# Harsh-Critic Benchmark Report",
        "",
        f"**Date**: {report['timestamp']}",
        f"**Model**: {report['model']}",
        f"**Fixtures**: {len(fixtures)}",
        "",
        "## Summary Table",
        "",
        "| Metric | harsh-critic | critic | Delta |",
        "|--------|-------------|--------|-------|",
        *(
            f"| {label} | {percent(harsh[name])} | {percent(plain[name])} | {_signed(report['deltas'][name])} |"
            for label, name in _METRICS
        ),
        *(f"| {label} | {_yes(harsh[name])} | {_yes(plain[name])} | \u2014 |" for label, name in _FLAGS),
        "",
        "## Per-Fixture Results",
        "",
    ]
    for fixture in fixtures:
        lines += [f"### {fixture}", ""]
        for agent in (HARSH, PLAIN):
            result = _find(report["results"], fixture, agent)
            if result is not None:
                lines += _result_lines(result)
        lines.append("")
    return "\n".join([*lines, *_closing_lines(report)])


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _result_lines(result: Result) -> list[str]:
    scores = result["scores"]
    matched, missed, spurious = (
        result[name] for name in ("matchedFindings", "missedFindings", "spuriousFindings")
    )
    rates = " ".join(
        f"{label}={percent(scores[name])}"
        for label, name in (
            ("composite", "compositeScore"),
            ("tp", "truePositiveRate"),
            ("fn", "falseNegativeRate"),
            ("fp", "falsePositiveRate"),
        )
    )
    lines = [
        f"- **{result['agentType']}**: {rates}",
        f"  - Matched: {len(matched)}/{len(matched) + len(missed)} findings",
    ]
    if missed:
        lines.append(f"  - Missed: {', '.join(missed)}")
    if spurious:
        shown = "; ".join(_preview(text) for text in spurious[:_PREVIEWED_TEXTS])
        more = " \u2026" if len(spurious) > _PREVIEWED_TEXTS else ""
        lines.append(f"  - Spurious: {shown}{more}")
    return lines


def _preview(text: str) -> str:
    cut = utf16_prefix(text, _PREVIEW_UNITS) if utf16_length(text) > _PREVIEW_UNITS else text
    return cut.replace("\n", " ")


def _closing_lines(report: Mapping[str, Any]) -> list[str]:
    deltas = report["deltas"]
    duels = report["headToHead"]
    count = {name: sum(duel["winner"] == name for duel in duels) for name in (HARSH, PLAIN, "tie")}
    # Where nothing differs, the composite is named.
    label, delta = "Composite Score", 0.0
    for candidate, name in _METRICS:
        if abs(deltas[name]) > abs(delta):
            label, delta = candidate, deltas[name]
    verb = "improved" if delta >= 0 else "regressed"
    return [
        "## Statistical Summary",
        "",
        f"- Mean composite delta: {_signed(mean([duel['delta'] for duel in duels]))}",
        f"- Win/Loss/Tie: {count[HARSH]}/{count[PLAIN]}/{count['tie']}",
        "",
        "## Key Insight",
        "",
        f"**{label}** showed the largest difference: harsh-critic {verb} by {_signed(delta)} over critic.",
        "",
    ]
