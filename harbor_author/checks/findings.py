"""What a check says: plain data, rendered elsewhere (`harbor_author.output`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
#: From the gravest down; the order in which a reader wants them.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule yields: a fault, before it is bound to its task and rule.

    Attributes:
        message: what is wrong, one sentence.
        path: relative to the task's directory, forward slashes; "" is the directory itself.
        line, column: 1-based, None where the fault has no place in the text.
        fix: what to do, when the rule's own remedy is not enough.
        severity: only when this fault is of another weight than its rule.
    """

    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    fix: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one task.

    Attributes:
        task: ID of the task, or its directory's name.
        path: absolute path of the file at fault, printable (bytes that are no text are escaped).
        line, column: 1-based or None.
        fix: what to do about it.
    """

    task: str
    rule: str
    severity: Severity
    path: str
    line: int | None
    column: int | None
    message: str
    fix: str | None

    @property
    def fingerprint(self) -> str:
        """Stable while line numbers move: for SARIF's `partialFingerprints`."""
        name = self.path.rsplit("/", 1)[-1]
        return hashlib.sha256(f"{self.task}\0{self.rule}\0{name}\0{self.message}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One task's findings, which suppressions of author.toml silenced something (their keys), and the name that it
    claims."""

    findings: tuple[Finding, ...]
    used: frozenset[tuple[str | int, ...]]
    name: str | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all tasks of a run."""

    tasks: int
    errors: int
    warnings: int
    notes: int


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one run: its findings in order of task, path and line.

    Attributes:
        tasks: label of every task that was looked at, in order; a task without findings is here too.
    """

    findings: tuple[Finding, ...]
    tasks: tuple[str, ...]

    @property
    def summary(self) -> Summary:
        counts = dict.fromkeys(SEVERITIES, 0)
        for finding in self.findings:
            counts[finding.severity] += 1
        return Summary(len(self.tasks), counts["error"], counts["warning"], counts["note"])

    @property
    def ok(self) -> bool:
        """No finding is an error."""
        return all(finding.severity != "error" for finding in self.findings)


def printable(text: str) -> str:
    """`text` with control characters and bytes that are no UTF-8 written as escapes, on one line."""
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if clean.isprintable():
        return clean
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in clean
    )


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By path, line, column, then gravity and name: the order in which a file is read."""
    return sorted(
        findings,
        key=lambda f: (f.path, f.line or 0, f.column or 0, SEVERITIES.index(f.severity), f.rule, f.message),
    )
