"""Aggregates and comparisons of agents."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_author.scoring import ScoringError
from harbor_author.scoring.aggregate import aggregate, aggregate_completed, mean
from harbor_author.scoring.collation import locale_key
from harbor_author.scoring.critic_report import build_critic_report, render_critic_markdown
from harbor_author.scoring.jsnumber import js_json, js_number, to_fixed
from harbor_author.scoring.reports import build_report, render_markdown, render_table
from tests.scoring import golden


def result(agent: str, fixture: str, composite: float = 0.5, **fields: Any) -> dict[str, Any]:
    scores = dict.fromkeys(
        ("truePositiveRate", "falsePositiveRate", "falseNegativeRate", "severityAccuracy"), 0
    )
    scores |= dict.fromkeys(("missingCoverage", "perspectiveCoverage", "evidenceRate"), 0)
    flags = dict.fromkeys(("hasPreCommitment", "hasMultiPerspective", "hasGapAnalysis"), False)
    return {
        "fixtureId": fixture,
        "domain": "task",
        "agentType": agent,
        "completion": "completed",
        "scores": {**scores, **flags, "compositeScore": composite},
        "matchedFindings": [],
        "missedFindings": [],
        "spuriousFindings": [],
        "latencyMs": 10,
        "harnessOverheadMs": 1,
        "inputTokens": 7,
        "outputTokens": 3,
        "totalTokens": 10,
        **fields,
    }


def failed(agent: str, fixture: str, reason: str = "api") -> dict[str, Any]:
    return {
        "fixtureId": fixture,
        "domain": "task",
        "agentType": agent,
        "completion": "failed",
        "failureReason": reason,
        "matchedFindings": [],
        "missedFindings": [],
        "spuriousFindings": [],
        "latencyMs": 10,
    }


def report(*results: dict[str, Any], a: str = "a", b: str = "b") -> dict[str, Any]:
    return build_report(results, a, b, model="m", timestamp="2024-01-02T03:04:05.678Z")


def test_golden_comparisons() -> None:
    for case in golden.load("reports")["shared"]:
        agents = (case["agentA"], case["agentB"])
        assert render_table(case["results"], agents) == case["summaryTable"]
        if "error" in case:
            with pytest.raises(ScoringError, match=case["error"]):
                build_report(case["results"], *agents, model=case["model"], timestamp=case["timestamp"])
            continue
        made = build_report(case["results"], *agents, model=case["model"], timestamp=case["timestamp"])
        assert {name: made[name] for name in case["report"]} == case["report"], case["name"]
        assert render_markdown(made, *agents) == case["markdown"]


def test_golden_critics() -> None:
    for case in golden.load("reports")["harsh_critic"]:
        expected = case["report"]
        made = build_critic_report(case["results"], model=expected["model"], timestamp=expected["timestamp"])
        assert {name: made[name] for name in expected} == expected, case["name"]
        assert render_critic_markdown(made) == case["markdown"]


def test_golden_files_have_the_same_bytes() -> None:
    reports = golden.load("reports")
    case, written = reports["shared"][0], reports["writeReports"]["written"]
    agents = (case["agentA"], case["agentB"])
    made = build_report(case["results"], *agents, model=case["model"], timestamp=case["timestamp"])
    sizes = {file["name"]: file["bytes"] for file in written}
    assert len(js_json(made).encode()) == sizes["results.json"]
    assert len(render_markdown(made, *agents).encode()) == sizes["report.md"]


def test_golden_aggregates() -> None:
    tables = golden.load("aggregate")
    by_id = {case["id"].split("-")[0]: case for case in golden.all_cases()}
    compared = 0
    for entry in tables["sets"]:
        if not all(name in by_id for name in entry["ids"]):
            continue  # these cases are kept apart from the shared ones
        scores = [by_id[name]["expected"]["scores"] for name in entry["ids"]]
        assert aggregate(scores) == entry["canonical"]
        completed = [{"completion": "completed", "scores": one} for one in scores]
        assert aggregate_completed(completed) == entry["shared"]
        compared += 1
    assert compared >= 2
    assert all(mean(entry["values"]) == entry["mean"] for entry in tables["numericMeans"])


def test_flags_need_a_majority() -> None:
    yes, no = result("a", "x")["scores"] | {"hasGapAnalysis": True}, result("a", "x")["scores"]
    assert aggregate([yes, no])["hasGapAnalysis"] is False
    assert aggregate([yes, yes, no])["hasGapAnalysis"] is True
    assert aggregate([])["compositeScore"] == 0


def test_failures_are_not_scores_of_zero() -> None:
    made = report(result("a", "x", 0.8), result("a", "y", 0.4), result("b", "x", 0.6), failed("b", "y"))
    assert made["aggregateScores"]["a"]["compositeScore"] == 0.8
    assert made["diagnostics"]["qualityPairedCount"] == 1
    assert made["diagnostics"]["completion"]["failureReasonsB"] == {"api": 1}
    assert made["diagnostics"]["validity"] == "inconclusive"
    assert made["diagnostics"]["reasons"][0] == "one or more paired runs failed"


def test_unpaired_fixtures_are_named() -> None:
    made = report(result("a", "x"), result("a", "y"), result("b", "x"), result("b", "z"))
    assert made["diagnostics"]["completion"]["aOnlyKeys"] == ["task:y"]
    text = render_markdown(made, "a", "b")
    assert "Unpaired a: task:y\nUnpaired b: task:z" in text
    assert "**Reasons**: fixture populations differ" in text


def test_the_same_agent_twice_compares_nothing() -> None:
    made = report(result("a", "x"), a="a", b="a")
    assert made["aggregateScores"] == {"a": None}
    assert made["headToHead"] == []
    assert made["diagnostics"]["apiLatency"]["status"] == "insufficient"
    assert made["diagnostics"]["reasons"] == ["comparison requires two distinct agents"]


@pytest.mark.parametrize(
    ("a", "b", "winner"), [(0.5, 0.4991, "tie"), (0.5, 0.498, "a"), (0.498, 0.5, "b"), (0.5, 0.5, "tie")]
)
def test_ties(a: float, b: float, winner: str) -> None:
    assert report(result("a", "x", a), result("b", "x", b))["headToHead"][0]["winner"] == winner


def test_each_measurement_pairs_for_itself() -> None:
    partial = result("b", "y")
    del partial["outputTokens"], partial["totalTokens"]
    made = report(result("a", "x"), result("a", "y"), result("b", "x"), partial)
    cost = made["diagnostics"]["tokenCost"]
    assert (cost["input"]["total"]["pairedCount"], cost["output"]["total"]["pairedCount"]) == (2, 1)
    assert made["diagnostics"]["reasons"] == ["token telemetry is incomplete"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"),
        (0.5, "0.5"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (0.000001, "0.000001"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (-0.0, "0"),
        (123456789.125, "123456789.125"),
        (-2.5e-10, "-2.5e-10"),
    ],
)
def test_numbers_as_javascript_prints_them(value: float, shown: str) -> None:
    assert js_number(value) == shown


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (6.25, 1, "6.3"),
        (1000.25, 1, "1000.3"),
        (-0.01, 1, "-0.0"),
        (-0.0, 1, "0.0"),
        (1.005, 2, "1.00"),
        (2.5, 0, "3"),
    ],
)
def test_fixed_digits(value: float, digits: int, shown: str) -> None:
    assert to_fixed(value, digits) == shown


def test_json_as_javascript_writes_it() -> None:
    assert js_json({"a": [], "b": {}, "c": [1.0, "中\ud800"], "d": None}) == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    "中\\ud800"\n  ],\n  "d": null\n}'
    )


def test_collation() -> None:
    names = ["b", "B", "a-1", "a_1", "a1", "A", "a", "1", "a:b", "~"]
    assert sorted(names, key=locale_key) == ["~", "1", "a", "A", "a_1", "a-1", "a:b", "a1", "b", "B"]
