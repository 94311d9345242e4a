"""The benchmark in `bench/executor`: whole, true to the tasks that it quotes, and able to tell answers apart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harbor_author.scoring import evaluate
from tests.conftest import REPOSITORY, AuthorRunner

BENCH = REPOSITORY / "bench" / "executor"
REPORTS = Path(__file__).parent / "reports"
TASKS = {
    "user-created-at": "E1-user-created-at",
    "product-validation": "E2-product-validation",
    "notification-channels": "E3-notification-channels",
}
_QUOTED = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fixture_text(fixture: str) -> str:
    return (BENCH / "fixtures" / "tasks" / f"{fixture}.md").read_text(encoding="utf-8")


def truth(fixture: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (BENCH / "ground-truth" / f"{fixture}.json").read_text(encoding="utf-8")
    )
    return found


def matched(report: str, fixture: str) -> list[str]:
    found: list[str] = evaluate(report, truth(fixture))["match"]["matchedIds"]
    return found


def test_the_benchmark_can_be_run(author: AuthorRunner) -> None:
    ran = author("bench", BENCH, "--dry-run", "--json")
    assert ran.status == 0
    assert sorted(json.loads(ran.out)["fixtures"]) == sorted(TASKS)


@pytest.mark.parametrize("fixture", TASKS)
def test_quoted_sources_are_those_of_the_task(fixture: str) -> None:
    quoted = _QUOTED.findall(fixture_text(fixture))
    assert len(quoted) >= 3
    for name, text in quoted:
        path = REPOSITORY / "tasks" / TASKS[fixture] / "environment" / "fixture" / name
        assert text == path.read_text(encoding="utf-8"), name


@pytest.mark.parametrize("fixture", TASKS)
def test_a_right_answer_names_every_finding(fixture: str) -> None:
    report = (REPORTS / fixture / "right.md").read_text(encoding="utf-8")
    assert matched(report, fixture) == [finding["id"] for finding in truth(fixture)["findings"]]


@pytest.mark.parametrize(
    ("fixture", "found"),
    [
        ("user-created-at", ["E1-TYPE", "E1-CREATE"]),
        ("product-validation", ["E2-NAME", "E2-SKU", "E2-CATEGORY"]),
        ("notification-channels", ["E3-SENDERS", "E3-PARALLEL", "E3-COMPATIBLE"]),
    ],
)
def test_half_an_answer_names_just_its_half(fixture: str, found: list[str]) -> None:
    assert matched((REPORTS / fixture / "partial.md").read_text(encoding="utf-8"), fixture) == found


@pytest.mark.parametrize("fixture", TASKS)
def test_other_talk_and_the_request_itself_name_nothing(fixture: str) -> None:
    assert matched((REPORTS / fixture / "off.md").read_text(encoding="utf-8"), fixture) == []
    assert matched(fixture_text(fixture), fixture) == []


@pytest.mark.parametrize("prompt", ["executor", "deep-executor"])
def test_prompts_ask_for_the_form_that_is_read(prompt: str) -> None:
    text = (BENCH / "prompts" / f"{prompt}.md").read_text(encoding="utf-8")
    assert text.startswith(f"---\nname: {prompt}\n")
    assert "\n## Findings\n" in text
    # A rule within the prompt would be taken for the end of the front matter.
    assert text.count("---") == 2
