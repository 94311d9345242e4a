"""Receipts of many tasks at a glance: which hold, which do not and by what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harbor_author.output.tables import table, terminal_width
from harbor_author.output.text import counted
from harbor_author.proof.receipts import Currency, check_receipt, known_bases
from harbor_author.sandbox.quick import image_ids
from harbor_author.suite import Task

#: Columns of what is no terminal: nothing is cut there.
_UNLIMITED = 1 << 20


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
        head += f", {counted(len(receipt.trials), 'trial')}"
    return [
        head,
        *(f"  stale by: {text}" for text in currency.because),
        *(f"  note: {text}" for text in currency.notes),
    ]


def details(found: TaskReceipt) -> list[str]:
    """The whole receipt for people: trials, what they say together, and what it is bound to."""
    shown = lines(found)
    receipt = found.currency.receipt
    if receipt is None:
        return shown
    rows: list[tuple[str, ...]] = [("trial", "reward", "must give", "verdict", "", "what")]
    rows += [_row(trial) for trial in receipt.trials]
    shown += ["", *_indented(rows)]
    repeats, ablation = receipt.document.get("repeats"), receipt.document.get("ablation")
    if isinstance(repeats, dict):
        for name, outcomes in repeats.items():
            if isinstance(outcomes, dict):
                shown.append(f"  repeated {name}: " + ", ".join(f"{key} x{n}" for key, n in outcomes.items()))
    if isinstance(ablation, dict) and ablation["total"]:
        shown.append(
            f"  {ablation['killed']} of {counted(ablation['total'], 'change')} of the oracle noticed when left out"
        )
    inputs = receipt.document["inputs"]
    bound = [(words, _said(inputs[key])) for key, words in _INPUTS.items() if inputs.get(key)]
    bound.append(("by", f"author {receipt.document.get('tool')}, {_runner(receipt.document.get('runner'))}"))
    return [*shown, "", "  bound to:", *_indented(bound, by="    ")]


#: What a receipt is bound to, in words.
_INPUTS = {
    "trial": "task and judge",
    "environment": "environment/",
    "fixture": "fixture",
    "dockerfile": "Dockerfile",
    "bases": "base images",
    "host": "host",
    "platform": "platform",
    "builder": "builder",
    "package": "Harbor's digest",
    "readme": "README.md",
}
_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")


def _row(trial: Mapping[str, Any]) -> tuple[str, ...]:
    reward, seconds = trial.get("reward"), trial.get("duration_s")
    verdict = str(trial["verdict"]).upper() if trial["verdict"] != "pass" else "ok"
    if trial.get("cause"):
        verdict += f" {trial['cause']}"
    told = [trial.get("message") if trial["verdict"] != "pass" else trial.get("why")]
    told += [f"left behind: {'; '.join(trial['leftovers'])}"] if trial.get("leftovers") else []
    return (
        trial["name"],
        "-" if reward is None else f"{reward:g}",
        str(trial.get("expected", "")),
        verdict,
        "" if seconds is None else f"{seconds:.1f} s",
        "; ".join(text for text in told if isinstance(text, str) and text),
    )


def _indented(rows: Sequence[Sequence[str]], *, by: str = "  ") -> list[str]:
    width = terminal_width()
    drawn = table(rows, width=_UNLIMITED if width is None else max(width - len(by), 1))
    return [by + line for line in drawn.splitlines()]


def _said(value: Any) -> str:
    """A value of `inputs` in words; a digest by its beginning, the rest is in the file."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(of)}" for key, of in value.items())
    return _DIGEST.sub(r"\1", str(value))


def _runner(runner: Any) -> str:
    if isinstance(runner, dict):
        return f"trials by {runner.get('name')} in {runner.get('environment')}"
    return "trials in containers of its own"
