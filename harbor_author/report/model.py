"""What a report shows, as plain data: gathered by `collect`, drawn by `page`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bar:
    """One trial. Scores are shares of full marks, 0 to 1; None where there is no reward.

    Attributes:
        low, high: what the trial may give, both ends included.
        solve_s, judge_s, other_s: the trial's time in seconds, None when the receipt does not tell them apart.
    """

    name: str
    verdict: str
    reward: float | None
    expected: str
    low: float
    high: float
    cause: str
    why: str
    duration_s: float
    solve_s: float | None = None
    judge_s: float | None = None


@dataclass(frozen=True)
class HeatMap:
    """Ablation: for each change that was left out of the reference solution, which checks noticed.

    Attributes:
        columns: IDs of the checks.
        noticed: change -> the checks that gave less than with it.
        states: change -> `killed` (noticed), `blind`, `declared` (said to be not graded) or `error`.
    """

    columns: tuple[str, ...]
    noticed: Mapping[str, tuple[str, ...]]
    states: Mapping[str, str]


@dataclass(frozen=True)
class Excerpt:
    """A finding with the lines around it: (line number, text, whether it is the line at fault)."""

    rule: str
    severity: str
    place: str
    message: str
    fix: str
    lines: tuple[tuple[int, str, bool], ...]


@dataclass(frozen=True)
class FileDiff:
    """How the reference solution changes one file of the fixture; `lines` are those of a unified diff."""

    path: str
    lines: tuple[str, ...]
    cut: int = 0


@dataclass(frozen=True)
class TaskView:
    """All that the report says of one task. `state` is `current`, `stale`, `missing` or `broken`."""

    anchor: str
    label: str
    name: str
    title: str
    series: str
    mode: str
    cards: tuple[str, ...]
    state: str
    verdict: str
    because: tuple[str, ...]
    bars: tuple[Bar, ...]
    heat_map: HeatMap | None
    findings: tuple[Excerpt, ...]
    diffs: tuple[FileDiff, ...]
    inputs: Mapping[str, Any]
    argument: str

    @property
    def counts(self) -> Mapping[str, int]:
        """Findings by severity."""
        found = {"error": 0, "warning": 0, "note": 0}
        for finding in self.findings:
            found[finding.severity] += 1
        return found


@dataclass(frozen=True)
class SuiteView:
    """The whole report. `cards` maps each declared card to its title and the tasks that cite it."""

    name: str
    made: str
    version: str
    tasks: tuple[TaskView, ...]
    cards: Mapping[str, tuple[str, tuple[str, ...]]]
