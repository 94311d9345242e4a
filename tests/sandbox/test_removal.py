"""Removal beside the work: nothing is waited for, nothing is forgotten."""

from __future__ import annotations

import threading

import pytest

from harbor_author.sandbox import EngineError
from harbor_author.sandbox.removal import Removals


class Slow:
    """Removes a container when it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.removed: list[str] = []

    def remove(self, container: str) -> None:
        assert self.let.wait(20)
        if container == "stuck":
            raise EngineError("the engine could not remove a container")
        self.removed.append(container)


def test_whoever_hands_in_goes_on_and_finish_waits() -> None:
    engine = Slow()
    removals = Removals(engine)  # type: ignore[arg-type]
    for name in ("a", "b", "c"):
        removals.remove(name)
    assert engine.removed == []
    assert not removals.finish(0.01)
    engine.let.set()
    assert removals.finish()
    assert sorted(engine.removed) == ["a", "b", "c"]
    removals.remove("d")
    assert removals.finish()
    assert engine.removed[-1] == "d"
    assert removals.failed == 0


def test_a_container_that_stays_is_told_and_stops_no_other() -> None:
    engine = Slow()
    engine.let.set()
    removals = Removals(engine)  # type: ignore[arg-type]
    for name in ("stuck", "a"):
        removals.remove(name)
    assert removals.finish()
    assert (engine.removed, removals.failed) == (["a"], 1)


@pytest.mark.parametrize("count", [0, 30])
def test_many_are_removed(count: int) -> None:
    engine = Slow()
    engine.let.set()
    removals = Removals(engine)  # type: ignore[arg-type]
    for number in range(count):
        removals.remove(str(number))
    assert removals.finish()
    assert len(engine.removed) == count
