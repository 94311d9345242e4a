"""findings.mjs and grading.mjs, which grade in the container, against the Python implementation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harbor_author.scoring import ScoringError, evaluate, grade, parse_report
from tests.conftest import REPOSITORY
from tests.scoring import golden
from tests.scoring.documents import documents, snippets

pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed"),
]

CONTAINER = REPOSITORY / "templates/S/tests"
RUNNER = REPOSITORY / "tests/scoring/parity.mjs"
LITERAL = REPOSITORY / "tests/scoring/literal.mjs"
QUICK, FULL = 2000, 20_000


def in_node(batch: Iterable[dict[str, Any]], script: Path = RUNNER) -> list[Any]:
    """What findings.mjs, or another script, makes of each document, all in one process."""
    lines = "".join(json.dumps(document) + "\n" for document in batch)
    done = subprocess.run(
        ["node", str(script), str(CONTAINER)],
        input=lines.encode(),
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return [
        json.loads(line) for line in done.stdout.decode("utf-8", "surrogatepass").rstrip("\n").split("\n")
    ]


def in_python(document: dict[str, Any]) -> Any:
    try:
        return evaluate(document["report"], document["truth"], parser=document["parser"])
    except ScoringError as error:
        return {"error": error.message}


def test_all_golden_cases() -> None:
    golden.require_golden()
    cases = golden.all_cases()
    answers = in_node(
        {"report": case["agent_output"], "truth": golden.truth_of(case), "parser": case["parser"]}
        for case in cases
    )
    wrong = [case["id"] for case, answer in zip(cases, answers, strict=True) if answer != case["expected"]]
    assert not wrong


def test_the_messages_for_wrong_ground_truths() -> None:
    golden.require_golden()
    cases = golden.load("validation")["validateSharedGroundTruth"]
    answers = in_node({"report": "", "truth": case["input"], "parser": "generic"} for case in cases)
    assert [answer.get("error") for answer in answers] == [case.get("error") for case in cases]


@pytest.mark.slow
def test_generated_documents() -> None:
    """20,000 of them with HARBOR_AUTHOR_FUZZ=full, which CI sets; a tenth otherwise."""
    count = FULL if os.environ.get("HARBOR_AUTHOR_FUZZ") == "full" else QUICK
    seed = int(os.environ.get("HARBOR_AUTHOR_FUZZ_SEED", "7"))
    batch = list(documents(count, seed))
    matched = 0
    for number, (document, answer) in enumerate(zip(batch, in_node(batch), strict=True)):
        mine = in_python(document)
        assert mine == answer, f"document {number} of seed {seed}: {json.dumps(document)[:3000]}"
        matched += len(mine["match"]["matchedIds"])
    assert matched > count / 20, "the generator must produce matches, or it compares nothing"


@pytest.mark.slow
def test_linear_forms_against_the_literal_patterns() -> None:
    """Golden cases say that the literal patterns are the reference's; generated ones that ours are equal to them."""
    golden.require_golden()
    cases = golden.all_cases()
    reports = [{"report": case["agent_output"], "parser": case["parser"]} for case in cases]
    assert in_node(reports, LITERAL) == [case["expected"]["parsed"] for case in cases]
    count = FULL if os.environ.get("HARBOR_AUTHOR_FUZZ") == "full" else QUICK
    batch = [*documents(count, 31, long_every=count + 1), *snippets(2 * count, 37)]
    for number, (document, literal) in enumerate(zip(batch, in_node(batch, LITERAL), strict=True)):
        mine = parse_report(document["report"], document["parser"]).to_json()
        assert mine == literal, f"document {number}: {json.dumps(document['report'])}"


@pytest.mark.slow
def test_grades_of_generated_documents() -> None:
    batch = [
        {
            "report": document["report"],
            "truth": document["truth"],
            "prompt": document["report"][: len(document["report"]) // 3],
        }
        for document in documents(QUICK // 4, 23, long_every=250)
        if document["truth"]["findings"]
    ]
    scores = set()
    for number, (document, answer) in enumerate(zip(batch, in_node(batch), strict=True)):
        mine = grade(document["report"], document["truth"], prompt=document["prompt"])
        assert mine == answer, f"document {number}: {json.dumps(document)[:3000]}"
        scores.add(mine["score"])
    assert {0, 100} < scores
