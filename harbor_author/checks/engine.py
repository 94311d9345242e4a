"""Running the rules over tasks: every task ends with a verdict, whatever is in it."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harbor_author.checks import memory
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.errors import CheckError
from harbor_author.checks.findings import Finding, Problem, Report, Verdict, in_order, printable
from harbor_author.suite import Suite, Task

if TYPE_CHECKING:
    from harbor_author.checks.registry import Rule
    from harbor_author.checks.suppress import Plan

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
    remember: bool = False,
) -> Report:
    """Check tasks against the rules. No container is started and no file of a task is changed.

    Args:
        tasks: may lie in different suites or in none; suite rules hold only for those in a suite.
        suite: the suite of the run; its `[validate]` table holds for tasks outside any suite too.
        select, ignore: names of rules, packs or themes; `select` replaces the default set.
        severity: rule, pack or theme -> "error", "warning" or "note".
        jobs: processes; default by the number of tasks and processors.
        today: the day by which suppressions expire.
        remember: recall the verdicts of earlier runs on tasks that nothing has touched since, and keep those of this
            one; the report is the same.

    Raises:
        CheckError: an option names no rule, there is no task at all, or this machine cannot do it (no room for
            temporary files, a process died).
    """
    if not tasks:
        raise CheckError("no task to validate", hint="name a task, or run inside a suite that has one")
    options = {"select": tuple(select), "ignore": tuple(ignore), "severity": dict(severity or {})}
    work = _Work(options, suite, today or datetime.date.today(), remember=remember)  # noqa: DTZ011 - a person's day
    known = work.recall(tasks)
    rest = [task for task in tasks if task not in known]
    if rest:
        work.prepare(rest)
        known |= zip(rest, _checked(rest, work, jobs), strict=True)
    verdicts = [known[task] for task in tasks]
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    findings += work.twice(tasks, verdicts)
    findings += work.stale(tasks, verdicts)
    return Report(tuple(findings), tuple(task.label for task in tasks))


def _checked(tasks: Sequence[Task], work: _Work, jobs: int | None) -> list[Verdict]:
    processes = min(jobs or os.cpu_count() or 1, 1 + len(tasks) // _TASKS_A_PROCESS)
    size = max(1, min(_BATCH, -(-len(tasks) // processes)))
    batches = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    pairs = [pair for batch in _run(batches, work, processes if len(batches) > 1 else 1) for pair in batch]
    work.keep(tasks, pairs)
    return [verdict for verdict, _ in pairs]


#: What a forked worker inherits; a suite does not survive pickling cheaply, and need not.
_inherited: tuple[Sequence[Sequence[Task]], _Work] | None = None
#: A verdict, and the digest under which it may be remembered.
_Kept = tuple[Verdict, str | None]


def _run(batches: Sequence[Sequence[Task]], work: _Work, processes: int) -> Iterable[Sequence[_Kept]]:
    if processes == 1:
        return [work.batch(batch) for batch in batches]
    from concurrent.futures import (
        BrokenExecutor,
        ProcessPoolExecutor,
    )  # a twentieth of a second that few runs need
    from multiprocessing import get_context

    global _inherited
    _inherited = (batches, work)
    try:
        with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
            return list(pool.map(_run_inherited, range(len(batches))))
    except BrokenExecutor as error:
        raise CheckError("a process that checks tasks died", hint="try again with --jobs 1") from error
    finally:
        _inherited = None


def _run_inherited(index: int) -> Sequence[_Kept]:
    assert _inherited is not None
    batches, work = _inherited
    return work.batch(batches[index])


class _Work:
    """All that a batch needs to know."""

    def __init__(
        self, options: dict[str, Any], suite: Suite | None, today: datetime.date, *, remember: bool
    ) -> None:
        self.options = options
        self.suite = suite
        self.today = today
        memory.look_anew()
        self.memory = memory.Memory() if remember else None
        self._plans: dict[int, Plan] = {}
        self._grounds: dict[tuple[int, int], str | None] = {}

    def plan(self, task: Task) -> Plan:
        owner = task.suite or self.suite
        if id(owner) not in self._plans:
            from harbor_author.checks.suppress import make_plan

            self._plans[id(owner)] = make_plan(owner, **self.options)
        return self._plans[id(owner)]

    def prepare(self, tasks: Sequence[Task]) -> None:
        """What the processes share is made before they part; a fault in the options is told here."""
        from harbor_author.checks import gitstate

        gitstate.look_anew()
        for task in tasks:
            self.plan(task)
            owner = task.suite or self.suite
            if owner is not None:
                owner.cards()

    def ground(self, task: Task) -> str | None:
        owner = task.suite or self.suite
        place = id(owner), id(task.suite)
        if place not in self._grounds:
            self._grounds[place] = memory.ground(task, owner, self.options, self.today)
        return self._grounds[place]

    def recall(self, tasks: Sequence[Task]) -> dict[Task, Verdict]:
        """The verdicts that an earlier run left on just these tasks."""
        found: dict[Task, Verdict] = {}
        if self.memory is None:
            return found
        known: dict[str, bool] = {}
        for task in tasks:
            ground = self.ground(task)
            if ground is None or not known.setdefault(ground, self.memory.knows(ground)):
                continue
            verdict = self.memory.recall(memory.key(TaskFiles(task, today=self.today), ground))
            if verdict is not None:
                found[task] = verdict
        return found

    def keep(self, tasks: Sequence[Task], pairs: Sequence[_Kept]) -> None:
        if self.memory is None:
            return
        memory.look_anew()
        self._grounds.clear()
        for task, (verdict, key) in zip(tasks, pairs, strict=True):
            if key is not None and memory.still_holds(key, task, self.ground(task)):
                self.memory.keep(key, verdict)
        self.memory.save()

    def batch(self, tasks: Sequence[Task]) -> list[_Kept]:
        from harbor_author.checks import external

        contexts = [TaskFiles(task, today=self.today) for task in tasks]
        grounds = [self.ground(task) if self.memory is not None else None for task in tasks]
        # Before any rule reads a file: the rules then see the very bytes that the digest tells.
        keys = [
            memory.key(files, g) if g is not None else None
            for files, g in zip(contexts, grounds, strict=True)
        ]
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
            self.apply([rule for rule in chosen if not rule.late], files)
            for files, chosen in zip(contexts, rules, strict=True)
        ]
        results = programs.finish()
        verdicts = []
        for files, chosen, early, key in zip(contexts, rules, found, keys, strict=True):
            files.programs = results
            late = self.apply([rule for rule in chosen if rule.late], files)
            verdict = self.verdict(files, chosen, early + late)
            verdicts.append((verdict, key if memory.sure(files) else None))
        return verdicts

    def apply(self, rules: Iterable[Rule], files: TaskFiles) -> list[Finding]:
        found: list[Finding] = []
        for rule in rules:
            try:
                found += [self.bind(rule, files, problem) for problem in rule.check(files)]
            except Exception as error:  # must neither hide what other rules find nor pass for a clean task
                from harbor_author.checks.registry import all_rules

                cause = f"{type(error).__name__}: {error}"
                problem = Problem(f"rule '{rule.name}' failed on this task: {cause}")
                found.append(self.bind(all_rules()["rule-crashed"], files, problem))
        return found

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
            fix=printable(problem.fix or rule.remedy),
        )

    def verdict(self, files: TaskFiles, chosen: Sequence[Rule], findings: list[Finding]) -> Verdict:
        """Take out what is accepted; report a task's own suppressions that accept nothing."""
        from harbor_author.checks.registry import all_rules
        from harbor_author.checks.suppress import Suppression, task_suppressions

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
            tuple(in_order(kept)),
            frozenset(item.key for item in used & set(shared)),
            known,
        )

    def twice(self, tasks: Sequence[Task], verdicts: Sequence[Verdict]) -> list[Finding]:
        """Tasks of one run that have the same [task] name."""
        first: dict[str, Task] = {}
        found = []
        for task, verdict in zip(tasks, verdicts, strict=True):
            if verdict.name is None:
                continue
            other = first.setdefault(verdict.name, task)
            if other is not task:
                from harbor_author.checks.registry import get_rule

                rule = get_rule(_TWICE)
                weight = self.plan(task).severity.get(rule.name, rule.severity)
                path = printable(str(task.path / "task.toml"))
                message = printable(f"[task] name '{verdict.name}' is also that of {other.name}")
                label = printable(task.label)
                line, _ = TaskFiles(task, today=self.today).where("task", "name")
                found.append(Finding(label, rule.name, weight, path, line, None, message, rule.remedy))
        return found

    def stale(self, tasks: Sequence[Task], verdicts: Sequence[Verdict]) -> list[Finding]:
        """Suppressions of author.toml that silenced nothing in a run over all tasks that they could concern."""
        used = {
            (id(task.suite or self.suite), item)
            for task, verdict in zip(tasks, verdicts, strict=True)
            for item in verdict.used
        }
        found = []
        for suite in {id(t.suite): t.suite for t in tasks if t.suite is not None}.values():
            if not suite.settings.validate.get("suppress"):
                continue
            from harbor_author.checks.registry import get_rule

            rule = get_rule("unused-suppression")
            plan = self.plan(Task(suite.root, suite))
            if rule.name not in plan.rules:
                continue
            names = {name for t in tasks if t.suite is suite for name in (t.label, t.name)}
            every = all(task.name in names for task in suite.tasks())
            for item in plan.suppressions:
                concerned = item.task in names if item.task is not None else every
                if (id(suite), item.key) in used or not (concerned or every) or item.rule not in plan.rules:
                    continue
                expired = item.expired(self.today)
                state = f"expired on {item.until}" if expired else "suppresses nothing"
                message = f"the suppression of '{item.rule}' {state}"
                place = suite.settings.path
                label = printable(item.task or place.name)
                weight = plan.severity.get(rule.name, rule.severity)
                found.append(
                    Finding(label, rule.name, weight, printable(str(place)), None, None, message, rule.remedy)
                )
        return found


#: A rule about several tasks, so its findings are made when all verdicts are there.
_TWICE = "duplicate-task-name"
#: Findings about the means of suppression, or about our own failure, cannot be suppressed.
_ALWAYS = frozenset({"rule-crashed", "bad-suppression", "unused-suppression", "expired-suppression"})
