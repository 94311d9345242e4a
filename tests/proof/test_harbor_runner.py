"""Harbor's results as our trials."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harbor_author.proof.harbor_runner import read_run
from tests.conftest import SHARED, AuthorRunner
from tests.proof.tasks import TOML, make_task

PEER = SHARED / "tools" / "harbor-peer"


def job(tmp_path: Path, *, exception: str | None = None, rewards=None, exit_code: int | None = None) -> Path:
    trial = tmp_path / "job" / "t__abc"
    (trial / "agent").mkdir(parents=True)
    (trial / "verifier").mkdir()
    (trial / "verifier" / "test-stdout.txt").write_text("judged\n")
    if exit_code is not None:
        (trial / "agent" / "exit-code.txt").write_text(str(exit_code))
    result = {
        "verifier_result": {"rewards": rewards} if rewards is not None else None,
        "exception_info": {"exception_type": exception, "exception_message": "why"} if exception else None,
        "verifier": {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:02.5Z"},
    }
    (trial / "result.json").write_text(json.dumps(result))
    return tmp_path / "job"


def test_a_reward_is_a_reward(tmp_path: Path) -> None:
    run = read_run(job(tmp_path, rewards={"reward": 1.0}), "t", "", 9.0)
    assert (run.rewards, run.cause, run.judge.cause, run.agent.cause) == ({"reward": 1.0}, None, None, None)
    assert run.judge.duration_s == 2.5
    assert run.judge.output == "judged\n"


@pytest.mark.parametrize(
    ("exception", "cause"),
    [
        ("RewardFileNotFoundError", "reward-missing"),
        ("VerifierTimeoutError", "judge-timeout"),
        ("ValidationError", "reward-unparsable"),
        ("SomethingNew", "engine-failed"),
    ],
)
def test_an_exception_is_a_cause(tmp_path: Path, exception: str, cause: str) -> None:
    assert read_run(job(tmp_path, exception=exception), "t", "", 1.0).judge.cause == cause


def test_a_reward_beside_a_failed_submission_keeps_both(tmp_path: Path) -> None:
    run = read_run(job(tmp_path, rewards={"reward": 0.0}, exception="AgentTimeoutError"), "t", "", 1.0)
    assert (run.agent.cause, run.judge.cause, run.rewards) == ("agent-timeout", None, {"reward": 0.0})
    other = tmp_path / "other"
    other.mkdir()
    assert (
        read_run(job(other, rewards={"reward": 1.0}, exit_code=3), "t", "", 1.0).agent.cause == "solve-failed"
    )


def test_a_task_that_harbor_dropped_is_no_zero(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    run = read_run(tmp_path / "job", "t", "nothing ran", 1.0)
    assert (run.cause, run.rewards) == ("engine-failed", None)


def test_without_harbor_it_is_one_sentence(author: AuthorRunner, tmp_path: Path) -> None:
    ran = author("oracle-check", make_task(tmp_path).path, "--runner", "harbor", "--harbor", "no-such-harbor")
    assert ran.status == 2
    assert "there is no command 'no-such-harbor'" in ran.err


@pytest.mark.parity
def test_real_harbor_gives_the_same_verdict(author: AuthorRunner, tmp_path: Path) -> None:
    if not os.access(PEER, os.X_OK):
        pytest.skip(f"no real Harbor: {PEER} is not there")
    task = make_task(tmp_path, task_toml=TOML.replace('"no-network"', '"public"'))
    ran = author("oracle-check", task.path, "--runner", "harbor", "--harbor", f"{PEER} harbor", "--json")
    (result,) = json.loads(ran.out)["results"]
    assert (ran.status, result["verdict"]) == (0, "pass"), result
    assert [trial["reward"] for trial in result["trials"]] == [0.0, 1.0]
    receipt = json.loads((task.path / "proof.json").read_text())
    assert receipt["runner"] == {"name": "harbor", "environment": "docker"}


@pytest.mark.parity
@pytest.mark.parametrize("user", ["", 'user = "node"\n'])
def test_real_harbor_runs_the_matrix(author: AuthorRunner, tmp_path: Path, user: str) -> None:
    if not os.access(PEER, os.X_OK):
        pytest.skip(f"no real Harbor: {PEER} is not there")
    toml = TOML.replace('"no-network"', '"public"').replace("[agent]\n", f"[agent]\n{user}")
    task = make_task(
        tmp_path,
        task_toml=toml,
        environment__Dockerfile="FROM node:24-bookworm\nRUN mkdir -m 777 /app\nWORKDIR /app\n",
    )
    submissions = {
        "decoys/undone/solve.sh": "/solution/solve.sh\necho more >> /app/answer\n",
        "decoys/undone/decoy.toml": 'why = "adds to it"\nmax_score = 0\n',
        "decoys/right/solve.sh": "cat /solution/solve.sh > /tmp/copy\nbash /tmp/copy\n",
        "decoys/right/decoy.toml": 'why = "no decoy at all"\nmax_score = 0\n',
        "variants/printf/solve.sh": "printf 'done\\n' > /app/answer\n",
        "variants/printf/variant.toml": 'why = "another way"\n',
    }
    for name, text in submissions.items():
        path = task.path / "solution" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name.endswith(".toml") else f"#!/bin/bash\n{text}")
    ran = author(
        "oracle-check", task.path, "--runner", "harbor", "--harbor", f"{PEER} harbor", "--matrix", "--json"
    )
    (result,) = json.loads(ran.out)["results"]
    trials = {trial["name"]: trial for trial in result["trials"]}
    rewards = {
        name: trials[name]["reward"] for name in ("untouched#2", "oracle#5", "decoy:undone", "variant:printf")
    }
    assert rewards == {"untouched#2": 0, "oracle#5": 1, "decoy:undone": 0, "variant:printf": 1}, trials
    assert trials["decoy:right"]["reward"] == 1, "a decoy may read the reference solution"
    assert trials["forged"]["reward"] == 0
    assert not {"touched", "created"} & trials.keys(), (
        "there is no fixture, and what the oracle made was not looked at"
    )
    assert (ran.status, result["verdict"], result["cause"]) == (1, "fail", "reward-too-high"), result
    receipt = json.loads((task.path / "proof.json").read_text())
    assert receipt["runner"]["name"] == "harbor"
    assert "ablation" not in receipt


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--clock", "+365d", "--no-network"), "--clock and --no-network"),
        (("--keep",), "--keep"),
        (("--matrix", "--resume"), "--resume"),
    ],
)
def test_what_harbor_would_not_run_is_refused(
    author: AuthorRunner, tmp_path: Path, options: tuple[str, ...], named: str
) -> None:
    task = make_task(tmp_path)
    ran = author("oracle-check", task.path, "--runner", "harbor", "--harbor", "true", *options)
    assert ran.status == 2
    assert f"{named}: not with --runner harbor" in " ".join(ran.err.split())
    assert not (task.path / "proof.json").exists()
