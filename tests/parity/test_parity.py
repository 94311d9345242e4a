"""The same task through `author oracle-check` and the real Harbor: the same reward, or the same kind of error."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY, SHARED, AuthorRunner
from tests.parity.odd_tasks import ODD_TASKS, write_task

pytestmark = pytest.mark.parity

PEER = Path(os.environ.get("HARBOR_AUTHOR_PEER", SHARED / "tools" / "harbor-peer"))
AGENT_OF_TRIAL = {"untouched": "nop", "oracle": "oracle"}
#: Harbor does not load such a task: it runs nothing, and says so only in its log.
NOT_LOADED = "not loaded"
#: What Harbor records for a task that we refuse before any trial.
EXCEPTION_OF_REFUSAL = {
    "task-invalid": NOT_LOADED,
    "test-missing": NOT_LOADED,
    "build-failed": "RuntimeError",
    "crlf-script": "RewardFileNotFoundError",
}
#: A bare number in reward.json passes Harbor's parser and then fails in its model of a result.
SAME_KIND = {"ValidationError": "VerifierOutputParseError"}


@dataclass(frozen=True)
class Outcome:
    """What a trial came to: a reward or none, and the exception that Harbor has or would have."""

    reward: float | None
    exception: str | None


def harbor_outcome(task: Path, agent: str) -> Outcome:
    """One trial of the real Harbor."""
    done = subprocess.run(
        [PEER, "trial", task, agent, "--fast"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if "Either datasets or tasks must be provided" in done.stderr:
        return Outcome(None, NOT_LOADED)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    exception = document["exception"]
    return Outcome((document["rewards"] or {}).get("reward"), SAME_KIND.get(exception, exception))


def our_outcomes(task: Path, author: AuthorRunner) -> dict[str, Outcome]:
    """Our trials of the task, by name."""
    done = author("oracle-check", task, "--json", "--force", cwd=task.parent)
    assert done.status in (0, 1, 2), done.err
    results = json.loads(done.out)["results"]
    assert len(results) == 1
    trials: list[dict[str, Any]] = results[0]["trials"]
    if not trials:
        assert results[0]["verdict"] == "error"
        return dict.fromkeys(AGENT_OF_TRIAL, Outcome(None, EXCEPTION_OF_REFUSAL[results[0]["cause"]]))
    return {trial["name"]: Outcome(trial["reward"], trial["harbor_error"]) for trial in trials}


def assert_same(task: Path, author: AuthorRunner) -> None:
    ours = our_outcomes(task, author)
    theirs = {trial: harbor_outcome(task, agent) for trial, agent in AGENT_OF_TRIAL.items()}
    assert ours == theirs


@pytest.fixture(scope="session", autouse=True)
def _peer() -> None:
    if not os.access(PEER, os.X_OK):
        pytest.skip(f"no real Harbor: {PEER} is not there")


@pytest.mark.parametrize("name", sorted(ODD_TASKS))
def test_odd_task(name: str, tmp_path: Path, author: AuthorRunner) -> None:
    assert_same(write_task(name, tmp_path), author)


@pytest.mark.parametrize("source", sorted((REPOSITORY / "tasks").glob("*-*")), ids=lambda path: path.name)
def test_own_task(source: Path, tmp_path: Path, author: AuthorRunner) -> None:
    assert_same(Path(shutil.copytree(source, tmp_path / source.name)), author)


@pytest.mark.parametrize("series", ["S", "M", "H"])
def test_fresh_task(series: str, suite_root: Path, author: AuthorRunner) -> None:
    made = author("new", "--series", series, "--slug", "fresh", "--json", cwd=suite_root)
    assert made.status == 0, made.err
    assert_same(suite_root / json.loads(made.out)["path"], author)
