"""Which trials a task gets, and what each must give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harbor_author.proof.submission import UNTOUCHED, Submission, oracle
from harbor_author.proof.trial import Bench
from harbor_author.proof.verdict import FULL, ZERO, Expectation


@dataclass(frozen=True)
class Planned:
    """A trial to run: the submission, what it may score, and what it is there to show."""

    submission: Submission
    expectation: Expectation
    why: str = ""

    @property
    def name(self) -> str:
        return self.submission.name


#: Given a task that is ready, the trials to run.
Programme = Callable[[Bench], Sequence[Planned]]


def basic(bench: Bench) -> list[Planned]:
    """`untouched` must give 0, `oracle` 1."""
    return [
        Planned(UNTOUCHED, ZERO, "nothing was done"),
        Planned(oracle(bench.task_dir), FULL, "the reference solution"),
    ]
