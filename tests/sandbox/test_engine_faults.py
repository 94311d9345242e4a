"""An engine that does not answer or dies midway, a run that is killed: one sentence, and nothing left for long."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harbor_author.proof.workflow import Options, oracle_check
from harbor_author.sandbox.docker_engine import DockerEngine
from harbor_author.sandbox.ownership import remove_own
from tests.conftest import REPOSITORY, AuthorRunner
from tests.proof.tasks import JUDGE, make_task
from tests.sandbox.engine_proxy import EngineProxy

KILLS = int(os.environ.get("HARBOR_AUTHOR_KILLS", "4"))


def containers_of(task: str) -> list[str]:
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=harbor-author.task={task}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


@pytest.mark.engine
def test_an_engine_that_never_answers(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path)
    with EngineProxy(tmp_path / "s", trigger=b"", fault="stall") as proxy:
        started = time.monotonic()
        ran = author("oracle-check", task.path, env={"DOCKER_HOST": proxy.url})
    assert ran.status == 2
    assert "no container engine answers" in ran.err
    assert time.monotonic() - started < 60


@pytest.mark.engine
@pytest.mark.parametrize("trigger", [b"/containers/create", b"/start", b"/archive", b"/exec"])
def test_an_engine_that_dies_midway(author: AuthorRunner, tmp_path: Path, trigger: bytes) -> None:
    name = f"dies-{trigger.rpartition(b'/')[2].decode()}"
    # So much output is read by a request of its own, not with the judge's end.
    task = make_task(tmp_path, name, tests__test_sh=JUDGE + "head -c 3000000 /dev/zero\n")
    with EngineProxy(tmp_path / "s", trigger=trigger, fault="die") as proxy:
        ran = author("oracle-check", task.path, "--json", env={"DOCKER_HOST": proxy.url})
        assert proxy.faulty.is_set()
    assert ran.status == 2
    (result,) = json.loads(ran.out)["results"]
    assert (result["verdict"], result["cause"]) == ("error", "engine-failed")
    assert all(trial["reward"] is None for trial in result["trials"])
    assert not (task.path / "proof.json").exists()
    assert author("clean", "--keep-images").status == 0
    assert containers_of(name) == []


@pytest.mark.engine
@pytest.mark.parametrize("trigger", [b"/containers/create", b"/start", b"/exec", b"/stats"])
def test_an_engine_that_stalls_midway(
    author: AuthorRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trigger: bytes
) -> None:
    name = f"stalls-{trigger.rpartition(b'/')[2].decode()}"
    task = make_task(tmp_path, name, solution__solve_sh="#!/bin/bash\nsleep 45\n")
    # In this process, which need not wait as long for an answer as the command does.
    monkeypatch.setattr(DockerEngine._connect, "__defaults__", (3,))
    with EngineProxy(tmp_path / "s", trigger=trigger, fault="stall") as proxy:
        monkeypatch.setenv("DOCKER_HOST", proxy.url)
        started = time.monotonic()
        (result,) = oracle_check([task], Options(jobs=1))
        assert time.monotonic() - started < 45
        assert proxy.faulty.is_set()
        monkeypatch.delenv("DOCKER_HOST")
    assert (result.verdict, result.cause) == ("error", "engine-failed")
    assert "does not answer in time" in result.message + "".join(trial.message for trial in result.trials)
    assert all(trial.reward is None for trial in result.trials if trial.cause == "engine-failed")
    assert not (task.path / "proof.json").exists()
    # This process still lives, so what it could not remove is its own.
    remove_own(DockerEngine())
    assert containers_of(name) == []


@pytest.mark.engine
def test_runs_killed_at_any_moment_leave_nothing_after_the_next(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path, "killed-at-random")
    moments = random.Random(7)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "harbor_author", "oracle-check", task.path, "--force"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moments.uniform(0.3, 4.0))
        process.kill()
        process.wait()
    last = author("oracle-check", task.path, "--force")
    assert last.status == 0, last.out + last.err
    assert containers_of("killed-at-random") == []
    left = [path.name for path in task.path.iterdir() if path.name.startswith(".")]
    assert left == []
