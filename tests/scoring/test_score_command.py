"""`author score` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner
from tests.scoring.truths import finding, truth

REPORT = """## Critical
1. The service `tasks` became `jobs` (index.js:3).

## Remarks
- webServer replaces httpServer in inject

## Major
- Something about nothing at all
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    document = truth(
        finding("service", ["tasks", "jobs"]),
        finding("server", ["httpServer", "webServer"]),
        finding("other", ["tasks", "queue", "jobs", "depth", "limit", "ceiling"]),
        finding("absent", ["zebra"]),
    )
    (tmp_path / "truth.json").write_text(json.dumps(document), "utf-8")
    (tmp_path / "report.md").write_text(REPORT, "utf-8")
    return tmp_path


def test_json_names_the_words(author: AuthorRunner, files: Path) -> None:
    ran = author("score", "report.md", "--truth", "truth.json", "--json", cwd=files)
    assert ran.status == 0
    document = json.loads(ran.out)
    assert document["schema"] == "author/score/1"
    assert document["match"]["matchedIds"] == ["service"]
    assert document["matched"][0]["words"] == {"holds": ["tasks", "jobs"], "lacks": [], "required": 2}
    missed = {one["id"]: one for one in document["missed"]}
    assert missed["server"]["wasRead"] is False
    assert missed["server"]["nearest"].startswith("webServer replaces")
    assert missed["other"]["takenBy"] == "service"
    assert missed["other"]["words"]["lacks"] == ["queue", "depth", "limit", "ceiling"]
    assert missed["absent"]["nearest"] is None
    assert document["spurious"] == ["Something about nothing at all"]
    assert document["grade"]["score"] == 50


def test_text_says_what_was_lacking(author: AuthorRunner, files: Path) -> None:
    ran = author("score", "report.md", "--truth", "truth.json", cwd=files)
    assert ran.status == 0
    assert "found   service  2 of 2 needed: tasks, jobs" in ran.out
    assert "2 of 3 needed: tasks, jobs; 1 more of: queue, depth, limit, ceiling" in ran.out
    assert "no text holds any of its words" in ran.out
    assert "1 of 4 findings" in ran.out
    assert ran.out.endswith("as a task's report: 50 of 100\n")


def test_report_from_standard_input(author: AuthorRunner, files: Path) -> None:
    ran = author("score", "-", "--truth", "truth.json", "--json", cwd=files, stdin=REPORT)
    assert json.loads(ran.out)["match"]["matchedIds"] == ["service"]


def test_escape_sequences_do_not_reach_the_terminal(author: AuthorRunner, files: Path) -> None:
    (files / "report.md").write_text("## Critical\n- \x1b[2Jsomething quite else\n", "utf-8")
    ran = author("score", "report.md", "--truth", "truth.json", cwd=files)
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "truth.json:1:2: the ground truth is no JSON"),
        ("\ufeff{}", "the ground truth is no JSON"),
        ("[]", "truth.json: Ground truth must be an object"),
        ("[" * 100_000, "the ground truth"),
    ],
)
def test_a_wrong_ground_truth_is_no_score(
    author: AuthorRunner, files: Path, content: str, message: str
) -> None:
    (files / "truth.json").write_text(content, "utf-8")
    ran = author("score", "report.md", "--truth", "truth.json", cwd=files)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


@pytest.mark.slow
def test_missing_files(author: AuthorRunner, files: Path) -> None:
    assert "the report cannot be read" in author("score", "no.md", "--truth", "truth.json", cwd=files).err
    assert author("score", "report.md", "--truth", "no.json", cwd=files).status == 2
    assert author("score", "report.md", "--truth", "truth.json", "--parser", "x", cwd=files).status == 2
