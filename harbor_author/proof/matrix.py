"""The whole matrix: every trial that applies to a task, and the verdict over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from harbor_author.output.text import counted
from harbor_author.proof import ablation, flaky, probes
from harbor_author.proof.decoys import read_declared
from harbor_author.proof.programme import Assessment, Planned, both
from harbor_author.proof.reward import is_full
from harbor_author.proof.snapshot import OracleChanges, observe, read_instruction
from harbor_author.proof.submission import oracle
from harbor_author.proof.trial import FIXTURE, Bench, Subject
from harbor_author.proof.verdict import Trial, overall
from harbor_author.proof.workflow import Options
from harbor_author.suite import Task, find_citations, task_mode

#: The two basic trials of a matrix are run so often.
UNTOUCHED_RUNS = 2
ORACLE_RUNS = 5
DEFAULT_BUDGET = 24
DEFAULT_FLOOR = 20.0
_FULL_POINTS = 100.0
_UNTOUCHED_SHARE = 4
_SHOWN = 8
_BY_CLOCK = (
    "nothing but the clock differs from the plain trial: let neither solution nor judge depend on the date"
)
_BY_NETWORK = "nothing but the network differs from the plain trial: put into the image what is fetched"
_NOT_OBSERVED = (
    "without ablation and what is derived from the oracle's own changes, which only containers here show"
)


@dataclass(frozen=True)
class Scope:
    """What of the matrix to run. `budget` bounds the ablation's trials; `repeat` counts the oracle's runs.

    The other two counts are the least that a matrix runs of each basic trial.
    """

    matrix: bool = True
    budget: int = DEFAULT_BUDGET
    repeat: int | None = None
    clock: str = ""
    offline: bool = False
    untouched_runs: int = UNTOUCHED_RUNS
    oracle_runs: int = ORACLE_RUNS


class Matrix:
    """The programme of one task."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._subject: Subject | None = None
        self._is_observed = True
        self._plan = ablation.Plan((), (), ())
        self._tried: list[ablation.Unit] = []
        self._over_budget = 0
        self._hunks_planned = False
        self._report_floor = DEFAULT_FLOOR

    def first(self, task: Task, subject: Subject) -> list[Planned]:
        self._subject = subject
        self._is_observed = isinstance(subject, Bench)
        scope = self._scope
        runs = scope.repeat or 1
        # A judge is unsteady on what it has to look at: the oracle. The untouched fixture is run less often.
        untouched = min(runs, max(UNTOUCHED_RUNS, runs // _UNTOUCHED_SHARE))
        if scope.matrix:
            untouched, runs = max(scope.untouched_runs, untouched), max(scope.oracle_runs, runs)
        planned = flaky.repeated(subject, untouched=untouched, oracle=runs, first=True)
        planned = [replace(plan, inspect=scope.matrix and number < 2) for number, plan in enumerate(planned)]
        planned += self._reruns(subject)
        if scope.matrix and not subject.config.steps:
            planned += self._matrix(task, subject)
        return planned

    def _reruns(self, subject: Subject) -> list[Planned]:
        planned = []
        for plan in both(subject):
            if self._scope.clock:
                why = f"the same, with the clock set off by {self._scope.clock}"
                planned.append(replace(_renamed(plan, "clock", why), clock=self._scope.clock, hint=_BY_CLOCK))
            if self._scope.offline:
                again = _renamed(plan, "no-network", "the same, offline")
                planned.append(replace(again, offline=True, hint=_BY_NETWORK))
        return planned

    def _matrix(self, task: Task, subject: Subject) -> list[Planned]:
        document = subject.config.document
        solution = oracle(subject.task_dir)
        has_fixture = (subject.task_dir / "environment" / "fixture").is_dir()
        mode = task_mode(task, document) if has_fixture else "mutable"
        strict = subject.has_judge_line
        is_report = mode == "readonly"
        derived: list[Planned] = []
        units: Sequence[ablation.Unit] = ()
        if isinstance(subject, Bench):
            instruction = read_instruction(subject.task_dir)
            observed = observe(subject, solution, instruction)
            is_report = _is_report(observed, mode if has_fixture else "")
            floor = _floor(document) / _FULL_POINTS
            ids = _card_ids(task, document)
            derived = probes.no_work(observed, instruction, ids, floor=floor, is_report=is_report)
            if not is_report:
                derived += probes.perturbed(observed, solution)
            self._plan = ablation.plan(observed)
            # A single change taken back is the untouched fixture.
            units = self._plan.files if len(self._plan.files) > 1 else ()
        touched = probes.touched(mode, solution, is_report=is_report, strict=strict) if has_fixture else []
        tampered = probes.tampered(mutable=has_fixture and mode == "mutable", strict=strict)
        declared = [one.planned for one in read_declared(subject.task_dir)]
        return touched + derived + tampered + declared + self._within_budget(units)

    def _within_budget(self, units: Sequence[ablation.Unit]) -> list[Planned]:
        assert self._subject is not None
        room = max(0, self._scope.budget - len(self._tried))
        self._over_budget += max(0, len(units) - room)
        chosen = list(units[:room])
        self._tried += chosen
        return ablation.trials(chosen, oracle(self._subject.task_dir))

    def more(self, trials: Sequence[Trial]) -> list[Planned]:
        """After the files, the hunks of those files that the judge looks at."""
        if self._hunks_planned or not self._scope.matrix:
            return []
        self._hunks_planned = True
        by_name = {trial.name: trial for trial in trials}
        basic = by_name.get("oracle")
        if basic is None or basic.verdict != "pass":
            return []
        alone = len(self._plan.files) == 1
        noticed = {unit.path for unit in self._plan.files if alone or _is_noticed(by_name.get(unit.trial))}
        return self._within_budget([unit for unit in self._plan.hunks if unit.path in noticed])

    def assess(self, trials: Sequence[Trial]) -> Assessment:
        verdict, cause = overall(trials)
        message = ""
        spreads = flaky.spreads(trials)
        unsteady = [spread for spread in spreads if spread.is_flaky]
        details: dict[str, Any] = {"repeats": {spread.name: dict(spread.outcomes) for spread in spreads}}
        notes: list[str] = []
        if unsteady and not _all_errors(trials, unsteady):
            verdict, cause = "fail", "flaky"
            message = "; ".join(str(spread) for spread in unsteady)
        if self._scope.matrix and not self._is_observed:
            notes.append(_NOT_OBSERVED)
        elif self._scope.matrix:
            found = self._findings(trials)
            details["ablation"] = found.document()
            notes += _ablation_notes(found)
            if self._tried and not found.rows:
                notes.append("the oracle has no reward that it could lose: ablation tells nothing")
            if found.blind and verdict == "pass":
                verdict, cause = "fail", "blind-spot"
                message = f"no check notices: {', '.join(found.blind)}"
        left = dict.fromkeys(text for trial in trials for text in trial.leftovers)
        if left:
            notes.append(f"left behind: {'; '.join(list(left)[:_SHOWN])}")
        notes += [f"{trial.name}: {trial.why}: {trial.note}" for trial in trials if trial.note]
        return Assessment(verdict, cause, message, tuple(notes), details)

    def _findings(self, trials: Sequence[Trial]) -> ablation.Findings:
        assert self._subject is not None
        path = self._subject.task_dir / "solution" / "SOLUTION.md"
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        return ablation.findings(
            trials, self._tried, self._plan, skipped=self._over_budget, solution_text=text
        )


def _renamed(plan: Planned, word: str, why: str) -> Planned:
    return replace(plan, submission=replace(plan.submission, name=f"{word}:{plan.name}"), why=why)


def _is_noticed(trial: Trial | None) -> bool:
    """Whether the oracle without a file's change fell short of full marks."""
    return trial is not None and trial.reward is not None and not is_full(trial.reward)


def _all_errors(trials: Sequence[Trial], unsteady: Sequence[flaky.Spread]) -> bool:
    """Whether what differs are only trials that could not be judged: then the error is the verdict."""
    names = {spread.name for spread in unsteady}
    group = [trial for trial in trials if flaky.base_name(trial.name) in names]
    rewards = {
        (flaky.base_name(trial.name), trial.reward, trial.checks_earned)
        for trial in group
        if trial.reward is not None
    }
    return len(rewards) <= len(names)


def _ablation_notes(found: ablation.Findings) -> list[str]:
    notes = []
    if found.skipped:
        notes.append(f"{counted(found.skipped, 'change')} not tried (--budget)")
    if found.unmoved:
        notes.append(f"checks that nothing moves: {', '.join(found.unmoved)}")
    if found.free:
        notes.append(f"checks that give points although nothing was done: {', '.join(found.free)}")
    return notes


def _is_report(observed: OracleChanges, mode: str) -> bool:
    """Whether the task's result is a report: it is read-only, or all that the oracle makes is prose."""
    if mode == "readonly":
        return True
    touched_fixture = any(change.path.startswith(FIXTURE + "/") for change in observed.changes)
    return (
        not touched_fixture
        and bool(observed.outputs)
        and all(path.endswith(".md") for path in observed.outputs)
    )


def _floor(document: Mapping[str, Any]) -> float:
    metadata = document.get("metadata")
    value = metadata.get("report_floor") if isinstance(metadata, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else DEFAULT_FLOOR


def _card_ids(task: Task, document: Mapping[str, Any]) -> list[str]:
    """The IDs of the cards that a task is about: those that task.toml and the solution name."""
    metadata = document.get("metadata")
    named = metadata.get("cards") if isinstance(metadata, Mapping) else None
    found = [str(card) for card in named] if isinstance(named, list) else []
    for path in sorted((task.path / "solution").glob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [card for citation in find_citations(text) for card in citation.ids]
    return list(dict.fromkeys(found))


def with_scope(options: Options, scope: Scope) -> Options:
    """The same options for a run of that scope: its programme, and the trials that a receipt must have to cover it."""
    needs = ["untouched", "oracle"]
    runs = max(scope.repeat or 1, scope.oracle_runs if scope.matrix else 1)
    needs += [f"oracle#{number}" for number in range(2, runs + 1)]
    needs += ["forged"] if scope.matrix else []
    needs += ["clock:oracle"] if scope.clock else []
    needs += ["no-network:oracle"] if scope.offline else []
    return replace(options, programme=partial(Matrix, scope), needs=tuple(needs))
