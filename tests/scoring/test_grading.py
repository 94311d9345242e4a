"""What a report is worth for a task; grading.mjs is held to the same by test_container_parity."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harbor_author.scoring import TruthError, grade, read_rubric
from tests.conftest import REPOSITORY
from tests.scoring.truths import CHINESE, ENGLISH, RENAMED, finding, truth


def score(report: str, document: dict[str, Any] = RENAMED, *, prompt: str = "") -> float:
    value = grade(report, document, prompt=prompt)["score"]
    assert isinstance(value, (int, float))
    return value


def test_english_and_chinese_score_the_same() -> None:
    assert score(ENGLISH) == score(CHINESE) == 100


def test_half_a_report_scores_the_same_in_both_languages() -> None:
    half = (ENGLISH.split("## The listener")[0], CHINESE.split("## 监听器")[0])
    assert score(half[0]) == score(half[1]) == pytest.approx(66.67)


def test_negated_advice_loses_nothing() -> None:
    negated = ENGLISH.replace("Use `jobs`", "Do not keep it; never anything but `jobs`")
    assert score(negated) == 100
    assert score(CHINESE.replace("应当使用", "不要再用旧的，而应使用")) == 100


def test_a_copied_instruction_proves_nothing() -> None:
    graded = grade(ENGLISH, RENAMED, prompt=f"Some words before.\n\n{ENGLISH}\n\nand after")
    assert graded["score"] == 0
    assert graded["reasons"] == ["3 passage(s) copied from the instruction prove nothing"]


def test_a_finding_beside_copied_text_counts() -> None:
    prompt = "Compare tasks, jobs and services of httpServer and webServer in inject."
    assert score(f"{prompt}\n\n{ENGLISH}", prompt=prompt) == 100


def test_bare_identifiers_prove_nothing() -> None:
    document = truth(finding("a", ["DSH-0.1.2-A1-03", "DSH-0.1.2-A1-04"]), finding("b", ["A1-05"]))
    assert score("- DSH-0.1.2-A1-03, DSH-0.1.2-A1-04\n- DSH-0.1.2-A1-05\n", document) == 0
    assert score("DSH-0.1.2-A1-03 and DSH-0.1.2-A1-04: the service lost its old name", document) == 50


def test_one_passage_proves_one_finding() -> None:
    document = truth(finding("a", ["alpha", "beta"]), finding("b", ["alpha", "gamma"]))
    soup = "alpha beta gamma alpha beta gamma"
    assert score(soup, document) == 50
    assert score(f"{soup}\n\n{soup} again", document) == 100


def test_as_many_findings_as_possible_are_proved() -> None:
    document = truth(finding("a", ["alpha", "beta"]), finding("b", ["alpha", "gamma"]))
    # The first passage fits both findings, the second only `a`, which must therefore give way.
    assert score("the alpha beta gamma thing\n\nthe alpha beta thing", document) == 100


def test_scattered_words_prove_nothing() -> None:
    document = truth(finding("a", ["alpha", "beta"]))
    assert score("alpha is one thing\n\nbeta is another thing", document) == 0
    assert score("- alpha is one thing\n  - beta is below it, indented", document) == 100
    assert score("## alpha is in the heading\n\nbeta is another thing", document) == 100
    assert score("| alpha | and | beta |\n| other | row | here |", document) == 100


def test_a_rubric_gives_points_and_caps() -> None:
    document = {
        **truth(finding("a", ["alpha"]), finding("b", ["beta"])),
        "rubric": {
            "points": {"a": 3, "b": 1},
            "caps": [{"without": "a", "limit": 10, "reason": "the trap was not seen"}],
        },
    }
    assert score("alpha is found here", document) == 75
    graded = grade("beta is found here", document)
    assert graded["score"] == 10
    assert graded["caps"] == [{"limit": 10, "reason": "the trap was not seen"}]
    assert [check["points"] for check in graded["checks"]] == [75, 25]


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        ({"points": {"z": 1}}, "names z, which is no finding"),
        ({"points": {"a": 1}}, "must name every finding"),
        ({"points": {"a": 0, "b": 1}}, "must be a positive number"),
        ({"points": {"a": True, "b": 1}}, "must be a positive number"),
        ({"caps": [{"without": "z", "limit": 1}]}, "names z, which is no finding"),
        ({"caps": [{"without": "a", "limit": 101}]}, "must be 0 to 100"),
        ([], None),
    ],
)
def test_wrong_rubrics(rubric: Any, message: str | None) -> None:
    document = {**truth(finding("a", ["alpha"]), finding("b", ["beta"])), "rubric": rubric}
    if message is None:
        assert read_rubric(document).points == {"a": 50, "b": 50}
        return
    with pytest.raises(TruthError, match=message):
        read_rubric(document)


def test_missed_findings_name_the_nearest_passage() -> None:
    (check,) = grade("Only tasks are spoken of here", truth(finding("a", ["tasks", "jobs"])))["checks"]
    assert (
        check["reason"] == 'not found: 1 more of its keywords are needed in "Only tasks are spoken of here"'
    )


@pytest.mark.slow
def test_long_reports_take_linear_time() -> None:
    report = "".join(f"- item {number} speaks of tasks and of other things\n" for number in range(4_000))
    began = time.process_time()
    score(report)
    one = time.process_time() - began
    began = time.process_time()
    score(report * 4)
    assert time.process_time() - began < 4 * one * 3 + 1


JUDGE = """
import fs from "node:fs";
import { grade, isBinary } from "%s/grading.mjs";
const truth = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const text = fs.readFileSync(process.argv[3], "utf8");
console.log(JSON.stringify({ binary: isBinary(text), score: grade(text, truth).score }));
"""


@pytest.mark.node
def test_binary_reports_are_recognised(tmp_path: Path) -> None:
    judge = tmp_path / "judge.mjs"
    judge.write_text(JUDGE % (REPOSITORY / "templates/S/tests"), "utf-8")
    (tmp_path / "truth.json").write_text(json.dumps(RENAMED), "utf-8")
    (tmp_path / "report.md").write_bytes(b"\x7fELF\x00\x01\xff\xfe")
    done = subprocess.run(
        ["node", judge, tmp_path / "truth.json", tmp_path / "report.md"],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == {"binary": True, "score": 0}
