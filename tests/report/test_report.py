from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harbor_author.report import collect, html
from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import find_suite
from tests.conftest import AuthorRunner

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> {{ 7*7 }} & 插件"


def receipt(task: Path, trials: list[dict[str, object]], **extra: object) -> None:
    """A receipt as a proof leaves one; its digests are of another state, so it is stale."""
    document = {
        "schema": json.loads(_schema())["schema"],
        "semantics": 0,
        "task": task.name,
        "verdict": "pass",
        "inputs": {"package": "sha256:0", "bases": {"node": "sha256:1"}, "platform": "linux/amd64"},
        "trials": trials,
        **extra,
    }
    (task / "proof.json").write_text(json.dumps(document), encoding="utf-8")


def _schema() -> str:
    from harbor_author.proof import receipts

    return json.dumps({"schema": receipts.SCHEMA})


TRIALS: list[dict[str, object]] = [
    {"name": "untouched", "verdict": "pass", "expected": "0", "reward": 0.0, "duration_s": 2.0},
    {
        "name": "oracle",
        "verdict": "pass",
        "expected": "1",
        "reward": 1.0,
        "duration_s": 9.5,
        "judge_s": 6.0,
        "solve_s": 1.0,
    },
    {
        "name": f"decoy:{HOSTILE}",
        "verdict": "fail",
        "expected": "at most 0.4",
        "reward": 0.75,
        "duration_s": 1.0,
    },
    {
        "name": "repeat",
        "verdict": "error",
        "expected": "1",
        "reward": None,
        "cause": "judge-killed",
        "duration_s": 1.0,
    },
]
ABLATION = {
    "killed": 1,
    "total": 3,
    "changes": {
        "index.js": {"state": "killed", "reward": 0.4, "by": ["boot"]},
        "package.json": {"state": "blind", "reward": 1.0, "by": []},
        "README.md": {"state": "declared", "reward": 1.0, "by": []},
    },
}


class Page(HTMLParser):
    """What a page holds: tags with attributes, and all of its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def page(suite_root: Path) -> Page:
    made = new_task(find_suite(suite_root), TaskRequest(series="H", slug="one", title=HOSTILE[:100]))
    receipt(made.path, TRIALS, ablation=ABLATION)
    broken = suite_root / "tasks" / "M15-broken"
    shutil.copytree(made.path, broken)
    (broken / "task.toml").write_text("x = \n", encoding="utf-8")
    (broken / "proof.json").write_text("{")
    (suite_root / "tasks" / "<b>odd").mkdir()
    suite = find_suite(suite_root)
    return Page(html(collect(suite, suite.tasks())))


def test_nothing_of_a_task_becomes_markup(page: Page) -> None:
    assert "script" not in {tag for tag, _ in page.tags}
    assert "img" not in {tag for tag, _ in page.tags}
    assert "b" not in {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text


def test_the_page_needs_no_network(page: Page) -> None:
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href"):
            value = attributes.get(name) or "#"
            assert value.startswith("#") or value == "data:,", (tag, value)


def test_every_chart_is_told_in_words(page: Page) -> None:
    charts = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(charts) == 3
    idents = {attributes["id"] for _, attributes in page.tags if attributes.get("id")}
    for chart in charts:
        assert chart["role"] == "img"
        assert set((chart["aria-labelledby"] or "").split()) <= idents
    assert "75 of 100, expected at most 40, fail" in page.text
    assert "error judge-killed" in page.text
    assert "1 of 3 changes are noticed by a check; not noticed: package.json" in page.text


def test_links_inside_the_page_lead_somewhere(page: Page) -> None:
    idents = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(idents) == len(set(idents))
    for _, attributes in page.tags:
        link = attributes.get("href") or ""
        if link.startswith("#"):
            assert link[1:] in idents


def test_states_are_said_in_words(page: Page) -> None:
    assert "pass, stale" in page.text
    assert "none, broken" in page.text
    assert "Proved and current0 of 3" in re.sub(r"\s*\n\s*", "", page.text)


@pytest.mark.slow
def test_the_command_does_not_overwrite_another_file(author: AuthorRunner, suite_root: Path) -> None:
    output = suite_root / "notes.html"
    output.write_text("<p>mine</p>")
    done = author("report", "--suite", suite_root, "--output", output)
    assert done.status == 2
    assert output.read_text() == "<p>mine</p>"
    assert author("report", "--suite", suite_root, "--output", suite_root / "r.html").status == 0
    assert author("report", "--suite", suite_root, "--output", suite_root / "r.html").status == 0


def test_two_hundred_tasks_stay_small(suite_root: Path) -> None:
    made = new_task(find_suite(suite_root), TaskRequest(series="H", slug="t")).path
    receipt(made, TRIALS * 5, ablation=ABLATION)
    suite = find_suite(suite_root)
    one = collect(suite, suite.tasks())
    tasks = tuple(replace(one.tasks[0], anchor=f"task-{number}") for number in range(200))
    text = html(replace(one, tasks=tasks))
    assert text.count("<article") == 200
    assert len(text.encode()) < 5 * 1024 * 1024
