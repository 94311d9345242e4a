"""`pytest` run in a suite, as its author would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harbor_author.proof import receipts
from harbor_author.proof.verdict import Trial
from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import find_suite
from tests.conftest import REPOSITORY


def run_pytest(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *arguments]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTEST_ADDOPTS": ""}
    if "harbor_author" not in {point.name for point in _entry_points()}:
        command[3:3] = ["-p", "harbor_author.pytest_plugin"]
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)


def _entry_points():  # type: ignore[no-untyped-def]
    from importlib.metadata import entry_points

    return entry_points(group="pytest11")


@pytest.mark.slow
def test_each_task_is_a_test_and_its_own_tests_are_not(suite_root: Path) -> None:
    good = new_task(find_suite(suite_root), TaskRequest(series="H", slug="good")).path
    bad = new_task(find_suite(suite_root), TaskRequest(series="M", slug="bad")).path
    (bad / "task.toml").write_text("x = \n", encoding="utf-8")
    (good / "tests" / "test_inside.py").write_text("def test_container_only():\n    raise SystemExit\n")
    done = run_pytest(suite_root)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "PASSED tasks/H23-good/task.toml::validate" in done.stdout
    assert "FAILED tasks/M15-bad/task.toml::validate" in done.stdout
    assert "tasks/M15-bad/task.toml:1" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.slow
def test_outside_a_suite_nothing_is_collected(tmp_path: Path) -> None:
    (tmp_path / "tasks" / "H1-x").mkdir(parents=True)
    (tmp_path / "tasks" / "H1-x" / "task.toml").write_text("")
    assert run_pytest(tmp_path).returncode == 5


@pytest.mark.slow
def test_oracle_takes_a_current_receipt_and_says_when_there_is_no_engine(
    suite_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slug in ("proved", "unproved"):
        new_task(find_suite(suite_root), TaskRequest(series="H", slug=slug))
    task = next(task for task in find_suite(suite_root).tasks() if task.id == "H23")
    trials = [Trial("untouched", "pass", 0.0, "0"), Trial("oracle", "pass", 1.0, "1")]
    receipts.write_receipt(
        task, receipts.gather_inputs(task, {}), trials, verdict="pass", cause=None, extra={}
    )
    monkeypatch.setenv("DOCKER_HOST", f"unix://{suite_root}/nobody.sock")
    done = run_pytest(suite_root, "--oracle")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "PASSED tasks/H23-proved/task.toml::oracle-check" in done.stdout
    assert "FAILED tasks/H24-unproved/task.toml::oracle-check" in done.stdout
    assert "no container engine answers at unix://" in done.stdout
    assert "1 failed, 3 passed" in done.stdout
    assert "Traceback" not in done.stdout
