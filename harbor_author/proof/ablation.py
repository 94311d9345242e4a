"""The oracle without one of its changes: whether the judge notices, and which of its checks does."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harbor_author.proof.edits import set_files
from harbor_author.proof.programme import ABLATION_PREFIX, Planned
from harbor_author.proof.snapshot import Change, FileState, OracleChanges
from harbor_author.proof.submission import Submission
from harbor_author.proof.trial import FIXTURE
from harbor_author.proof.verdict import ANY, Trial

_PROSE = (".md", ".markdown", ".rst")
_COMMENT = re.compile(r"^\s*(?://|#(?!!)|/?\*|\*/|<!--|--\s)|^\s*$")
_HEADING = re.compile(r"^#{1,6}\s")
_NOT_GRADED = re.compile(r"^#+\s.*(?:grading boundary|not graded|not judged|评分边界|不评分)", re.IGNORECASE)
_EPSILON = 1e-9


@dataclass(frozen=True)
class Unit:
    """One change to be taken back: a whole file, or one hunk of it (`line` in the file after the oracle, 1-based)."""

    path: str
    line: int | None
    restored: FileState | None

    @property
    def label(self) -> str:
        """Such as `package.json` or `index.js@12`; a path outside the fixture is absolute."""
        shown = self.path.removeprefix(FIXTURE + "/")
        return shown if self.line is None else f"{shown}@{self.line}"

    @property
    def trial(self) -> str:
        return ABLATION_PREFIX + self.label


@dataclass(frozen=True)
class Plan:
    """What can be taken back. `prose` are changes that no judge is expected to look at: documents, comments."""

    files: tuple[Unit, ...]
    hunks: tuple[Unit, ...]
    prose: tuple[str, ...]


def plan(observed: OracleChanges) -> Plan:
    """The units of an oracle's changes. The units of a document that it wrote are its sections."""
    files, hunks, prose = [], [], []
    for change in observed.changes:
        if change.path.endswith(_PROSE) and change.path not in observed.outputs:
            prose.append(change.path.removeprefix(FIXTURE + "/"))
            continue
        files.append(Unit(change.path, None, change.before))
        parts, silent = _sections(change) if change.path.endswith(_PROSE) else _hunks(change)
        prose += silent
        if len(parts) > 1:
            hunks += parts
    return Plan(tuple(files), tuple(hunks), tuple(prose))


def _hunks(change: Change) -> tuple[list[Unit], list[str]]:
    """The hunks of a changed text file, each taken back alone; and those that touch only comments or blanks."""
    if change.before is None or change.after is None:
        return [], []
    before, after = change.before.text, change.after.text
    if before is None or after is None:
        return [], []
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    units, silent = [], []
    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, False
    ).get_opcodes():
        if tag == "equal":
            continue
        touched = old[old_from:old_to] + new[new_from:new_to]
        restored = "".join(new[:new_from] + old[old_from:old_to] + new[new_to:])
        unit = Unit(change.path, new_from + 1, replace(change.after, data=restored.encode()))
        if all(_COMMENT.match(line) for line in touched):
            silent.append(unit.label)
        else:
            units.append(unit)
    return units, silent


def _sections(change: Change) -> tuple[list[Unit], list[str]]:
    """The sections of a document that the oracle wrote, each left out alone."""
    if change.before is not None or change.after is None or change.after.text is None:
        return [], []
    text = change.after.text
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    units, silent = [], []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        if not any(line.strip() for line in lines[start + 1 : end]):
            continue  # a title alone
        unit = Unit(
            change.path, start + 1, replace(change.after, data="".join(lines[:start] + lines[end:]).encode())
        )
        if number == 0 and len(starts) > 1 and lines[start].startswith("# "):
            silent.append(unit.label)  # the introduction under the document's title
        else:
            units.append(unit)
    return units, silent


def trials(units: Iterable[Unit], oracle: Submission) -> list[Planned]:
    """A trial for each unit: the oracle, then the unit taken back."""
    planned = []
    for unit in units:
        text, overlay = set_files({unit.path: unit.restored})
        submission = replace(oracle, name=unit.trial, after=text, overlay=overlay)
        # Whether it is noticed is a matter of the table; the trial alone fails only when it cannot be judged.
        planned.append(Planned(submission, ANY, f"the oracle without its change of {unit.label}"))
    return planned


@dataclass(frozen=True)
class Row:
    """One change and how it was noticed: `by` names the checks that gave less; empty where only the reward fell."""

    change: str
    state: str  # killed | blind | declared | error
    reward: float | None
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """What ablation says of a judge."""

    rows: tuple[Row, ...] = ()
    prose: tuple[str, ...] = ()
    skipped: int = 0
    unmoved: tuple[str, ...] = ()
    free: tuple[str, ...] = field(default=())

    @property
    def killed(self) -> int:
        return sum(row.state == "killed" for row in self.rows)

    @property
    def total(self) -> int:
        """The changes that could be judged and are not declared to be ungraded."""
        return sum(row.state in ("killed", "blind") for row in self.rows)

    @property
    def blind(self) -> tuple[str, ...]:
        return tuple(row.change for row in self.rows if row.state == "blind")

    def document(self) -> dict[str, Any]:
        return {
            "killed": self.killed,
            "total": self.total,
            "changes": {
                row.change: {"state": row.state, "reward": row.reward, "by": list(row.by)}
                for row in self.rows
            },
            "not_tried": {"prose": list(self.prose), "over_budget": self.skipped},
            "checks_nothing_moves": list(self.unmoved),
            "checks_passing_unsolved": list(self.free),
        }


def findings(
    all_trials: Sequence[Trial], tried: Iterable[Unit], plan_: Plan, *, skipped: int, solution_text: str
) -> Findings:
    """Read the table off the trials.

    Args:
        solution_text: SOLUTION.md, whose section on the grading boundary may declare a change ungraded by its path.
    """
    by_name = {trial.name: trial for trial in all_trials}
    oracle = by_name.get("oracle")
    if oracle is None or oracle.reward is None or oracle.reward <= 0:
        return Findings(prose=plan_.prose, skipped=skipped)
    full = {check.id: check.earned for check in oracle.checks}
    boundary = not_graded(solution_text)
    rows = [
        _row(unit, by_name[unit.trial], oracle.reward, full, boundary)
        for unit in tried
        if unit.trial in by_name
    ]
    return Findings(
        tuple(rows),
        plan_.prose,
        skipped,
        unmoved=tuple(sorted(_unmoved(all_trials, full))),
        free=tuple(sorted(_free(all_trials, full))),
    )


def _row(unit: Unit, trial: Trial, full_reward: float, full: dict[str, float], boundary: str) -> Row:
    if trial.reward is None or trial.verdict == "error":
        return Row(unit.label, "error", None)
    by = tuple(check.id for check in trial.checks if check.earned < full.get(check.id, 0.0) - _EPSILON)
    if trial.reward < full_reward - _EPSILON:
        return Row(unit.label, "killed", trial.reward, by)
    name = unit.path.removeprefix(FIXTURE + "/")
    declared = bool(boundary) and any(word in boundary for word in (name, name.rpartition("/")[2]))
    return Row(unit.label, "declared" if declared else "blind", trial.reward)


def _unmoved(all_trials: Sequence[Trial], full: dict[str, float]) -> set[str]:
    """Checks that gave all their points in every trial that has a ledger."""
    moved = {
        check.id
        for trial in all_trials
        for check in trial.checks
        if check.earned < full.get(check.id, check.points) - _EPSILON
    }
    return {check for check, earned in full.items() if earned > 0} - moved


def _free(all_trials: Sequence[Trial], full: dict[str, float]) -> set[str]:
    """Checks that give points although nothing was migrated."""
    return {
        check.id
        for trial in all_trials
        if trial.name == "untouched" or trial.name.startswith("touched")
        for check in trial.checks
        if check.earned > 0 and check.id in full
    }


def not_graded(solution: str) -> str:
    """The text of SOLUTION.md's sections that say what is not graded."""
    taken, level = [], 0
    for line in solution.splitlines():
        heading = _HEADING.match(line)
        if heading:
            depth = len(line) - len(line.lstrip("#"))
            if _NOT_GRADED.match(line):
                level = depth
                continue
            if level and depth <= level:
                level = 0
        if level:
            taken.append(line)
    return "\n".join(taken)
