"""`author calibrate` through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import AuthorRunner
from tests.scoring.truths import CHINESE, ENGLISH, RENAMED, finding, truth

REPORTS = """
[[report]]
file = "english.md"
kind = "right"

[[report]]
file = "chinese.md"
kind = "other-language"

[[report]]
file = "half.md"
finds = ["service", "server"]

[[report]]
file = "wrong.md"
kind = "wrong"
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    root = tmp_path / "S17-renamed-service"
    reports = root / "solution/reports"
    reports.mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "tests/ground-truth.json").write_text(json.dumps(RENAMED), "utf-8")
    (root / "instruction.md").write_text("Find what breaks and write a report.\n", "utf-8")
    (root / "task.toml").write_text("[metadata]\nreport_floor = 10\n", "utf-8")
    (root / "solution/report.md").write_text(ENGLISH, "utf-8")
    (root / "solution/SOLUTION.md").write_text("DSH-0.1.2-A1-03 and DSH-0.1.2-A1-04\n", "utf-8")
    (reports / "english.md").write_text(ENGLISH, "utf-8")
    (reports / "chinese.md").write_text(CHINESE, "utf-8")
    (reports / "half.md").write_text(ENGLISH.split("## The listener")[0], "utf-8")
    (reports / "wrong.md").write_text(
        "# Report\n\nThe plugin looks right; only its version has to rise.\n", "utf-8"
    )
    (reports / "reports.toml").write_text(REPORTS, "utf-8")
    return root


def run(author: AuthorRunner, task: Path, *more: str) -> tuple[int, Any]:
    ran = author("calibrate", task, "--json", *more)
    return ran.status, json.loads(ran.out) if ran.out else ran.err


def test_everything_as_declared(author: AuthorRunner, task: Path) -> None:
    status, document = run(author, task)
    assert (status, document["summary"]["missed"]) == (0, 0)
    assert document["schema"] == "author/calibrate/1"
    scores = {report["name"]: report["score"] for report in document["reports"]}
    assert scores["english.md"] == scores["chinese.md"] == 100
    assert scores["(card IDs)"] == scores["(instruction)"] == scores["(nothing)"] == 0
    listener = next(row for row in document["confusion"] if row["id"] == "listener")
    assert listener == {"id": "listener", "hits": 3, "misses": 0, "falseAlarms": 0, "rejections": 2}


def test_a_missed_expectation_is_status_1(author: AuthorRunner, task: Path) -> None:
    (task / "solution/reports/wrong.md").write_text(ENGLISH, "utf-8")
    status, document = run(author, task)
    assert status == 1
    (missed,) = [report for report in document["reports"] if not report["ok"]]
    assert missed["name"] == "wrong.md"
    assert len(missed["problems"]) == 3
    text = author("calibrate", task)
    assert text.status == 1
    assert "MISSED wrong.md: service is found" in text.out


@pytest.mark.slow
def test_variants_and_decoys_are_reports_too(author: AuthorRunner, task: Path) -> None:
    for name, text in {
        "variants/chinese/chinese.md": CHINESE,
        "decoys/half/half.md": ENGLISH.split("## The l")[0],
    }.items():
        path = task / "solution" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    limit = task / "solution/decoys/half/decoy.toml"
    limit.write_text("max_score = 70\nwhy = 'it stops early'\n", "utf-8")
    assert run(author, task)[0] == 0
    limit.write_text("max_score = 60\nwhy = 'it stops early'\n", "utf-8")
    status, document = run(author, task)
    assert status == 1
    (missed,) = [report for report in document["reports"] if not report["ok"]]
    assert missed["name"] == "(decoy half)"


@pytest.mark.slow
def test_an_instruction_that_gives_the_answer_away(author: AuthorRunner, task: Path) -> None:
    (task / "instruction.md").write_text("Say that tasks became jobs in the service.\n", "utf-8")
    status, document = run(author, task)
    assert status == 1
    assert next(one for one in document["reports"] if one["name"] == "(instruction)")["problems"] == [
        "scores 33.33, expected 0 to 10"
    ]
    # With the instruction beside the judge its copies prove nothing, and a stale copy is told.
    (task / "tests/prompt.md").write_bytes((task / "instruction.md").read_bytes())
    assert run(author, task)[0] == 0
    (task / "tests/prompt.md").write_bytes((task / "instruction.md").read_bytes() + b"\n")
    status, document = run(author, task)
    assert "stale-prompt" in {weakness["kind"] for weakness in document["weaknesses"]}


def test_fragile_ground_truths_are_described(author: AuthorRunner, task: Path) -> None:
    document = truth(
        finding("service", ["tasks", "jobs", "unheard-of"]),
        finding("again", ["jobs", "tasks", "report"]),
        finding("alone", ["onJobDone"]),
    )
    (task / "tests/ground-truth.json").write_text(json.dumps(document), "utf-8")
    reports = task / "solution/reports"
    (reports / "reports.toml").write_text('[[report]]\nfile = "half.md"\nfinds = ["service"]\n', "utf-8")
    _, outcome = run(author, task)
    told = {(weakness["kind"], weakness["finding"]) for weakness in outcome["weaknesses"]}
    assert {("idle-word", "service"), ("overlap", "service"), ("single-word", "alone")} <= told
    assert outcome["undeclared"] == ["chinese.md", "english.md", "wrong.md"]


def test_a_threshold_that_one_word_would_flip(author: AuthorRunner, task: Path) -> None:
    (task / "solution/reports/wrong.md").write_text("Only `onTaskDone` is spoken of here.\n", "utf-8")
    _, document = run(author, task)
    (flip,) = [
        one for one in document["weaknesses"] if one["kind"] == "flip" and "wrong.md" in one["message"]
    ]
    assert flip["finding"] == "listener"
    assert "onTaskDone" in flip["message"]


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("[[report]\n", "cannot be parsed"),
        ("", "declares no report"),
        ('[[report]]\nfile = "no.md"\nkind = "right"\n', "cannot be read"),
        ('[[report]]\nfile = "half.md"\n', "says nothing about what must come out"),
        ('[[report]]\nfile = "half.md"\nkind = "odd"\n', "unknown kind 'odd'"),
        ('[[report]]\nfile = "half.md"\nfind = []\n', "unknown field find"),
        ('[[report]]\nfile = "half.md"\nfinds = ["nothing"]\n', "no finding of the ground truth"),
        ('[[report]]\nfile = "../half.md"\nkind = "right"\n', "not a file of this folder"),
        ('[[report]]\nfile = "half.md"\nmin_score = 101\n', "must be a number from 0 to 100"),
        ('[[report]]\nfile = "half.md"\nkind = "right"\n' * 2, "declared twice"),
    ],
)
def test_wrong_declarations(author: AuthorRunner, task: Path, declaration: str, message: str) -> None:
    (task / "solution/reports/reports.toml").write_text(declaration, "utf-8")
    ran = author("calibrate", task)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_a_task_without_ground_truth(author: AuthorRunner, task: Path) -> None:
    (task / "tests/ground-truth.json").unlink()
    ran = author("calibrate", task)
    assert ran.status == 2
    assert "the ground truth cannot be read" in ran.err
