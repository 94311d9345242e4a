"""Every shared golden case, by `==`."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_author.scoring import TruthError, evaluate, parse_report, read_truth
from harbor_author.scoring.evidence import has_evidence
from harbor_author.scoring.parsers.critic import (
    critic_list_items,
    critic_verdict,
    ends_section,
    harsh_verdict,
)
from harbor_author.scoring.parsers.generic import heading_severity, list_items, severity_of
from harbor_author.scoring.parsers.lines import (
    heading_text,
    heading_text_with_plain_dashes,
    is_heading,
    is_rule,
)
from harbor_author.scoring.parsers.model import unique
from harbor_author.scoring.scores import severity_accepted
from harbor_author.scoring.text import (
    keyword_matches_text,
    normalize_for_match,
    required_keyword_matches,
    trim,
)
from harbor_author.scoring.truth import project_for_scoring
from tests.scoring import golden

pytestmark = pytest.mark.usefixtures("golden_cases")


@pytest.fixture
def golden_cases() -> None:
    golden.require_golden()


def differences(pairs: list[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
    """The (input, got, expected) triples that differ; none at all would prove nothing."""
    assert pairs
    return [(given, got, expected) for given, got, expected in pairs if got != expected]


@pytest.mark.parametrize("name", golden.CASE_FILES)
def test_whole_cases(name: str) -> None:
    assert not differences(
        [
            (
                case["id"],
                evaluate(case["agent_output"], golden.truth_of(case), parser=case["parser"]),
                case["expected"],
            )
            for case in golden.load(name)
        ]
    )


def test_regression_tests_of_the_reference() -> None:
    cases = golden.load("regression")["parser"]
    assert not differences(
        [
            (case["id"], parse_report(case["input"], case["agentType"]).to_json(), case["expected"])
            for case in cases
        ]
    )


def test_normalising() -> None:
    cases = golden.load("unit_tables")["normalizeTextForMatch"]
    assert not differences([(case["in"], normalize_for_match(case["in"]), case["out"]) for case in cases])


def test_keywords() -> None:
    tables = golden.load("unit_tables")
    assert not differences(
        [
            (case, keyword_matches_text(case["text"], case["keyword"]), case["out"])
            for case in tables["keywordMatchesText"]
        ]
    )
    assert not differences(
        [
            (case["n"], required_keyword_matches(case["n"]), case["out"])
            for case in tables["requiredKeywordMatches"]
        ]
    )


def test_severities() -> None:
    tables = golden.load("unit_tables")
    assert not differences(
        [(case, severity_accepted(case["agent"], case["truth"]), case["out"]) for case in tables["severity"]]
    )
    assert not differences(
        [
            (
                case["in"],
                (heading_severity(heading_text(case["in"])), severity_of(case["in"])),
                (case["heading"], case["text"]),
            )
            for case in tables["severityWords"]
        ]
    )


def test_evidence() -> None:
    cases = golden.load("unit_tables")["hasEvidence"]
    assert not differences([(case["in"], has_evidence(case["in"]), case["generic"]) for case in cases])


def test_headings() -> None:
    def read(line: str) -> dict[str, Any]:
        return {
            "in": line,
            "generic_is": trim(line) != "" and is_heading(trim(line)),
            "generic_norm": heading_text(line),
            "harsh_is": ends_section(line),
            "harsh_norm": heading_text_with_plain_dashes(line),
            "harsh_rule": is_rule(line),
            "generic_severity": heading_severity(heading_text(line)),
        }

    cases = golden.load("unit_tables")["headings"]
    expected = [{key: value for key, value in case.items() if key != "perspective"} for case in cases]
    assert not differences([(case["in"], read(case["in"]), case) for case in expected])


def test_list_items() -> None:
    cases = golden.load("unit_tables")["listItems"]
    assert not differences(
        [
            (
                case["lines"],
                (list_items(map(trim, case["lines"])), critic_list_items(iter(case["lines"]))),
                (case["generic"], case["harsh"]),
            )
            for case in cases
        ]
    )


def test_verdicts_and_duplicates() -> None:
    tables = golden.load("unit_tables")
    assert not differences(
        [
            (
                case["in"],
                (harsh_verdict(case["in"]), critic_verdict(case["in"])),
                (case["harsh"], case["critic"]),
            )
            for case in tables["verdict"]
        ]
    )
    assert not differences([(case["in"], list(unique(case["in"])), case["out"]) for case in tables["dedupe"]])


def test_validation() -> None:
    def read(document: Any) -> Any:
        try:
            return read_truth(document).to_json()
        except TruthError as error:
            return error.message

    cases = golden.load("validation")["validateSharedGroundTruth"]
    assert not differences(
        [(case["name"], read(case["input"]), case.get("ok", case.get("error"))) for case in cases]
    )


def test_projection() -> None:
    cases = golden.load("validation")["projection"]
    assert not differences(
        [
            (
                case,
                project_for_scoring(case["domain"], case["expectedVerdict"]),
                (case["out_domain"], case["out_verdict"]),
            )
            for case in cases
        ]
    )
