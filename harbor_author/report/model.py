"""What a report shows, as plain data: gathered by `collect`, drawn by `page`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One trial. Scores are shares of full marks, 0 to 1; None where there is no reward.

    Attributes:
        expected: what it may score out of 100, in words.
        low, high: the same as shares, both ends included.
        solve_s, judge_s: parts of its time in seconds, None when the receipt does not tell them apart.
        checks: the judge's checks as (ID, points earned, points).
        count: of how many equal repetitions this is the first.
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
    message: str = ""
    checks: tuple[tuple[str, float, float], ...] = ()
    count: int = 1


@dataclass(frozen=True)
class HeatMap:
    """Ablation: for each change that was left out of the reference solution, which checks noticed.

    Attributes:
        columns: IDs of the checks.
        noticed: change -> the checks that gave less than with it.
        states: change -> `killed` (noticed), `blind`, `declared` (said to be not graded) or `error`.
        rewards: change -> the share of full marks without it.
        notes: what was not tried, and checks that nothing moves.
    """

    columns: tuple[str, ...]
    noticed: Mapping[str, tuple[str, ...]]
    states: Mapping[str, str]
    rewards: Mapping[str, float | None]
    notes: tuple[str, ...] = ()


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
    """How the reference solution changes one file of the fixture; `lines` are those of a unified diff.

    Attributes:
        what: `changed`, `added`, `removed` or `script`.
        cut: how many lines are left out.
    """

    path: str
    what: str
    lines: tuple[str, ...]
    cut: int = 0


@dataclass(frozen=True)
class TaskView:
    """All that the report says of one task.

    Attributes:
        state: of the receipt: `current`, `stale`, `missing` or `broken`.
        verdict: of the receipt: `pass`, `fail`, `error`, or `none` without one.
        because: why the receipt does not hold, and what is to be said of it.
        story: of a proof that did not pass, what happened and what to do, line by line.
        bars: every trial; `drawn` those of the charts: equal repetitions as one, ablation left to its heat map.
        counts: findings by severity; `findings` holds those with most weight.
        inputs: what the receipt is bound to.
        reproduce: (what, the command that gives it).
    """

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
    story: tuple[str, ...]
    bars: tuple[Bar, ...]
    drawn: tuple[Bar, ...]
    heat_map: HeatMap | None
    counts: Mapping[str, int]
    findings: tuple[Excerpt, ...]
    diffs: tuple[FileDiff, ...]
    inputs: Mapping[str, str]
    reproduce: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SuiteView:
    """The whole report. `cards` maps each declared card to its title and the tasks that cite it."""

    name: str
    made: str
    version: str
    tasks: tuple[TaskView, ...]
    cards: Mapping[str, tuple[str, tuple[str, ...]]]
    problems: tuple[str, ...] = ()
