"""The executor tasks' judges against everything that was written to fool them, and other right solutions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, AuthorRunner

TASKS = sorted((REPOSITORY / "tasks").glob("E*"))


@pytest.mark.engine
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_judge_separates_right_from_wrong(task: Path, author: AuthorRunner, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "references").mkdir(parents=True)
    shutil.copy(REPOSITORY / "author.toml", suite)
    shutil.copytree(task, suite / "tasks" / task.name, ignore=shutil.ignore_patterns("proof.json"))
    # Ablation, the longer half, is part of the proof of every task of this repository.
    ran = author("oracle-check", task.name, "--matrix", "--budget", "0", "--json", cwd=suite)
    assert ran.out, ran.err
    result = json.loads(ran.out)["results"][0]
    trials = {trial["name"]: trial for trial in result["trials"]}
    wrong = {name: trial["score"] for name, trial in trials.items() if trial["verdict"] != "pass"}
    assert result["verdict"] == "pass", f"{result['cause']}: {wrong}"
    for kind in ("decoy", "variant"):
        declared = {folder.name for folder in (task / "solution" / f"{kind}s").iterdir()}
        assert declared == {name.partition(":")[2] for name in trials if name.startswith(f"{kind}:")}
    assert all(trial["score"] == 100 for name, trial in trials.items() if name.startswith("variant:"))
    assert not any(trial["leftovers"] for trial in trials.values())
