"""Proving again whatever was saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from harbor_author.integrity.errors import IntegrityError
from harbor_author.proof.errors import ProofError
from harbor_author.proof.receipts import gather_inputs
from harbor_author.suite import Task

_INTERVAL_S = 1.0


def watch(
    tasks: Sequence[Task],
    prove: Callable[[list[Task]], object],
    *,
    rounds: int | None = None,
    interval_s: float = _INTERVAL_S,
) -> None:
    """Call `prove` with the tasks that changed since it was last called for them, until interrupted.

    A task that cannot be read just now (it is half saved) counts as changed once it can.

    Args:
        rounds: look so often, then return; None: for ever.
    """
    known = {task.path: _state(task) for task in tasks}
    while rounds is None or rounds > 0:
        time.sleep(interval_s)
        now = {task.path: _state(task) for task in tasks}
        changed = [
            task for task in tasks if now[task.path] is not None and now[task.path] != known[task.path]
        ]
        if changed:
            prove(changed)
            # A proof writes its receipt, which is no part of the state.
            known.update({task.path: now[task.path] for task in changed})
        if rounds is not None:
            rounds -= 1


def _state(task: Task) -> tuple[str, ...] | None:
    try:
        inputs = gather_inputs(task, {}, with_package=False)
    except (IntegrityError, ProofError, OSError):
        return None
    return inputs.trial, inputs.environment, str(inputs.fixture)
