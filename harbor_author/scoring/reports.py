"""The comparison of two agents over the same fixtures: JSON, Markdown and the console's table.

A result is a mapping as the runner writes it (`completion`, `scores`, `latencyMs` ...): see docs/scoring.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harbor_author.scoring.aggregate import aggregate, mean, score_deltas
from harbor_author.scoring.collation import locale_key
from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.jsnumber import to_fixed
from harbor_author.scoring.render import percent

Result = Mapping[str, Any]
Pair = tuple[Result, Result]

#: Composites nearer than this are a tie.
TIE = 0.001
_COLUMNS = (28, 18, 10, 10, 10, 10, 10)
_CLOSING = (
    "This diagnostic reports separate observed dimensions. It does not prove an Opus regression or attribute timing to "
    "model compute, network, or harness internals beyond the stated boundaries."
)


def result_key(result: Result) -> str:
    """`domain:fixtureId`, by which the results of two agents are paired."""
    return f"{result['domain']}:{result['fixtureId']}"


def build_report(
    results: Sequence[Result], agent_a: str, agent_b: str, *, model: str, timestamp: str
) -> dict[str, Any]:
    """The report's JSON document.

    Args:
        results: of every agent, in the order of the run.
        timestamp: UTC, ISO with milliseconds.

    Raises:
        ScoringError: one agent has two results of one fixture.
    """
    side_a, side_b = _by_key(results, agent_a, "A"), _by_key(results, agent_b, "B")
    keys = sorted(set(side_a) & set(side_b), key=locale_key)
    pairs: list[Pair] = [(side_a[key], side_b[key]) for key in keys]
    distinct = agent_a != agent_b
    compared = pairs if distinct else []
    quality = [pair for pair in compared if all(one["completion"] == "completed" for one in pair)]
    scores: dict[str, Any] = {
        agent: aggregate([pair[side]["scores"] for pair in quality]) if quality else None
        for side, agent in enumerate((agent_a, agent_b))
    }
    return {
        "timestamp": timestamp,
        "model": model,
        "results": list(results),
        "aggregateScores": scores,
        "deltas": score_deltas(scores[agent_a], scores[agent_b]) if quality else {},
        "headToHead": [_head_to_head(pair, agent_a, agent_b) for pair in quality],
        "diagnostics": _diagnostics(side_a, side_b, pairs, compared, len(quality), distinct=distinct),
    }


def _by_key(results: Sequence[Result], agent: str, side: str) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for result in results:
        if result["agentType"] == agent:
            key = result_key(result)
            if key in found:
                raise ScoringError(f"Duplicate fixture key on {side}: {key}")
            found[key] = result
    return found


def winner_of(delta: float, agent_a: str, agent_b: str) -> str:
    """Who is ahead by a difference of composites."""
    if abs(delta) < TIE:
        return "tie"
    return agent_a if delta > 0 else agent_b


def _head_to_head(pair: Pair, agent_a: str, agent_b: str) -> dict[str, Any]:
    delta = pair[0]["scores"]["compositeScore"] - pair[1]["scores"]["compositeScore"]
    return {
        "fixtureId": pair[0]["fixtureId"],
        "domain": pair[0]["domain"],
        "winner": winner_of(delta, agent_a, agent_b),
        "delta": delta,
    }


def _diagnostics(
    side_a: Mapping[str, Result],
    side_b: Mapping[str, Result],
    pairs: Sequence[Pair],
    compared: Sequence[Pair],
    quality_count: int,
    *,
    distinct: bool,
) -> dict[str, Any]:
    token_cost = {
        name: {
            "total": _measure(compared, field, "tokens", total=True),
            "perFixtureMean": _measure(compared, field, "tokens"),
        }
        for name, field in (("input", "inputTokens"), ("output", "outputTokens"), ("all", "totalTokens"))
    }
    latency = _measure(compared, "latencyMs", "milliseconds")
    overhead = _measure(compared, "harnessOverheadMs", "milliseconds")
    a_only, b_only = sorted(set(side_a) - set(side_b)), sorted(set(side_b) - set(side_a))
    reasons = []
    if not distinct:
        reasons.append("comparison requires two distinct agents")
    if not pairs:
        reasons.append("no paired fixture observations")
    if a_only or b_only:
        reasons.append("fixture populations differ")
    if any(one["completion"] != "completed" for pair in pairs for one in pair):
        reasons.append("one or more paired runs failed")
    if distinct:
        if any(cost["total"]["pairedCount"] != len(pairs) for cost in token_cost.values()):
            reasons.append("token telemetry is incomplete")
        if latency["pairedCount"] != len(pairs):
            reasons.append("API latency telemetry is incomplete")
        if overhead["pairedCount"] != len(pairs):
            reasons.append("harness overhead telemetry is incomplete")
    return {
        "completion": {
            **_completion(side_a, "A"),
            **_completion(side_b, "B"),
            "failureReasonsA": _failures(side_a),
            "failureReasonsB": _failures(side_b),
            "pairedFixtures": len(pairs),
            "aOnlyKeys": a_only,
            "bOnlyKeys": b_only,
        },
        "qualityPairedCount": quality_count,
        "tokenCost": token_cost,
        "apiLatency": latency,
        "harnessOverhead": overhead,
        "validity": "inconclusive" if reasons else "valid",
        "reasons": reasons,
    }


def _completion(side: Mapping[str, Result], name: str) -> dict[str, int]:
    completed = sum(result["completion"] == "completed" for result in side.values())
    return {f"completed{name}": completed, f"failed{name}": len(side) - completed}


def _failures(side: Mapping[str, Result]) -> dict[str, int]:
    return dict(
        Counter(str(one["failureReason"]) for one in side.values() if one["completion"] != "completed")
    )


def _measure(pairs: Sequence[Pair], field: str, unit: str, *, total: bool = False) -> dict[str, Any]:
    """A value over the pairs in which both sides have it; a failed run takes part if it carries the value."""
    both = [(a[field], b[field]) for a, b in pairs if a.get(field) is not None and b.get(field) is not None]
    shared = {"pairedCount": len(both), "unit": unit}
    if not both:
        return {**shared, "status": "insufficient"}
    a, b = (mean([pair[side] for pair in both]) for side in (0, 1))
    if total:
        a, b = (_sum([pair[side] for pair in both]) for side in (0, 1))
    return {"a": a, "b": b, "delta": a - b, **shared, "status": "compared"}


def _sum(values: Sequence[float]) -> float:
    total: float = 0
    for value in values:
        total += value
    return total


# -- for people


def render_markdown(report: Mapping[str, Any], agent_a: str, agent_b: str) -> str:
    """The report in Markdown, without a final line break."""
    diagnostics = report["diagnostics"]
    lines = [
        f"# {agent_a} vs {agent_b} Benchmark Report",
        "",
        f"**Date**: {report['timestamp']}",
        f"**Model**: {report['model']}",
        f"**Validity**: {diagnostics['validity'].upper()}",
    ]
    if diagnostics["reasons"]:
        lines.append(f"**Reasons**: {'; '.join(diagnostics['reasons'])}")
    lines += [
        "",
        "## Evidence-Safe Diagnostic",
        "",
        f"| Dimension | {agent_a} | {agent_b} | Delta | Paired | Status |",
        "|---|---:|---:|---:|---:|---|",
        _completion_row(diagnostics),
        _quality_row(report, agent_a, agent_b),
    ]
    for label, name in (("Input", "input"), ("Output", "output"), ("All", "all")):
        cost = diagnostics["tokenCost"][name]
        lines.append(_measure_row(f"{label} tokens (total)", cost["total"], 0))
        lines.append(_measure_row(f"{label} tokens (per-fixture mean)", cost["perFixtureMean"], 1))
    completion = diagnostics["completion"]
    lines += [
        _measure_row("API latency mean (ms)", diagnostics["apiLatency"], 1),
        _measure_row("Harness overhead mean (ms)", diagnostics["harnessOverhead"], 1),
        "",
        f"Unpaired {agent_a}: {', '.join(completion['aOnlyKeys']) or 'none'}",
        f"Unpaired {agent_b}: {', '.join(completion['bOnlyKeys']) or 'none'}",
        "",
        "## Per-Fixture Results",
        "",
    ]
    for result in sorted(report["results"], key=lambda one: locale_key(result_key(one))):
        lines += _result_lines(result)
    lines += ["", _CLOSING]
    return "\n".join(lines)


def _completion_row(diagnostics: Mapping[str, Any]) -> str:
    counts = diagnostics["completion"]
    a, b = (f"{counts[f'completed{side}']} completed / {counts[f'failed{side}']} failed" for side in "AB")
    return f"| Completion | {a} | {b} | n/a | {counts['pairedFixtures']} | {diagnostics['validity']} |"


def _quality_row(report: Mapping[str, Any], agent_a: str, agent_b: str) -> str:
    count = report["diagnostics"]["qualityPairedCount"]
    a, b = (report["aggregateScores"][agent] for agent in (agent_a, agent_b))
    if not a or not b:
        return f"| Scorer quality | n/a | n/a | n/a | {count} | insufficient |"
    values = " | ".join(
        percent(value)
        for value in (a["compositeScore"], b["compositeScore"], report["deltas"]["compositeScore"])
    )
    return f"| Scorer quality | {values} | {count} | compared |"


def _measure_row(label: str, measure: Mapping[str, Any], digits: int) -> str:
    values = " | ".join(_fixed(measure.get(name), digits) for name in ("a", "b", "delta"))
    return f"| {label} | {values} | {measure['pairedCount']} | {measure['status']} |"


def _fixed(value: float | None, digits: int, suffix: str = "") -> str:
    return "n/a" if value is None else to_fixed(value, digits) + suffix


def _result_lines(result: Result) -> list[str]:
    lines = [f"- **{result_key(result)} / {result['agentType']}**: {result['completion']}"]
    if result["completion"] == "completed":
        lines.append(f"  - Composite quality: {percent(result['scores']['compositeScore'])}")
    else:
        lines.append(f"  - Failure reason: {result['failureReason']}")
    tokens = (_fixed(result.get(field), 0) for field in ("inputTokens", "outputTokens", "totalTokens"))
    named = (f"{name}={value}" for name, value in zip(("input", "output", "total"), tokens, strict=True))
    lines.append(f"  - Tokens: {', '.join(named)}")
    lines.append(f"  - API latency: {_fixed(result.get('latencyMs'), 1, 'ms')}")
    lines.append(f"  - Harness overhead: {_fixed(result.get('harnessOverheadMs'), 1, 'ms')}")
    return lines


def render_table(results: Sequence[Result], agents: Sequence[str]) -> str:
    """The console's table of some agents' results; cells are padded, never cut."""
    rows = [("Fixture", "Agent", "Status", "Quality", "Tokens", "API", "Harness")]
    first: dict[tuple[str, str], Result] = {}
    for result in results:
        first.setdefault((result_key(result), str(result["agentType"])), result)
    keys = sorted({key for key, _ in first}, key=locale_key)
    for result in (first[key, agent] for key in keys for agent in agents if (key, agent) in first):
        completed = result["completion"] == "completed"
        rows.append(
            (
                result_key(result),
                str(result["agentType"]),
                str(result["completion"]),
                percent(result["scores"]["compositeScore"]) if completed else "-",
                _dash(result.get("totalTokens"), 0),
                _dash(result.get("latencyMs"), 1, "ms"),
                _dash(result.get("harnessOverheadMs"), 1, "ms"),
            )
        )
    lines = ["".join(cell.ljust(width) for cell, width in zip(row, _COLUMNS, strict=True)) for row in rows]
    return "\n".join(["", "=== Benchmark Results ===", "", lines[0], "-" * 96, *lines[1:], "", ""])


def _dash(value: float | None, digits: int, suffix: str = "") -> str:
    return "-" if value is None else to_fixed(value, digits) + suffix
