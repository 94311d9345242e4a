"""`author oracle-check` on real containers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY, SHARED, AuthorRunner
from tests.proof.tasks import JUDGE, SOLVE, TOML, make_task

pytestmark = pytest.mark.engine

BROKEN = SHARED / "broken-tasks" / "make_cases.py"
#: case -> verdict and cause of `oracle-check`, as the cases' own table of right outcomes says.
OUTCOMES: dict[str, tuple[str, str | None]] = {
    "c00_base": ("pass", None),
    "c01_unconditional_reward": ("fail", "reward-too-high"),
    "c05_judge_crash_no_reward": ("error", "reward-missing"),
    "c07_forged_reward_survives": ("pass", None),
    "c13_oracle_fails": ("fail", "reward-too-low"),
    "c19_crlf": ("error", "crlf-script"),
    "c21_bom": ("error", "byte-order-mark"),
    "c24_exec_bit_lost": ("error", "build-failed"),
    "c30_broad_pkill": ("error", "judge-killed"),
    "c33_missing_agent_table": ("pass", None),
}


def check(
    author: AuthorRunner, *tasks: Path, options: tuple[str, ...] = ()
) -> tuple[int, list[dict[str, Any]]]:
    ran = author("oracle-check", "--json", *options, *tasks)
    return ran.status, json.loads(ran.out)["results"]


def containers_of(task: str) -> list[str]:
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=harbor-author.task={task}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not BROKEN.is_file():
        pytest.skip(f"{BROKEN} is not there")
    out = tmp_path_factory.mktemp("broken") / "cases"
    subprocess.run([sys.executable, BROKEN, out], check=True, stdout=subprocess.DEVNULL)
    return out


def test_broken_tasks_end_as_they_should(author: AuthorRunner, broken: Path) -> None:
    status, results = check(author, *(broken / name for name in OUTCOMES))
    assert {result["task"]: (result["verdict"], result["cause"]) for result in results} == OUTCOMES
    assert status == 1
    crashed = next(result for result in results if result["task"] == "c05_judge_crash_no_reward")
    assert crashed["trials"][0]["reward"] is None
    assert "FileNotFoundError" in crashed["trials"][0]["judge_log"]


def test_text_for_people(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path)
    ran = author("oracle-check", task.path)
    assert ran.status == 0
    assert ran.out.splitlines()[0] == "answer: PASS"
    assert "untouched" in ran.out
    again = author("oracle-check", task.path)
    assert "current" in again.out.splitlines()[0]


def test_hidden_behaviour_of_the_contract(author: AuthorRunner, tmp_path: Path) -> None:
    """Users, folders, modes, variables and order as in Harbor, seen from inside both scripts."""
    solve = (
        "#!/bin/bash\n"
        '[ "$(id -un) $PWD $DEBIAN_FRONTEND $GIVEN $BOTH" = "node /srv noninteractive env solution" ] || exit 1\n'
        "[ ! -e /tests ] && [ -x /solution/solve.sh ] || exit 2\n"
        "echo 1 > /logs/verifier/reward.txt; echo done > /app/answer\n"
    )
    judge = (
        "#!/bin/bash\nset -e\n"
        '[ "$(id -un) $PWD $GIVEN $BOTH" = "root /srv env judge" ]\n'
        "[ ! -e /logs/verifier/reward.txt ]\n"
        "for d in agent verifier artifacts; do [ $(stat -c %a /logs/$d) = 777 ]; done\n"
        f"{JUDGE.partition(chr(10))[2]}"
    )
    toml = (
        TOML.replace("[agent]\n", '[agent]\nuser = "node"\n').replace(
            "[environment]\n", '[environment]\nworkdir = "/srv"\n'
        )
        + '[environment.env]\nGIVEN = "env"\nBOTH = "env"\n[solution.env]\nBOTH = "solution"\n'
        + '[verifier.env]\nBOTH = "judge"\n'
    )
    dockerfile = (
        "FROM node:24-bookworm\nRUN id node || useradd -m node; mkdir -p /app /srv && chmod 777 /app\n"
    )
    task = make_task(
        tmp_path,
        solution__solve_sh=solve,
        tests__test_sh=judge,
        task_toml=toml,
        environment__Dockerfile=dockerfile,
    )
    _, (result,) = check(author, task.path)
    oracle = result["trials"][1]
    assert (oracle["reward"], oracle["solve_exit"], oracle["judge_exit"]) == (1.0, 0, 0), oracle


def test_an_interrupt_leaves_no_container(tmp_path: Path, engine: None) -> None:
    task = make_task(tmp_path, "interrupted", solution__solve_sh="#!/bin/bash\nsleep 60\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "harbor_author", "oracle-check", task.path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not containers_of("interrupted") and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in err
    assert containers_of("interrupted") == []


def test_what_a_killed_run_left_goes_with_the_next(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path, "killed", solution__solve_sh="#!/bin/bash\nsleep 60\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "harbor_author", "oracle-check", task.path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not containers_of("killed") and time.monotonic() < deadline:
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert containers_of("killed")
    assert author("clean", "--keep-images").status == 0
    assert containers_of("killed") == []


def test_what_takes_too_much_of_something_ends_with_the_limit_named(
    author: AuthorRunner, tmp_path: Path
) -> None:
    scripts = {
        "bomb": "for i in $(seq 5000); do sleep 100 & done; wait",
        "printer": "yes 0123456789012345678901234567890123456789",
        "small": "head -c 100M /dev/zero > /dev/shm/x && echo 1 > /logs/verifier/reward.txt",
        "hungry": "node -e 'const a=[]; for(;;) a.push(Buffer.alloc(1<<24, 1))'; exit 137",
    }
    tasks = [
        make_task(
            tmp_path, name, tests__test_sh=f"#!/bin/bash\n{line}\n", task_toml=TOML.replace("512", "1024")
        )
        for name, line in scripts.items()
    ]
    _, results = check(author, *(task.path for task in tasks), options=("--jobs", "2"))
    causes = {result["task"]: result["trials"][0]["cause"] for result in results}
    wanted = {
        "bomb": "pids-limit",
        "printer": "output-limit",
        "small": "disk-limit",
        "hungry": "memory-limit",
    }
    assert causes == wanted


def test_without_an_engine_it_is_one_sentence_and_status_2(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path)
    ran = author("oracle-check", task.path, env={"DOCKER_HOST": "unix:///nowhere.sock"})
    assert ran.status == 2
    assert "no container engine answers" in ran.err
    assert not (task.path / "proof.json").exists()


def test_an_image_that_cannot_be_pulled_is_status_2(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path, environment__Dockerfile="FROM registry.invalid/none:1\n")
    status, (result,) = check(author, task.path)
    assert (status, result["cause"]) == (2, "image-missing")


def test_solve_that_scores_and_fails_is_shown(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path, solution__solve_sh=SOLVE + "echo so near >&2\nexit 3\n")
    status, (result,) = check(author, task.path)
    assert (status, result["verdict"], result["cause"]) == (1, "fail", "solve-failed")
    assert "so near" in result["trials"][1]["solve_log"]


def test_a_judge_that_expires_is_seen_by_another_clock(author: AuthorRunner, tmp_path: Path) -> None:
    soon = int(time.time()) + 30 * 86400
    judge = JUDGE.replace("; then reward=1", f" ] && [ $(date +%s) -lt {soon} ]; then reward=1").replace(
        "] ]", "]"
    )
    task = make_task(tmp_path, tests__test_sh=judge)
    _, (result,) = check(author, task.path, options=("--clock", "+365d"))
    trials = {trial["name"]: trial["reward"] for trial in result["trials"]}
    if "clock:oracle" not in trials:
        pytest.skip("no libfaketime here")
    assert trials == {"untouched": 0, "oracle": 1, "clock:untouched": 0, "clock:oracle": 0}
    assert (result["verdict"], result["cause"]) == ("fail", "reward-too-low")
    assert "clock" in result["hint"]


def test_a_dockerfile_that_does_not_parse_is_the_tasks_fault(
    author: AuthorRunner, tmp_path: Path, engine: None
) -> None:
    task = make_task(tmp_path, environment__Dockerfile="FROM node:24-bookworm\ngarbage\n")
    ran = author("oracle-check", task.path)
    assert ran.status == 1, ran.err
    assert "build-failed" in ran.out
    assert "GARBAGE" in ran.out
