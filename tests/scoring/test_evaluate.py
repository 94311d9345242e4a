"""Reading, matching and scoring through the public door: cases of our own."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from harbor_author.scoring import ScoringError, TruthError, evaluate, parse_report, read_truth
from harbor_author.scoring.text import nfkc, normalize_for_match, split_lines, utf16_length
from tests.scoring.truths import finding, truth


def matched(report: str, document: dict[str, Any], parser: Any = "generic") -> list[str]:
    ids = evaluate(report, document, parser=parser)["match"]["matchedIds"]
    assert isinstance(ids, list)
    return ids


def critical(text: str) -> str:
    return f"## Critical\n- {text}\n"


def test_shape_of_the_answer() -> None:
    answer = evaluate(critical("tasks became jobs"), truth(finding("a", ["tasks", "jobs"])))
    assert list(answer) == ["parsed", "match", "scores"]
    assert answer["match"] == {
        "matchedIds": ["a"],
        "missedIds": [],
        "spuriousTexts": [],
        "totalAgentFindings": 1,
    }
    assert answer["scores"]["compositeScore"] == 0.5
    assert answer["parsed"]["criticalFindings"] == [
        {"text": "tasks became jobs", "severity": "CRITICAL", "hasEvidence": False}
    ]


def test_an_empty_report_is_not_worth_nothing() -> None:
    assert evaluate("", truth(finding("a", ["b"])))["scores"]["compositeScore"] == 0.1
    assert evaluate("", truth())["scores"]["compositeScore"] == 0.25


def test_keywords_by_language() -> None:
    document = truth(finding("a", {"en": ["service", "renamed", "jobs"], "zh": ["服务", "改名", "jobs"]}))
    assert matched(critical("the service was renamed"), document) == ["a"]
    assert matched(critical("服务已改名"), document) == ["a"]
    assert matched(critical("the 服务 is gone"), document) == []


@pytest.mark.parametrize("keywords", [{}, {"en": "a"}, {"en": ["a", 1]}, {"en": None}, "a", None, {"en": {}}])
def test_keywords_that_are_no_lists(keywords: Any) -> None:
    with pytest.raises(TruthError, match="Ground truth finding 0 has invalid keywords"):
        read_truth(truth(finding("a", keywords)))


def test_every_language_needs_a_keyword() -> None:
    with pytest.raises(TruthError, match="must have at least one keyword"):
        read_truth(truth(finding("a", {"en": ["a"], "zh": []})))


def test_a_validated_copy_keeps_its_languages() -> None:
    document = truth(finding("a", {"en": ["a"], "zh": ["b"]}))
    assert read_truth(document).to_json()["findings"][0]["keywords"] == {"en": ["a"], "zh": ["b"]}


def test_greedy_matching_takes_the_first_text() -> None:
    document = truth(finding("a", ["alpha"]), finding("b", ["alpha", "beta"]))
    assert matched(critical("alpha and beta\n- alpha"), document) == ["a"]
    assert matched(critical("alpha\n- alpha and beta"), document) == ["a", "b"]


def test_severity_has_a_pass_of_its_own() -> None:
    # Matched by a missing item alone: no finding carries a severity, so none is right.
    scores = evaluate("## Missing\n- alpha\n## Minor\n- beta\n", truth(finding("a", ["alpha"])))["scores"]
    assert (scores["truePositiveRate"], scores["severityAccuracy"]) == (1, 0)


def test_the_critics_take_a_truth_as_it_is() -> None:
    doubled = truth(finding("a", ["alpha"]), finding("a", ["alpha"]))
    report = "## Summary\n- alpha one\n- alpha two\n"
    answer = evaluate(report, doubled, parser="critic")
    assert answer["match"]["matchedIds"] == ["a"]
    assert answer["match"]["spuriousTexts"] == []
    assert answer["scores"]["truePositiveRate"] == 0.5
    with pytest.raises(TruthError, match="Duplicate ground truth finding id: a"):
        evaluate(report, doubled)
    assert evaluate(report, truth(finding("a", [])), parser="critic")["match"]["matchedIds"] == ["a"]


@pytest.mark.parametrize(
    "document", [None, [], {}, {"findings": 1}, {"findings": [1]}, {"findings": [{"id": "a"}]}]
)
@pytest.mark.parametrize("parser", ["generic", "critic", "harsh-critic"])
def test_unusable_truths_are_errors(document: Any, parser: Any) -> None:
    with pytest.raises(TruthError):
        evaluate("x", document, parser=parser)


def test_an_unknown_parser() -> None:
    with pytest.raises(ScoringError, match="no parser 'other'"):
        parse_report("x", "other")


def test_a_changed_truth_is_read_again() -> None:
    document = truth(finding("a", ["alpha"]))
    assert matched(critical("alpha"), document) == ["a"]
    document["findings"][0]["keywords"] = ["beta"]
    assert matched(critical("alpha"), document) == []
    broken = copy.deepcopy(document)
    broken["isCleanBaseline"] = 0
    with pytest.raises(TruthError, match="isCleanBaseline must be boolean"):
        evaluate("", broken)


def test_a_truth_is_not_changed() -> None:
    document = truth(finding("a", {"en": ["alpha"]}))
    before = copy.deepcopy(document)
    evaluate(critical("alpha"), document)
    assert document == before


def test_lines_end_at_line_feeds_only() -> None:
    assert split_lines("a\r\nb\rc\u2028d\x85e\n") == ["a", "b\rc\u2028d\x85e", ""]


def test_lengths_in_utf16_units() -> None:
    assert utf16_length("a😀") == 3
    assert utf16_length("\ud800") == 1


def test_normalising_long_runs_of_marks_is_exact() -> None:
    runs = ("\u0301\u0323" * 500, "\u0f73\u0301" * 200, "\u3099\u0327\u0345" * 100)
    for run in runs:
        text = f"a{run}b"
        import unicodedata

        assert nfkc(text) == unicodedata.normalize("NFKC", text)
    assert normalize_for_match("Ａ－Ｂ") == "a b"


HOSTILE = {
    "paths": "a.",
    "stars": "* ",
    "dots": "....",
    "line numbers": ":1",
    "backticks": "`",
    "blank lines": "\n",
    "blanks": " ",
    "verdicts": "*VERDICT: a ",
    "okays": "OKAY \n",
    "perspectives": "multi-perspective phase 1 ",
    "parentheses": "**a**(",
    "hashes": "# a\n",
    "bullets": "- critical findings\n",
    "headings": "### Security\n",
    "carriage returns": "- a\r",
    "marks": "\u0301\u0323",
    "sigmas": "\u03a3.",
    "ideographs": "- 中文，\n",
    "emoji": "😀",
    "nul": "\0",
}


@pytest.mark.parametrize("parser", ["generic", "harsh-critic", "critic"])
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_makes_reading_explode(unit: str, parser: Any) -> None:
    document = truth(finding("a", ["alpha", "beta gamma"]))

    def seconds(size: int) -> float:
        text = f"## Critical findings\n- x{unit * (size // len(unit))}y\n"
        began = time.process_time()
        evaluate(text, document, parser=parser)
        return time.process_time() - began

    small, large = seconds(20_000), seconds(200_000)
    # Ten times the text, at most some twenty times the time; quadratic would be a hundred.
    assert large < 30 * small + 0.5
