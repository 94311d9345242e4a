"""Running the rules over tasks: every task ends with a verdict, whatever is in it."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harbor_author.checks import external
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.errors import CheckError
from harbor_author.checks.findings import Finding, Problem, Report, in_order, printable
from harbor_author.checks.registry import Rule, all_rules
from harbor_author.checks.suppress import Plan, Suppression, make_plan, task_suppressions
from harbor_author.suite import Suite, Task

#: Below this many tasks a second process costs more than it saves.
_TASKS_A_PROCESS = 24
#: Tasks whose files are held at once; a program such as bash is started once for each batch.
_BATCH = 250


def validate(
    tasks: Sequence[Task],
    *,
    suite: Suite | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    jobs: int | None = None,
    today: datetime.date | None = None,
) -> Report:
    """Check tasks against the rules. No container is started and no file of a task is changed.

    Args:
        tasks: may lie in different suites or in none; suite rules hold only for those in a suite.
        suite: the suite of the run; its `[validate]` table holds for tasks outside any suite too.
        select, ignore: names of rules, packs or themes; `select` replaces the default set.
        severity: rule, pack or theme -> "error", "warning" or "note".
        jobs: processes; default by the number of tasks and processors.
        today: the day by which suppressions expire.

    Raises:
        CheckError: an option names no rule, there is no task at all, or this machine cannot do it (no room for
            temporary files, a process died).
    """
    if not tasks:
        raise CheckError("no task to validate", hint="name a task, or run inside a suite that has one")
    select, ignore, severity = tuple(select), tuple(ignore), dict(severity or {})
    today = today or datetime.date.today()  # noqa: DTZ011 - a person's calendar day
    plans: dict[int, Plan] = {}
    for task in tasks:
        owner = task.suite or suite
        if id(owner) not in plans:
            plans[id(owner)] = make_plan(owner, select=select, ignore=ignore, severity=severity)
            if owner is not None:
                owner.cards()
    work = _Work(plans, suite, today)
    processes = min(jobs or os.cpu_count() or 1, 1 + len(tasks) // _TASKS_A_PROCESS)
    size = max(1, min(_BATCH, -(-len(tasks) // processes)))
    batches = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    verdicts = [
        verdict for batch in _run(batches, work, processes if len(batches) > 1 else 1) for verdict in batch
    ]
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    findings += work.twice(tasks, verdicts)
    findings += work.stale(tasks, verdicts)
    return Report(tuple(findings), tuple(task.label for task in tasks))


@dataclass(frozen=True)
class Verdict:
    """One task's findings, which suppressions of author.toml silenced something, and the name that it claims."""

    findings: tuple[Finding, ...]
    used: frozenset[Suppression]
    name: str | None
    name_line: int | None


#: What a forked worker inherits; a suite does not survive pickling cheaply, and need not.
_inherited: tuple[Sequence[Sequence[Task]], _Work] | None = None


def _run(batches: Sequence[Sequence[Task]], work: _Work, processes: int) -> Iterable[Sequence[Verdict]]:
    if processes == 1:
        return [work.batch(batch) for batch in batches]
    from concurrent.futures import (
        BrokenExecutor,
        ProcessPoolExecutor,
    )  # a twentieth of a second that few runs need
    from multiprocessing import get_context

    global _inherited
    all_rules()
    _inherited = (batches, work)
    try:
        with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
            return list(pool.map(_run_inherited, range(len(batches))))
    except BrokenExecutor as error:
        raise CheckError("a process that checks tasks died", hint="try again with --jobs 1") from error
    finally:
        _inherited = None


def _run_inherited(index: int) -> Sequence[Verdict]:
    assert _inherited is not None
    batches, work = _inherited
    return work.batch(batches[index])


class _Work:
    """All that a batch needs to know."""

    def __init__(self, plans: dict[int, Plan], suite: Suite | None, today: datetime.date) -> None:
        self.plans = plans
        self.suite = suite
        self.today = today

    def plan(self, task: Task) -> Plan:
        return self.plans[id(task.suite or self.suite)]

    def batch(self, tasks: Sequence[Task]) -> list[Verdict]:
        contexts = [TaskFiles(task, today=self.today) for task in tasks]
        try:
            programs = external.Run(contexts)
        except OSError as error:
            raise CheckError(
                f"bash, node and shellcheck cannot be given the scripts: {error.strerror}",
                path=error.filename,
                hint="make room in the temporary directory",
            ) from error
        rules = [self.plan(files.task).for_task(files) for files in contexts]
        found = [
            [finding for rule in chosen if not rule.late for finding in self.apply(rule, files)]
            for files, chosen in zip(contexts, rules, strict=True)
        ]
        results = programs.finish()
        verdicts = []
        for files, chosen, early in zip(contexts, rules, found, strict=True):
            files.programs = results
            late = [finding for rule in chosen if rule.late for finding in self.apply(rule, files)]
            verdicts.append(self.verdict(files, chosen, early + late))
        return verdicts

    def apply(self, rule: Rule, files: TaskFiles) -> list[Finding]:
        try:
            return [self.bind(rule, files, problem) for problem in rule.check(files)]
        except (
            Exception
        ) as error:  # a rule's own fault must neither hide the others nor pass for a clean task
            crashed = all_rules()["rule-crashed"]
            cause = f"{type(error).__name__}: {error}"
            return [self.bind(crashed, files, Problem(f"rule '{rule.name}' failed on this task: {cause}"))]

    def bind(self, rule: Rule, files: TaskFiles, problem: Problem) -> Finding:
        weight = self.plan(files.task).severity.get(rule.name)
        path = files.root / problem.path if problem.path else files.root
        return Finding(
            task=printable(files.task.label),
            rule=rule.name,
            severity=weight or problem.severity or rule.severity,
            path=printable(str(path)),
            line=problem.line,
            column=problem.column,
            message=printable(problem.message),
            fix=printable(problem.fix or rule.fix.split("\n\n")[0].replace("\n", " ")),
        )

    def verdict(self, files: TaskFiles, chosen: Sequence[Rule], findings: list[Finding]) -> Verdict:
        """Take out what is accepted; report a task's own suppressions that accept nothing."""
        own = [s for s in task_suppressions(files).items if not s.expired(self.today)]
        shared = [s for s in self.plan(files.task).suppressions if not s.expired(self.today)]
        shared = [s for s in shared if s.task in (None, files.task.label, files.task.name)]
        used: set[Suppression] = set()
        kept = []
        for finding in findings:
            by = [s for s in (*own, *shared) if s.rule == finding.rule and finding.rule not in _ALWAYS]
            used.update(by)
            if not by:
                kept.append(finding)
        ran = {rule.name for rule in chosen}
        stale = all_rules()["unused-suppression"]
        if stale.name in ran:
            for item in own:
                if item not in used and item.rule in ran:
                    line, column = files.where(*item.key)
                    message = f"'{item.rule}' is suppressed, but there is nothing to suppress"
                    kept.append(self.bind(stale, files, Problem(message, "task.toml", line, column)))
        name = files.table("task").get("name")
        known = name if isinstance(name, str) and _TWICE in ran else None
        return Verdict(
            tuple(in_order(kept)), frozenset(used & set(shared)), known, files.where("task", "name")[0]
        )

    def twice(self, tasks: Sequence[Task], verdicts: Sequence[Verdict]) -> list[Finding]:
        """Tasks of one run that have the same [task] name."""
        rule = all_rules()[_TWICE]
        first: dict[str, Task] = {}
        found = []
        for task, verdict in zip(tasks, verdicts, strict=True):
            if verdict.name is None:
                continue
            other = first.setdefault(verdict.name, task)
            if other is not task:
                weight = self.plan(task).severity.get(rule.name, rule.severity)
                path = printable(str(task.path / "task.toml"))
                message = printable(f"[task] name '{verdict.name}' is also that of {other.name}")
                label = printable(task.label)
                found.append(
                    Finding(label, rule.name, weight, path, verdict.name_line, None, message, rule.fix)
                )
        return found

    def stale(self, tasks: Sequence[Task], verdicts: Sequence[Verdict]) -> list[Finding]:
        """Suppressions of author.toml that silenced nothing in a run over all tasks that they could concern."""
        used = {item for verdict in verdicts for item in verdict.used}
        rule = all_rules()["unused-suppression"]
        found = []
        for suite in {id(s): s for s in (t.suite for t in tasks) if s is not None}.values():
            plan = self.plans[id(suite)]
            if rule.name not in plan.rules:
                continue
            names = {name for t in tasks if t.suite is suite for name in (t.label, t.name)}
            every = all(task.name in names for task in suite.tasks())
            for item in plan.suppressions:
                concerned = item.task in names if item.task is not None else every
                if item in used or not (concerned or every) or item.rule not in plan.rules:
                    continue
                expired = item.expired(self.today)
                state = f"expired on {item.until}" if expired else "suppresses nothing"
                message = f"the suppression of '{item.rule}' {state}"
                place = suite.settings.path
                label = printable(item.task or place.name)
                weight = plan.severity.get(rule.name, rule.severity)
                found.append(
                    Finding(label, rule.name, weight, printable(str(place)), None, None, message, rule.fix)
                )
        return found


#: A rule about several tasks, so its findings are made when all verdicts are there.
_TWICE = "duplicate-task-name"
#: Findings about the means of suppression, or about our own failure, cannot be suppressed.
_ALWAYS = frozenset({"rule-crashed", "bad-suppression", "unused-suppression", "expired-suppression"})
