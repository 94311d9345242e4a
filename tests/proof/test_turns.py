"""Containers are brought up ahead of their turn, and no more trials than `jobs` run their scripts at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harbor_author.proof import Options, oracle_check
from harbor_author.proof.matrix import Scope, with_scope
from harbor_author.sandbox import ExecResult
from tests.proof.tasks import TOML, make_task
from tests.proof.test_workflow import honest
from tests.sandbox.fake_engine import FakeContainer, FakeEngine

WAIT_S = 20.0
#: That something does not happen can be seen only by giving it time to.
ABSENT_S = 0.3


class Watched:
    """An honest container, but no script goes on before so many containers are up."""

    def __init__(self, awaited: int) -> None:
        self.engine = FakeEngine(self)
        self.up = 0
        self.at_scripts: set[int] = set()
        self._awaited = awaited
        self._changed = threading.Condition()
        self._open = False
        self._start = self.engine.start
        self.engine.start = self._started  # type: ignore[method-assign]

    def _started(self, container: str) -> None:
        with self._changed:
            self._start(container)
            self.up += 1
            self._changed.notify_all()

    def __call__(self, container: FakeContainer, command: str) -> ExecResult:
        with self._changed:
            if not self._open:
                is_first = not self.at_scripts
                self.at_scripts.add(id(container))
                self._changed.notify_all()
                if is_first:
                    self._changed.wait_for(lambda: self.up >= self._awaited, WAIT_S)
                    self._changed.wait_for(lambda: len(self.at_scripts) >= self._awaited > 1, ABSENT_S)
                    self._open = True
                    self._changed.notify_all()
                self._changed.wait_for(lambda: self._open, WAIT_S)
        return honest(container, command)


def prove(tmp_path: Path, shell: Watched, jobs: int, **changes: str) -> str:
    task = make_task(tmp_path, environment__Dockerfile="FROM base\n", **changes)
    scope = Scope(matrix=False, repeat=8)
    (result,) = oracle_check([task], with_scope(Options(jobs=jobs), scope), engine=shell.engine)
    return result.verdict


@pytest.mark.parametrize(("jobs", "up"), [(1, 1), (2, 3), (3, 4)])
def test_one_container_more_is_up_than_run_scripts(tmp_path: Path, jobs: int, up: int) -> None:
    shell = Watched(up)
    assert prove(tmp_path, shell, jobs) == "pass"
    assert len(shell.at_scripts) == jobs


def test_a_judge_in_a_container_of_its_own_waits_for_a_turn_without_holding_one(tmp_path: Path) -> None:
    toml = TOML.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n')
    assert prove(tmp_path, Watched(3), 2, task_toml=toml) == "fail", "no artifact reaches the judge"
