"""Which rules run on a task, how they weigh, and which findings someone has accepted, with a reason."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.errors import CheckError
from harbor_author.checks.findings import Problem, Severity
from harbor_author.checks.registry import Rule, all_rules, matching
from harbor_author.suite import Suite


@dataclass(frozen=True)
class Suppression:
    """One accepted fault.

    Attributes:
        key: where it is written, as keys of task.toml or `("validate", "suppress", n)` of author.toml.
        task: label or directory name that it is limited to; None for every task.
        until: last day on which it holds.
    """

    rule: str
    reason: str
    until: datetime.date | None
    task: str | None
    key: tuple[str | int, ...]

    def expired(self, today: datetime.date) -> bool:
        return self.until is not None and today > self.until


@dataclass(frozen=True)
class Suppressions:
    """Those of one file, and what is wrong with the file's own statements: (key, message, fix)."""

    items: tuple[Suppression, ...]
    faults: tuple[tuple[tuple[str | int, ...], str, str], ...]


def task_suppressions(files: TaskFiles) -> Suppressions:
    """Those of `[metadata.author.ignore]`: `rule = "reason"` or `rule = {reason = "...", until = 2027-01-31}`."""
    table = files.table("metadata", "author").get("ignore")
    if table is None:
        return Suppressions((), ())
    base: tuple[str | int, ...] = ("metadata", "author", "ignore")
    if not isinstance(table, dict):
        return Suppressions((), ((base, "must be a table of rule = reason", 'write rule-name = "why"'),))
    entries = ((rule, None, value, (*base, rule)) for rule, value in table.items())
    return _read(entries)


def suite_suppressions(suite: Suite) -> Suppressions:
    """Those of `[[validate.suppress]]` in author.toml: rule, reason, optionally task and until.

    Raises:
        CheckError: one is malformed: a suite's own file is wrong, so nothing can be said of its tasks.
    """
    raw = suite.settings.validate.get("suppress", [])
    entries: list[tuple[Any, Any, Any, tuple[str | int, ...]]] = []
    for index, item in enumerate(raw):
        if not isinstance(item, dict) or not isinstance(item.get("rule"), str):
            raise CheckError(
                f"entry {index + 1} of validate.suppress names no rule",
                path=suite.settings.path,
                hint='write {rule = "...", task = "H23", reason = "why"}',
            )
        entries.append((item["rule"], item.get("task"), item, ("validate", "suppress", index)))
    found = _read(entries)
    for key, message, fix in found.faults:
        raise CheckError(f"{'.'.join(map(str, key))}: {message}", path=suite.settings.path, hint=fix)
    return found


def _read(entries: Iterable[tuple[Any, Any, Any, tuple[str | int, ...]]]) -> Suppressions:
    items: list[Suppression] = []
    faults: list[tuple[tuple[str | int, ...], str, str]] = []
    for rule, task, value, key in entries:
        reason = value if isinstance(value, str) else None
        until: Any = None
        if isinstance(value, dict):
            reason, until = value.get("reason"), value.get("until")
        if isinstance(until, str):
            with contextlib.suppress(ValueError):
                until = datetime.date.fromisoformat(until)
        if isinstance(until, datetime.datetime):
            until = until.date()
        if rule not in all_rules():
            from difflib import get_close_matches

            near = get_close_matches(rule, all_rules(), n=1)
            hint = f"did you mean '{near[0]}'?" if near else "'author rules' lists the rules"
            faults.append((key, f"there is no rule '{rule}' to suppress", hint))
        elif not isinstance(reason, str) or not reason.strip():
            faults.append(
                (key, f"'{rule}' is suppressed without a reason", f'write {rule} = "why it is right"')
            )
        elif until is not None and not isinstance(until, datetime.date):
            faults.append((key, f"'{until}' is no date", "write until = 2027-01-31"))
        else:
            items.append(Suppression(rule, reason, until, task if isinstance(task, str) else None, key))
    return Suppressions(tuple(items), tuple(faults))


@dataclass(frozen=True)
class Plan:
    """What a run does on the tasks of one suite (or of none).

    Attributes:
        rules: to run, by name, before a task's own `[metadata.harbor.lint]` has its say.
        explicit: rules that the command line or author.toml selected by name; Harbor's table cannot silence them.
        severity: rule -> its weight in this run.
        suppressions: of author.toml.
    """

    rules: frozenset[str]
    explicit: frozenset[str]
    severity: Mapping[str, Severity]
    suppressions: tuple[Suppression, ...]

    def for_task(self, files: TaskFiles) -> list[Rule]:
        """The rules for one task, in their order."""
        names = set(self.rules)
        if files.suite is None:
            names -= {rule.name for rule in all_rules().values() if rule.pack == "suite"}
        lint = files.table("metadata", "harbor", "lint")
        harbor = {rule.name for rule in all_rules().values() if rule.harbor} - self.explicit
        select = _names(lint.get("select"))
        if isinstance(lint.get("select"), list):
            names = (names - harbor) | (select & harbor)
        names |= _names(lint.get("extend-select")) & harbor
        names -= _names(lint.get("ignore")) & harbor
        return [rule for name, rule in all_rules().items() if name in names]


def _names(value: Any) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def make_plan(
    suite: Suite | None,
    *,
    select: Iterable[str],
    ignore: Iterable[str],
    severity: Mapping[str, str],
) -> Plan:
    """Settings of the command line over those of author.toml over the defaults.

    Raises:
        CheckError: a name means no rule, or a weight is none.
    """
    table = suite.settings.validate if suite is not None else {}
    selected, ignored = list(select), list(ignore)
    if not selected:
        selected = _strings(suite, table, "select")
    ignored += _strings(suite, table, "ignore")
    names = set(matching(selected)) if selected else {r.name for r in all_rules().values() if r.default}
    explicit = {name for name in selected if name in all_rules()}
    weights: dict[str, Severity] = {}
    for pattern, weight in [*table.get("severity", {}).items(), *severity.items()]:
        if weight not in get_args(Severity):
            raise CheckError(f"'{weight}' is no severity", hint="use error, warning or note")
        for name in matching([pattern]):
            weights[name] = weight
    items = suite_suppressions(suite).items if suite is not None else ()
    return Plan(frozenset(names - set(matching(ignored))), frozenset(explicit), weights, items)


def _strings(suite: Suite | None, table: Mapping[str, Any], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        path = suite.settings.path if suite is not None else None
        raise CheckError(
            f"validate.{key} must be a list of rule names", path=path, hint='write ["rule-name"]'
        )
    return list(value)


def fault_problems(files: TaskFiles) -> Iterator[Problem]:
    """What is wrong with a task's own suppressions."""
    for key, message, fix in task_suppressions(files).faults:
        line, column = files.where(*key)
        yield Problem(message, "task.toml", line, column, fix)
