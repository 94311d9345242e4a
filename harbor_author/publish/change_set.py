"""The description of a change set, as Markdown: commands, results, cards, boundaries."""

from __future__ import annotations

import re
from typing import Any

from harbor_author.proof import read_receipt
from harbor_author.suite import Suite, Task
from harbor_author.suite.task_facts import read_facts


def change_set(suite: Suite, task: Task) -> str:
    """What a reviewer reads of a delivered task; the results are those of its receipt."""
    facts = read_facts(task)
    receipt = read_receipt(task)
    assert receipt is not None, "the gate has a receipt"
    cards = suite.cards()
    parts = [
        f"# {task.id}: {_line(facts.title)}",
        f"`tasks/{task.name}`, {facts.mode}, {facts.kind}. Package {_digest(receipt.document)}.",
        "## Commands",
        f"```sh\nauthor validate {task.id}\nauthor oracle-check {task.id} --matrix\nauthor sync --check\n```",
        "## Results",
        _trials(receipt.trials),
    ]
    ablation = receipt.document.get("ablation")
    if isinstance(ablation, dict):
        parts.append(_ablation(ablation))
    repeats = receipt.document.get("repeats")
    if isinstance(repeats, dict):
        counts = "; ".join(f"{name}: {_counted(rewards)}" for name, rewards in repeats.items())
        parts.append(f"Repeated in fresh containers: {counts}.")
    parts.append("## Cards")
    named = [card for card in facts.cards if cards.get(card)]
    parts.append("\n".join(f"- {card}: {_line(cards.cards[card].title)}" for card in named) or "None.")
    parts.append("## Grading boundary")
    judged = _points(receipt.trials) or list(facts.breakdown)
    points = ", ".join(f"{_line(check)} {worth}" for check, worth in judged)
    parts.append(f"Judged: {points}." if points else "Judged: see the judge's head comment.")
    parts.append(f"Not judged: {_line(facts.boundary) or 'not stated'}")
    host = (receipt.document.get("inputs") or {}).get("host")
    if isinstance(host, dict):
        parts.append(f"Proved on dsh {host.get('dsh')} ({host.get('source')}), {host.get('image')}.")
    return "\n\n".join(parts) + "\n"


def _points(trials: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The checks as the judge itself named them, with their points; its source may compute them."""
    checks = next((trial.get("checks") for trial in trials if trial.get("name") == "oracle"), None)
    if not isinstance(checks, dict):
        return []
    pairs = [(str(name), value[-1]) for name, value in checks.items() if isinstance(value, list) and value]
    return [(name, f"{points:g}") for name, points in pairs if isinstance(points, int | float)]


def _trials(trials: list[dict[str, Any]]) -> str:
    rows = ["| trial | score | expected | verdict |", "|---|---|---|---|"]
    for trial in trials:
        name = str(trial.get("name"))
        if "#" in name:
            continue  # repetitions are counted below
        reward = trial.get("reward")
        score = f"{reward * 100:g}" if isinstance(reward, int | float) else "none"
        rows.append(
            f"| {_line(name)} | {score} | {_line(_scores(str(trial.get('expected'))))} | {trial.get('verdict')} |"
        )
    return "\n".join(rows)


def _ablation(ablation: dict[str, Any]) -> str:
    changes = ablation.get("changes")
    declared = [
        name
        for name, change in (changes or {}).items()
        if isinstance(change, dict) and change.get("state") == "declared"
    ]
    text = f"Ablation: {ablation.get('killed')} of {ablation.get('total')} changes are noticed by a check"
    return text + (f"; declared as not graded: {', '.join(map(_line, declared))}." if declared else ".")


def _counted(rewards: Any) -> str:
    if not isinstance(rewards, dict):
        return "?"
    return ", ".join(f"{reward} x{count}" for reward, count in rewards.items())


def _digest(document: Any) -> str:
    return f"`{(document.get('inputs') or {}).get('package', '?')}`"


def _scores(expected: str) -> str:
    return re.sub(r"\d+(?:\.\d+)?", lambda match: f"{float(match[0]) * 100:g}", expected)


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()
