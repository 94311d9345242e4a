"""Statistics over trials, and the paired comparison of two groups by per-task medians."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

from harbor_author.scoring.runs.jobs import Anomaly, Trial, TrialSet

#: Medians nearer than this are tied.
TIE = 1e-9
Direction = Literal["improved", "tied", "regressed"]
DIRECTIONS: tuple[Direction, ...] = ("improved", "tied", "regressed")


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """The rewards of one task. `perfect` counts rewards of 1; anomalies are not among the trials."""

    task: str
    trials: int
    mean: float
    median: float
    min: float
    max: float
    perfect: int
    anomalies: int

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Summary:
    """One group. `mean` is the mean of the tasks' means; None when no task has a reward."""

    label: str
    agents: tuple[str, ...]
    tasks: tuple[TaskSummary, ...]
    mean: float | None
    anomalies: tuple[Anomaly, ...]

    @property
    def trials(self) -> int:
        return sum(task.trials for task in self.tasks)

    @property
    def perfect(self) -> int:
        return sum(task.perfect for task in self.tasks)

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "agents": list(self.agents),
            "tasks": [task.to_json() for task in self.tasks],
            "mean": self.mean,
            "trials": self.trials,
            "perfect": self.perfect,
            "anomalies": [anomaly.to_json() for anomaly in self.anomalies],
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """One task on both sides, by median."""

    task: str
    base: float
    now: float
    direction: Direction

    @property
    def delta(self) -> float:
        return self.now - self.base

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "base": self.base,
            "now": self.now,
            "delta": self.delta,
            "direction": self.direction,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two groups compared. `unpaired` are tasks that only one side has rewards for, with the reason."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[tuple[str, str], ...]
    changed_tasks: tuple[str, ...]

    def count(self, direction: Direction) -> int:
        return sum(pair.direction == direction for pair in self.pairs)

    @property
    def mean_delta(self) -> float | None:
        return fmean(pair.delta for pair in self.pairs) if self.pairs else None

    def to_json(self) -> dict[str, Any]:
        return {
            "pairs": [pair.to_json() for pair in self.pairs],
            "improved": self.count("improved"),
            "tied": self.count("tied"),
            "regressed": self.count("regressed"),
            "meanDelta": self.mean_delta,
            "unpaired": [{"task": task, "reason": reason} for task, reason in self.unpaired],
            "changedTasks": list(self.changed_tasks),
        }


def _by_task(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    grouped: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        grouped[trial.task].append(trial)
    return dict(sorted(grouped.items()))


def summarize(group: TrialSet, label: str) -> Summary:
    """Summarise one group; tasks in the order of their names."""
    tasks = []
    for task, trials in _by_task(group.trials).items():
        rewards = [trial.reward for trial in trials]
        tasks.append(
            TaskSummary(
                task,
                len(rewards),
                fmean(rewards),
                median(rewards),
                min(rewards),
                max(rewards),
                sum(reward == 1 for reward in rewards),
                sum(anomaly.task == task for anomaly in group.anomalies),
            )
        )
    return Summary(
        label,
        tuple(sorted({trial.agent for trial in group.trials if trial.agent})),
        tuple(tasks),
        fmean(task.mean for task in tasks) if tasks else None,
        group.anomalies,
    )


def compare(base: TrialSet, now: TrialSet) -> Comparison:
    """Compare two groups task by task."""
    sides = (_by_task(base.trials), _by_task(now.trials))
    disturbed = [{anomaly.task for anomaly in group.anomalies if anomaly.task} for group in (base, now)]
    pairs, unpaired, changed = [], [], []
    for task in sorted({*sides[0], *sides[1], *disturbed[0], *disturbed[1]}):
        absent = [name for name, side in zip(("base", "now"), sides, strict=True) if task not in side]
        if absent:
            why = " and ".join(
                f"{name} has only anomalies" if task in disturbed[name == "now"] else f"{name} has no trial"
                for name in absent
            )
            unpaired.append((task, why))
            continue
        before, after = (median(trial.reward for trial in side[task]) for side in sides)
        pairs.append(Pair(task, before, after, _direction(after - before)))
        checksums = {trial.checksum for side in sides for trial in side[task] if trial.checksum}
        if len(checksums) > 1:
            changed.append(task)
    return Comparison(tuple(pairs), tuple(unpaired), tuple(changed))


def _direction(delta: float) -> Direction:
    if abs(delta) <= TIE:
        return "tied"
    return "improved" if delta > 0 else "regressed"
