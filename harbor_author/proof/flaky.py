"""Repetition: the same submission must get the same reward and the same ledger each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harbor_author.proof.programme import Planned, both
from harbor_author.proof.verdict import Trial

if TYPE_CHECKING:
    from harbor_author.proof.trial import Subject

#: Stands between a submission's name and the number of its repetition.
REPEAT_MARK = "#"


@dataclass(frozen=True)
class Spread:
    """What the repetitions of one submission gave: (outcome, count), the most frequent first."""

    name: str
    outcomes: tuple[tuple[str, int], ...]

    @property
    def is_flaky(self) -> bool:
        return len(self.outcomes) > 1

    def __str__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{outcome} x{count}" for outcome, count in self.outcomes)


def repeated(subject: Subject, *, untouched: int, oracle: int, first: bool = False) -> list[Planned]:
    """Repetitions of the two basic trials, in an order that is mixed the same way each time.

    Args:
        untouched, oracle: how often each is run in all.
        first: the first of each is among them, in front.
    """
    import random

    basic = both(subject)
    again = [
        replace(plan, submission=replace(plan.submission, name=f"{plan.name}{REPEAT_MARK}{number}"))
        for plan, count in zip(basic, (untouched, oracle), strict=True)
        for number in range(2, count + 1)
    ]
    random.Random(subject.task).shuffle(again)  # noqa: S311
    return [*basic, *again] if first else again


def base_name(trial: str) -> str:
    """The submission's name without its number."""
    return trial.partition(REPEAT_MARK)[0]


def spreads(trials: Sequence[Trial]) -> list[Spread]:
    """The outcomes of every submission that was run more than once."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(base_name(trial.name), []).append(trial)
    found = []
    for name, group in groups.items():
        if len(group) > 1:
            counts = Counter(_outcome(trial, group) for trial in group)
            found.append(Spread(name, tuple(counts.most_common())))
    return found


def _outcome(trial: Trial, group: Sequence[Trial]) -> str:
    if trial.reward is None:
        return trial.cause or "no reward"
    same_reward = [other for other in group if other.reward == trial.reward]
    if len({other.checks_earned for other in same_reward}) == 1:
        return f"{trial.reward:g}"
    # Equal rewards by different checks are no agreement.
    ledger = " ".join(f"{name}={earned:g}" for name, earned in trial.checks_earned)
    return f"{trial.reward:g} ({ledger})"
