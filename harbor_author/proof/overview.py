"""Receipts of many tasks at a glance: which hold, which do not and by what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harbor_author.proof.receipts import Currency, check_receipt, known_bases
from harbor_author.sandbox.quick import image_ids
from harbor_author.suite import Task


@dataclass(frozen=True)
class TaskReceipt:
    """A task's receipt and whether it holds."""

    task: str
    currency: Currency

    @property
    def holds(self) -> bool:
        """Whether the receipt is current and says pass."""
        receipt = self.currency.receipt
        return self.currency.state == "current" and receipt is not None and receipt.verdict == "pass"

    def document(self) -> dict[str, Any]:
        receipt = self.currency.receipt
        return {
            "task": self.task,
            "state": self.currency.state,
            "verdict": receipt.verdict if receipt else None,
            "because": list(self.currency.because),
            "notes": list(self.currency.notes),
            "trials": len(receipt.trials) if receipt else 0,
        }


def look_at(tasks: Iterable[Task]) -> list[TaskReceipt]:
    """Read and check every task's receipt; base images are asked of the engine once, if it answers quickly."""
    tasks = list(tasks)
    names = {name for task in tasks for name in known_bases(task)}
    bases = image_ids(sorted(names))
    return [TaskReceipt(task.label, check_receipt(task, bases)) for task in tasks]


def lines(found: TaskReceipt) -> list[str]:
    """What people read of one receipt."""
    currency, receipt = found.currency, found.currency.receipt
    head = f"{found.task}: {currency.state}"
    if receipt is not None:
        head += f", {receipt.verdict}"
        if receipt.document.get("cause"):
            head += f" ({receipt.document['cause']})"
        head += f", {len(receipt.trials)} trials"
    return [
        head,
        *(f"  stale by: {text}" for text in currency.because),
        *(f"  note: {text}" for text in currency.notes),
    ]


def details(found: TaskReceipt) -> list[str]:
    """The whole receipt for people: trials, then what it is bound to."""
    shown = lines(found)
    receipt = found.currency.receipt
    if receipt is None:
        return shown
    width = max((len(str(trial.get("name"))) for trial in receipt.trials), default=0)
    for trial in receipt.trials:
        reward = trial.get("reward")
        text = "-" if reward is None else f"{reward:g}" if isinstance(reward, (int, float)) else str(reward)
        cause = f" {trial['cause']}" if trial.get("cause") else ""
        shown.append(
            f"  {str(trial.get('name')).ljust(width)}  {text.rjust(5)}  {trial.get('verdict')}{cause}"
        )
    inputs = receipt.document.get("inputs")
    if isinstance(inputs, dict):
        shown += [f"  {key}: {value}" for key, value in inputs.items() if value]
    return shown
