from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harbor_author.proof.receipts import gather_inputs, write_receipt
from harbor_author.proof.reward import Check
from harbor_author.proof.verdict import Trial
from harbor_author.publish import gates
from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import Task, find_suite
from tests.conftest import AuthorRunner


@pytest.fixture
def ready(suite_root: Path) -> Path:
    """A finished task with the receipt of a whole matrix."""
    made = new_task(find_suite(suite_root), TaskRequest(series="H", slug="one", title="A | title")).path
    for path in made.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if "TODO(author)" in text:
                path.write_text(re.sub(r"TODO\(author\):?", "Said:", text), encoding="utf-8")
    prove(made)
    return made


CHECKS = (Check("files", 60, 60, ""), Check("boot", 40, 40, ""))


def prove(path: Path, verdict: str = "pass") -> None:
    task = Task(path, find_suite(path.parent.parent))
    trials = [
        Trial(name, "pass", reward, "0" if reward == 0 else "1", checks=CHECKS)
        for name, reward in [
            ("untouched", 0.0),
            ("oracle", 1.0),
            *((f"oracle#{number}", 1.0) for number in range(2, 6)),
            ("forged", 0.0),
        ]
    ]
    extra = {
        "repeats": {"oracle": {"1": 5}},
        "ablation": {
            "killed": 1,
            "total": 1,
            "changes": {"index.js": {"state": "killed", "reward": 0, "by": ["boot"]}},
        },
    }
    write_receipt(task, gather_inputs(task, {}), trials, verdict=verdict, cause=None, extra=extra)


def failing(path: Path) -> list[str]:
    suite = find_suite(path.parent.parent)
    return [gate.name for gate in gates(suite, Task(path, suite)) if not gate.holds]


@pytest.mark.slow
def test_a_ready_task_is_described_and_recorded(author: AuthorRunner, suite_root: Path, ready: Path) -> None:
    assert failing(ready) == []
    done = author("publish", "H23", "--suite", suite_root)
    assert done.status == 0, done.err
    assert done.out.startswith("# H23: A \\| title\n")
    assert "| untouched | 0 | 0 | pass |" in done.out
    assert "| oracle | 100 | 100 | pass |" in done.out
    assert "oracle#2" not in done.out
    assert "1 of 1 changes are noticed" in done.out
    assert "oracle: 1 x5" in done.out
    assert "## Grading boundary\n\nJudged: files 60, boot 40.\n" in done.out
    manifest = json.loads((suite_root / "manifest.json").read_text(encoding="utf-8"))
    assert list(manifest["tasks"]) == ["H23"]


@pytest.mark.slow
def test_a_dry_run_records_nothing(author: AuthorRunner, suite_root: Path, ready: Path) -> None:
    assert author("publish", "H23", "--dry-run", "--suite", suite_root).status == 0
    assert not (suite_root / "manifest.json").exists()


@pytest.mark.slow
def test_a_new_task_is_not_ready(author: AuthorRunner, suite_root: Path) -> None:
    new_task(find_suite(suite_root), TaskRequest(series="H"))
    done = author("publish", "H23", "--suite", suite_root)
    assert done.status == 1
    assert done.out == ""
    assert "FAILS  no placeholder" in done.err
    assert "there is no proof" in done.err
    assert "author oracle-check H23 --matrix" in done.err
    assert not (suite_root / "manifest.json").exists()


def test_what_stops_delivery(suite_root: Path, ready: Path) -> None:
    prove(ready, verdict="fail")
    assert failing(ready) == ["matrix passed and current"]
    prove(ready)
    judge = ready / "tests" / "judge.mjs"
    judge.write_text(judge.read_text(encoding="utf-8") + "\n// changed\n", encoding="utf-8")
    assert failing(ready) == ["matrix passed and current"]
    prove(ready)
    (ready / "tests" / "test.sh").chmod(0o644)
    toml = ready / "task.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("timeout_sec = 900.0\n", "", 1), encoding="utf-8"
    )
    assert "validate is clean" in failing(ready)


def test_registers_that_drifted_stop_delivery(suite_root: Path, ready: Path) -> None:
    with (suite_root / "author.toml").open("a", encoding="utf-8") as stream:
        stream.write('\n[registers]\nreadme = "README.md"\n')
    (suite_root / "README.md").write_text(
        "| ID | Title | Type | Mode |\n|---|---|---|---|\n", encoding="utf-8"
    )
    assert "registers in step" in failing(ready)


@pytest.mark.slow
def test_an_unexplained_change_of_a_recorded_task_stops_delivery(
    author: AuthorRunner, suite_root: Path, ready: Path
) -> None:
    assert author("publish", "H23", "--suite", suite_root).status == 0
    judge = ready / "tests" / "judge.mjs"
    judge.write_text(judge.read_text(encoding="utf-8") + "\n// changed\n", encoding="utf-8")
    prove(ready)
    assert failing(ready) == ["manifest"]


def test_only_a_task_of_the_suite_can_be_published(
    author: AuthorRunner, suite_root: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = author("publish", tmp_path / "elsewhere", "--suite", suite_root)
    assert done.status == 2
    assert "no task of a suite" in done.err
