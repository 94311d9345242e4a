"""A judge is run in one request with what comes before and after it: nothing of that shows, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harbor_author.proof import Options, oracle_check, report
from harbor_author.proof.decoys import read_declared
from harbor_author.proof.probes import tampered
from harbor_author.proof.submission import UNTOUCHED, oracle
from harbor_author.suite import Task
from tests.proof.tasks import FILES, write_files
from tests.sandbox.fake_engine import FakeEngine

WRITE = "echo $reward > /logs/verifier/reward.txt\n"
ANSWERED = "#!/bin/bash\nreward=0; grep -qs done /app/answer && reward=1\n"
#: What a judge may see of how it was started: variables but those that name its container, and its open files.
LOOK = "env | grep -vE '^(HOSTNAME|_)=' | sort; ls /proc/$$/fd | tr '\\n' ' '; readlink /proc/$$/fd/0; umask; pwd\n"
TASKS: Mapping[str, Mapping[str, str | None]] = {
    "looks": {"tests/test.sh": ANSWERED + LOOK + WRITE},
    "kills-all": {"tests/test.sh": ANSWERED + WRITE + "kill -9 -1\n"},
    "kills-by-name": {"tests/test.sh": ANSWERED + WRITE + "pkill -f tests/test\n"},
    "prints-much": {
        "tests/test.sh": ANSWERED + "head -c 3000000 /dev/zero | tr '\\0' x\necho; echo end\n" + WRITE
    },
    "links": {"tests/test.sh": ANSWERED + "echo 1 > /tmp/r; ln -s /tmp/r /logs/verifier/reward.txt\n"},
    "leaves": {"tests/test.sh": ANSWERED + WRITE + "(exec -a 'a stray' sleep 300) & disown\nsleep 0.3\n"},
    "reward-folder": {
        "environment/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\nRUN mkdir -p /logs/verifier/reward.txt/x\n",
        "tests/test.sh": ANSWERED + WRITE,
    },
    "spoilt-tar": {
        "environment/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\nRUN rm /bin/tar\n",
        "tests/test.sh": ANSWERED + WRITE,
    },
    # Run as another user than root, a command is not given what belongs to root.
    "other-user": {
        "environment/Dockerfile": "FROM node:24-bookworm\nRUN useradd -m judge\nWORKDIR /app\n",
        "task.toml": FILES["task.toml"].replace("[verifier]\n", '[verifier]\nuser = "judge"\n'),  # type: ignore[union-attr]
        "tests/test.sh": ANSWERED + LOOK + WRITE,
    },
}


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory, engine: None) -> dict[str, dict[str, dict[str, Any]]]:
    """Trials by task and name."""
    root = tmp_path_factory.mktemp("around")
    for name, files in TASKS.items():
        write_files(root / name, {**FILES, **files})
    results = oracle_check([Task(root / name) for name in TASKS], Options())
    return {
        result["task"]: {"": result} | {trial["name"]: trial for trial in result["trials"]}
        for result in report.document(results)["results"]
    }


@pytest.mark.engine
def test_the_judge_sees_what_one_sees_that_is_run_alone(proved: dict[str, Any]) -> None:
    def seen(task: str) -> list[str]:
        lines = proved[task]["oracle"]["judge_log"].splitlines()
        return [line for line in lines if not line.startswith(("HOME=", "USER=", "PWD=/root"))]

    assert proved["looks"]["oracle"]["reward"] == 1
    assert "SHLVL=1" in "".join(seen("looks")) or "SHLVL=0" in "".join(seen("looks"))
    assert seen("looks") == seen("other-user")


@pytest.mark.engine
@pytest.mark.parametrize("task", ["spoilt-tar", "other-user", "prints-much"])
def test_what_cannot_be_done_in_one_request_is_done_in_several(task: str, proved: dict[str, Any]) -> None:
    assert (proved[task]["untouched"]["reward"], proved[task]["oracle"]["reward"]) == (0, 1)
    assert proved["prints-much"]["oracle"]["judge_log"].endswith("end")


@pytest.mark.engine
@pytest.mark.parametrize("task", ["kills-all", "kills-by-name"])
def test_a_judge_that_kills_everything_is_an_error_and_no_score(task: str, proved: dict[str, Any]) -> None:
    assert {trial["cause"] for name, trial in proved[task].items() if name} == {"judge-killed"}


@pytest.mark.engine
def test_a_link_is_no_reward(proved: dict[str, Any]) -> None:
    assert proved["links"]["oracle"]["cause"] == "reward-missing"


@pytest.mark.engine
def test_a_process_that_is_left_is_named(proved: dict[str, Any]) -> None:
    for name in ("untouched", "oracle"):
        assert proved["leaves"][name]["leftovers"] == ["process: a stray 300"]
        assert proved["looks"][name]["leftovers"] == []


@pytest.mark.engine
def test_a_reward_that_cannot_be_removed_is_the_environments_fault(proved: dict[str, Any]) -> None:
    assert proved["reward-folder"][""]["cause"] == "environment-failed"


def test_only_the_reference_is_trusted(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "solution/solve.sh": "",
            "solution/decoys/half/solve.sh": "",
            "solution/decoys/half/decoy.toml": 'why = "w"\nmax_score = 1\n',
            "solution/variants/other/solve.sh": "",
            "solution/variants/other/variant.toml": 'why = "w"\n',
        },
    )
    deceivers = [plan.submission for plan in tampered(mutable=True, strict=False)]
    deceivers += [declared.planned.submission for declared in read_declared(tmp_path)]
    assert len(deceivers) > 4
    assert not any(submission.is_reference for submission in deceivers)
    assert UNTOUCHED.is_reference
    assert oracle(tmp_path).is_reference


def test_an_engine_that_cannot_do_it_loses_nothing(tmp_path: Path) -> None:
    from tests.proof.test_workflow import honest

    engine = FakeEngine(honest)
    engine.streams_stdin = True
    write_files(tmp_path / "t", {**FILES, "environment/Dockerfile": "FROM base\n"})
    (result,) = oracle_check([Task(tmp_path / "t")], Options(), engine=engine)
    assert [trial.reward for trial in result.trials] == [0, 1]
    assert json.loads((tmp_path / "t/proof.json").read_text())["verdict"] == "pass"
