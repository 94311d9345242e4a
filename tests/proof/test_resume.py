"""What was proved once is not lost: the trials of an interrupted proof, and a receipt that proves more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harbor_author.proof import Options, oracle_check
from harbor_author.proof.matrix import Scope, with_scope
from harbor_author.proof.workflow import ProofResult
from harbor_author.sandbox import ExecResult
from harbor_author.suite import Task
from tests.proof.tasks import JUDGE, make_task
from tests.proof.test_workflow import honest
from tests.sandbox.fake_engine import FakeContainer, FakeEngine, Shell

SIX = Scope(matrix=False, repeat=6)
JUDGED = "/tests/test.sh"


class Counting:
    """An honest container that counts judges, and is interrupted at one of them."""

    def __init__(self, interrupted_at: int | None = None, wrong_at: int | None = None) -> None:
        self.judged = 0
        self._interrupted_at = interrupted_at
        self._wrong_at = wrong_at

    def __call__(self, container: FakeContainer, command: str) -> ExecResult:
        result = honest(container, command)
        if JUDGED in command:
            self.judged += 1
            if self.judged == self._interrupted_at:
                raise KeyboardInterrupt
            if self.judged == self._wrong_at:
                container.files["/logs/verifier/reward.txt"] = b"0.5"
        return result


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return make_task(tmp_path, environment__Dockerfile="FROM base\n")


def prove(task: Task, shell: Shell, scope: Scope | None = None, **options: Any) -> ProofResult:
    chosen = Options(jobs=1, **options)
    (result,) = oracle_check([task], with_scope(chosen, scope) if scope else chosen, engine=FakeEngine(shell))
    return result


def unfinished(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*.json"))


def interrupt(task: Task, at: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        prove(task, Counting(interrupted_at=at), SIX)


def test_resume_takes_up_the_trials_of_an_interrupted_proof(task: Task, tmp_path: Path) -> None:
    interrupt(task, at=5)
    (path,) = unfinished(tmp_path)
    assert len(json.loads(path.read_text())["trials"]) == 4
    rest = Counting()
    result = prove(task, rest, SIX, resume=True)
    assert (result.verdict, len(result.trials), rest.judged) == ("pass", 8, 4)
    assert json.loads((task.path / "proof.json").read_text())["verdict"] == "pass"
    assert unfinished(tmp_path) == [], "a proof that is finished needs them no more"


def test_a_trial_that_fell_short_before_the_interrupt_still_counts(task: Task) -> None:
    shell = Counting(wrong_at=2, interrupted_at=5)
    with pytest.raises(KeyboardInterrupt):
        prove(task, shell, SIX)
    result = prove(task, Counting(), SIX, resume=True)
    assert (result.verdict, result.cause) == ("fail", "flaky")


@pytest.mark.parametrize("change", ["", "tests/test.sh", "environment/Dockerfile"])
def test_nothing_is_taken_up_unasked_or_after_a_change(task: Task, change: str) -> None:
    interrupt(task, at=5)
    if change:
        (task.path / change).write_text((task.path / change).read_text() + "\n# changed\n")
    rest = Counting()
    assert prove(task, rest, SIX, resume=bool(change)).verdict == "pass"
    assert rest.judged == 8


@pytest.mark.parametrize("content", ["", "[]", '{"key": 1, "trials": []}', "[" * 100_000])
def test_a_spoilt_file_costs_time_and_nothing_else(task: Task, tmp_path: Path, content: str) -> None:
    interrupt(task, at=5)
    (path,) = unfinished(tmp_path)
    path.write_text(content)
    rest = Counting()
    assert (prove(task, rest, SIX, resume=True).verdict, rest.judged) == ("pass", 8)


def receipt(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((task.path / "proof.json").read_text())
    return found


def test_a_run_of_fewer_trials_keeps_those_that_still_hold(task: Task) -> None:
    prove(task, honest, SIX)
    before = receipt(task)
    result = prove(task, honest, force=True)
    assert [trial.name for trial in result.trials] == ["untouched", "oracle"]
    assert result.notes == (
        "the receipt keeps 6 further trials of an earlier run, on which nothing has changed",
    )
    after = receipt(task)
    assert [trial["name"] for trial in after["trials"]] == [trial["name"] for trial in before["trials"]]
    assert after["repeats"] == before["repeats"]
    (again,) = oracle_check([task], with_scope(Options(), SIX), engine=FakeEngine(honest))
    assert again.is_current


def test_a_verdict_over_the_kept_trials_stays(task: Task) -> None:
    prove(task, Counting(wrong_at=5), SIX)
    assert receipt(task)["cause"] == "flaky"
    result = prove(task, honest, force=True)
    assert result.verdict == "pass"
    assert "stays at FAIL flaky" in result.notes[0]
    assert (receipt(task)["verdict"], receipt(task)["cause"]) == ("fail", "flaky")


def test_a_failure_that_was_run_again_takes_its_verdict_with_it(task: Task) -> None:
    prove(task, Counting(wrong_at=1), SIX)
    assert receipt(task)["verdict"] == "fail"
    result = prove(task, honest, force=True)
    assert "no longer holds" in result.notes[0]
    assert (receipt(task)["verdict"], len(receipt(task)["trials"])) == ("pass", 2)


def test_a_failure_of_the_fewer_trials_is_the_receipts(task: Task) -> None:
    prove(task, honest, SIX)
    result = prove(task, Counting(wrong_at=2), force=True)
    assert result.verdict == "fail"
    assert (receipt(task)["verdict"], len(receipt(task)["trials"])) == ("fail", 8)


def test_a_failure_that_fails_again_takes_no_other_trial_with_it(task: Task) -> None:
    prove(task, Counting(wrong_at=2), SIX)
    result = prove(task, Counting(wrong_at=2), force=True)
    assert "keeps 6 further trials" in result.notes[0]
    assert (receipt(task)["verdict"], len(receipt(task)["trials"])) == ("fail", 8)


def test_trials_of_a_changed_task_are_not_kept(task: Task) -> None:
    prove(task, honest, SIX)
    (task.path / "tests/test.sh").write_text(JUDGE + "# changed\n")
    assert prove(task, honest).notes == ()
    assert len(receipt(task)["trials"]) == 2
