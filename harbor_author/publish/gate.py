"""What must hold before a task is delivered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harbor_author.checks import Finding, validate
from harbor_author.errors import AuthorError
from harbor_author.integrity import directory_lock, write_atomic
from harbor_author.integrity.manifest import manifest_text, plan_manifest
from harbor_author.proof import check_receipt
from harbor_author.suite import Suite, Task
from harbor_author.suite.register_sync import plan_registers

#: The rule whose findings are notes while a task is written, and stop its delivery.
PLACEHOLDER_RULE = "placeholder"
#: Trials that only a whole matrix has.
MATRIX_TRIALS = ("untouched", "oracle", "oracle#5", "forged")
_SHOWN = 5


class PublishError(AuthorError):
    """A task cannot be delivered at all: it is in no suite, or Harbor's own command is missing."""


@dataclass(frozen=True)
class Gate:
    """One condition of delivery.

    Attributes:
        details: what falls short, one line each; empty when it holds.
        fix: what to do about it.
    """

    name: str
    details: tuple[str, ...]
    fix: str

    @property
    def holds(self) -> bool:
        return not self.details


def gates(suite: Suite, task: Task) -> list[Gate]:
    """Every condition, whether it holds or not, in the order in which an author meets them. Nothing is run or written.

    Raises:
        PublishError: the task is not one of the suite's.
        AuthorError: the suite cannot be read.
    """
    if task.suite is None or task.id is None:
        raise PublishError(
            f"'{task.name}' is no task of a suite",
            path=task.path,
            hint="only tasks/<ID>-<slug> of a suite can be published",
        )
    label = task.id
    findings = validate([task], suite=suite).findings
    placeholders = [finding for finding in findings if finding.rule == PLACEHOLDER_RULE]
    faults = [finding for finding in findings if finding.severity != "note"]
    drifts = [
        f"{drift.path}:{drift.line}: {drift.message}"
        for plan in plan_registers(suite)
        for drift in plan.drifts
    ]
    currency = check_receipt(task, None, needs=MATRIX_TRIALS)
    proof = [f"the proof is {currency.state}: {reason}" for reason in currency.because]
    if currency.state == "missing":
        proof = ["there is no proof"]
    elif currency.receipt is not None and currency.receipt.verdict != "pass":
        proof.append(f"the proof's verdict is {currency.receipt.verdict}")
    manifest = [
        f"{finding.message} ({finding.fix})"
        for finding in plan_manifest(suite).findings
        if finding.task == label and not finding.writable
    ]
    return [
        Gate("no placeholder", _lines(placeholders, task), "write what the placeholders ask for"),
        Gate("validate is clean", _lines(faults, task), f"author validate {label}, author fix {label}"),
        Gate("registers in step", _cut(drifts), "author sync"),
        Gate("matrix passed and current", _cut(proof), f"author oracle-check {label} --matrix"),
        Gate("manifest", _cut(manifest), "author manifest"),
    ]


def record(suite: Suite, task: Task) -> Path | None:
    """Enter a task that passed into the suite's manifest; the path when that changed the file."""
    with directory_lock(suite.root):
        plan = plan_manifest(suite)
        assert task.id is not None
        if plan.before.get(task.id) == plan.after[task.id]:
            return None
        write_atomic(plan.path, manifest_text({**plan.before, task.id: plan.after[task.id]}))
        return plan.path


def _lines(findings: list[Finding], task: Task) -> tuple[str, ...]:
    lines = []
    for finding in findings:
        place = finding.path.removeprefix(f"{task.path}/")
        lines.append(
            f"{place}{f':{finding.line}' if finding.line else ''}: {finding.rule}: {finding.message}"
        )
    return _cut(lines)


def _cut(lines: list[str]) -> tuple[str, ...]:
    if len(lines) <= _SHOWN:
        return tuple(lines)
    return (*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more")
