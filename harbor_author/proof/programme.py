"""Which trials a task gets, and what each must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from harbor_author.proof.submission import UNTOUCHED, Submission, oracle
from harbor_author.proof.verdict import FULL, ZERO, Expectation, Trial, judge_trial, overall
from harbor_author.suite import Task

if TYPE_CHECKING:
    from harbor_author.proof.trial import Subject, TrialRun

#: How the trials of the oracle without one of its changes are called.
ABLATION_PREFIX = "ablation:"


@dataclass(frozen=True)
class Planned:
    """A trial to run.

    Attributes:
        why: what it is there to show.
        hint: what to do when its reward is not the expected one; empty: what its cause says.
        advisory: what is not as expected is a note, neither a failure nor an error.
        offline: without network, whatever task.toml says.
        clock: how far the container's clock is set off, such as `+365d`; empty: not at all.
        inspect: look also at what the judge changes and what is written outside the allowed places.
    """

    submission: Submission
    expectation: Expectation
    why: str = ""
    advisory: bool = False
    offline: bool = False
    clock: str = ""
    inspect: bool = False
    hint: str = ""

    @property
    def name(self) -> str:
        return self.submission.name

    def judge(self, run: TrialRun, subject: Subject) -> Trial:
        """The verdict over what it gave."""
        return judge_trial(
            self.name,
            run,
            self.expectation,
            needs_judge_line=subject.has_judge_line,
            why=self.why,
            hint=self.hint,
            advisory=self.advisory,
        )


@dataclass(frozen=True)
class Assessment:
    """A verdict over a task's trials; `details` go into the receipt and the JSON document beside the trials."""

    verdict: str
    cause: str | None
    message: str = ""
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


class Programme(Protocol):
    """The trials of one task, in rounds, and what they come to. One instance a task."""

    def first(self, task: Task, subject: Subject) -> Sequence[Planned]:
        """The first round; of a `Bench` also what is learnt in its containers. Raises what `prepare` raises."""

    def more(self, trials: Sequence[Trial]) -> Sequence[Planned]:
        """A further round, given all trials so far; empty when there is none."""

    def assess(self, trials: Sequence[Trial]) -> Assessment:
        """The verdict over all trials."""


ProgrammeFactory = Callable[[], Programme]


class Basic:
    """`untouched` must give 0, `oracle` 1."""

    def first(self, task: Task, subject: Subject) -> list[Planned]:
        return both(subject)

    def more(self, trials: Sequence[Trial]) -> list[Planned]:
        return []

    def assess(self, trials: Sequence[Trial]) -> Assessment:
        verdict, cause = overall(trials)
        return Assessment(verdict, cause)


def both(subject: Subject) -> list[Planned]:
    """The two trials that every proof begins with."""
    return [
        Planned(UNTOUCHED, ZERO, "nothing was done"),
        Planned(oracle(subject.task_dir), FULL, "the reference solution"),
    ]
