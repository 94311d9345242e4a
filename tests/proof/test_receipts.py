"""What makes a receipt stale, and what does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_author.proof import receipts
from harbor_author.proof.overview import look_at
from harbor_author.proof.verdict import Trial
from harbor_author.suite import Task
from tests.conftest import AuthorRunner
from tests.proof.tasks import make_task

BASES = {"node:24-bookworm": "sha256:base"}


def proved(tmp_path: Path) -> Task:
    task = make_task(tmp_path)
    (task.path / "environment" / "fixture").mkdir()
    (task.path / "environment" / "fixture" / "a.js").write_text("x")
    (task.path / "environment" / ".dockerignore").write_text("tmp\n")
    trials = [Trial("untouched", "pass", 0.0, "0"), Trial("oracle", "pass", 1.0, "1", duration_s=1.26)]
    inputs = receipts.gather_inputs(task, BASES)
    receipts.write_receipt(task, inputs, trials, verdict="pass", cause=None, extra={})
    return task


def state(task: Task, bases=BASES, **options) -> receipts.Currency:
    return receipts.check_receipt(task, bases, **options)


def test_unchanged_is_current(tmp_path: Path) -> None:
    assert state(proved(tmp_path)).state == "current"


def change(path: str, text: str = "changed\n") -> Callable[[Path], None]:
    return lambda task: void((task / path).write_text(text))


def void(_: object) -> None:
    pass


CHANGES: dict[str, Callable[[Path], None]] = {
    "a byte of the judge": change("tests/test.sh"),
    "a byte of the oracle": change("solution/solve.sh"),
    "the instruction": change("instruction.md"),
    "task.toml": change("task.toml", "# other\n"),
    "the fixture": change("environment/fixture/a.js"),
    "the Dockerfile": change("environment/Dockerfile"),
    "what docker ignores": change("environment/.dockerignore"),
    "the judge's mode": lambda task: (task / "tests" / "test.sh").chmod(0o644),
    "a name in the fixture": lambda task: void(
        (task / "environment/fixture/a.js").rename(task / "environment/fixture/b.js")
    ),
    "a decoy": lambda task: void([(task / "solution/decoys").mkdir(), change("solution/decoys/x")(task)]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_trial_depends_on_makes_it_stale_by_name(tmp_path: Path, what: str) -> None:
    task = proved(tmp_path)
    CHANGES[what](task.path)
    currency = state(task)
    assert currency.state == "stale"
    assert currency.because


def test_the_base_image_counts_where_it_is_known(tmp_path: Path) -> None:
    task = proved(tmp_path)
    assert state(task, {"node:24-bookworm": "sha256:newer"}).because == ("the base image node:24-bookworm",)
    assert state(task, {"node:24-bookworm": None}).state == "current"
    assert state(task, None).state == "current"


@pytest.mark.parametrize("path", ["README.md", "notes.txt", "provenance/source.md"])
def test_what_no_trial_sees_does_not(tmp_path: Path, path: str) -> None:
    task = proved(tmp_path)
    (task.path / path).parent.mkdir(exist_ok=True)
    change(path)(task.path)
    currency = state(task)
    assert currency.state == "current"
    assert bool(currency.notes) == (path == "README.md"), "Harbor's digest holds README.md: that is said"


def test_a_trial_keeps_its_steps_and_its_story(tmp_path: Path) -> None:
    task = proved(tmp_path)
    trial = Trial(
        "decoy:x", "fail", 0.9, "at most 0.4", "reward-too-high", "reward 0.9, expected at most 0.4",
        duration_s=9.46, solve_s=1.26, judge_s=6.0, why="keeps the old name",
    )  # fmt: skip
    receipts.write_receipt(
        task, receipts.gather_inputs(task, BASES), [trial], verdict="fail", cause=trial.cause, extra={}
    )
    kept = receipts.read_receipt(task)
    assert kept is not None
    assert {key: kept.trials[0][key] for key in ("duration_s", "solve_s", "judge_s", "why", "message")} == {
        "duration_s": 9.5,
        "solve_s": 1.3,
        "judge_s": 6.0,
        "why": "keeps the old name",
        "message": "reward 0.9, expected at most 0.4",
    }


def test_another_platform_and_other_semantics(tmp_path: Path) -> None:
    task = proved(tmp_path)
    path = task.path / "proof.json"
    document = json.loads(path.read_text())
    document["inputs"]["platform"] = "linux/s390x"
    path.write_text(json.dumps(document))
    assert "linux/s390x" in state(task).notes[0]
    document["semantics"] = 0
    path.write_text(json.dumps(document))
    assert "meaning of a trial" in state(task).because[0]


def test_trials_that_are_asked_for_must_be_in_it(tmp_path: Path) -> None:
    task = proved(tmp_path)
    assert state(task, needs=("oracle",)).state == "current"
    assert "forged" in state(task, needs=("oracle", "forged")).because[0]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "other"}', "[" * 100_000])
def test_a_broken_receipt_is_said_to_be(tmp_path: Path, content: str) -> None:
    task = proved(tmp_path)
    (task.path / "proof.json").write_text(content)
    assert state(task).state == "broken"


SPOILT: dict[str, Callable[[dict], object]] = {
    "verdict": lambda receipt: receipt.update(verdict="perfect"),
    "no trials": lambda receipt: receipt.pop("trials"),
    "a reward of text": lambda receipt: receipt["trials"][0].update(reward="1"),
    "a verdict of a trial": lambda receipt: receipt["trials"][0].update(verdict="skip"),
    "a trial that is none": lambda receipt: receipt["trials"].append(3),
    "leftovers": lambda receipt: receipt["trials"][0].update(leftovers="x"),
    "a table": lambda receipt: receipt.update(ablation={"changes": {"x": {}}, "killed": 0, "total": 0}),
    "inputs": lambda receipt: receipt.update(inputs=[]),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_receipt_of_other_types_is_broken_and_no_command_stumbles(
    author: AuthorRunner, tmp_path: Path, what: str
) -> None:
    task = proved(tmp_path)
    path = task.path / "proof.json"
    document = json.loads(path.read_text())
    SPOILT[what](document)
    path.write_text(json.dumps(document))
    assert state(task).state == "broken"
    ran = author("proof", "show", task.path, env={"DOCKER_HOST": "unix:///nowhere.sock"})
    assert "answer: broken" in ran.out


def test_a_receipt_is_the_same_text_for_the_same_proof(tmp_path: Path) -> None:
    task = proved(tmp_path)
    text = (task.path / "proof.json").read_text()
    assert text.endswith("}\n")
    assert '"duration_s": 1.3' in text
    receipt = receipts.read_receipt(task)
    assert receipt is not None
    assert receipt.names == {"untouched", "oracle"}


def test_proof_show_is_a_table_with_words_for_what_it_is_bound_to(
    author: AuthorRunner, tmp_path: Path
) -> None:
    task = proved(tmp_path)
    path = task.path / "proof.json"
    document = json.loads(path.read_text())
    document["trials"][1] |= {
        "verdict": "fail",
        "cause": "reward-too-low",
        "message": "reward 0.5, expected 1",
    }
    document |= {"verdict": "fail", "cause": "reward-too-low", "repeats": {"oracle": {"1": 4, "0.5": 1}}}
    document["inputs"]["host"] = {"dsh": "0.1.2", "image": "node:24"}
    path.write_text(json.dumps(document))
    out = author("proof", "show", task.path, env={"DOCKER_HOST": "unix:///nowhere.sock"}).out
    rows = [line.split() for line in out.splitlines()]
    assert ["trial", "reward", "must", "give", "verdict", "what"] in rows
    assert ["untouched", "0", "0", "ok", "0.0", "s"] in rows
    (failed,) = (row for row in rows if row[:1] == ["oracle"])
    assert failed[3:5] == ["FAIL", "reward-too-low"]
    assert " ".join(failed).endswith("reward 0.5, expected 1")
    assert "  repeated oracle: 1 x4, 0.5 x1" in out
    assert "base images      node:24-bookworm sha256:base" in out
    assert "host             dsh 0.1.2, image node:24" in out
    assert not set("{}[]") & set(out), "no program's notation"


@pytest.mark.slow
def test_proof_check_and_show(author: AuthorRunner, tmp_path: Path) -> None:
    task = proved(tmp_path)
    missing = make_task(tmp_path, "other")
    assert [found.currency.state for found in look_at([missing])] == ["missing"]
    environment = {"DOCKER_HOST": "unix:///nowhere.sock"}
    ran = author("proof", "check", task.path, missing.path, "--json", env=environment)
    assert ran.status == 1
    states = {item["task"]: item["state"] for item in json.loads(ran.out)["receipts"]}
    assert states == {"answer": "current", "other": "missing"}
    assert author("proof", "check", task.path, env=environment).status == 0
    shown = author("proof", "show", task.path, env=environment)
    assert "oracle" in shown.out
    assert "sha256:" in shown.out
