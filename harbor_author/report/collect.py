"""From a suite on disk to what its report shows: receipts, findings, cards, differences."""

from __future__ import annotations

import contextlib
import datetime
import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harbor_author import __version__
from harbor_author.checks import Finding, validate
from harbor_author.proof import Currency, check_receipt
from harbor_author.report.model import Bar, Excerpt, FileDiff, HeatMap, SuiteView, TaskView
from harbor_author.suite import Suite, SuiteError, Task, parse_toml, read_text, task_mode
from harbor_author.suite.coverage import card_coverage

_AROUND = 2
_MAX_FINDINGS = 40
_MAX_LINE = 200
_MAX_DIFF_LINES = 160
_MAX_DIFF_BYTES = 200_000
_EXPECTED = re.compile(r"(?:at most (?P<most>[\d.]+)|(?P<low>[\d.]+) to (?P<high>[\d.]+)|(?P<one>[\d.]+))$")


def collect(suite: Suite, tasks: Sequence[Task]) -> SuiteView:
    """Look at some tasks of a suite: validate them, read their receipts. No container is started.

    Raises:
        SuiteError: the suite cannot be read.
    """
    findings: dict[str, list[Finding]] = {}
    for finding in validate(tasks, suite=suite).findings if tasks else ():
        findings.setdefault(finding.task, []).append(finding)
    coverage = card_coverage(suite)
    cards = {
        card_id: (card.title, coverage.cited_by.get(card_id, ()))
        for card_id, card in suite.cards().cards.items()
    }
    views = tuple(
        _task_view(task, index, findings.get(task.label, []), coverage.cites.get(task.label, ()))
        for index, task in enumerate(tasks)
    )
    made = datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return SuiteView(suite.settings.name, made, __version__, views, cards)


def _task_view(task: Task, index: int, findings: list[Finding], cards: tuple[str, ...]) -> TaskView:
    document: Mapping[str, Any] = {}
    with contextlib.suppress(SuiteError):  # one of the findings says so
        document = parse_toml(read_text(task.path / "task.toml"), path=task.path / "task.toml").document
    described = document.get("task")
    currency = check_receipt(task, None)
    receipt: Mapping[str, Any] = currency.receipt.document if currency.receipt else {}
    return TaskView(
        anchor=f"task-{index}",
        label=task.label,
        name=task.name,
        title=str(described.get("description", "")) if isinstance(described, dict) else "",
        series=task.task_name.series if task.task_name else "?",
        mode=task_mode(task, document),
        cards=cards,
        state=currency.state,
        verdict=str(receipt.get("verdict") or "none"),
        because=(*currency.because, *currency.notes),
        bars=_bars(currency),
        heat_map=_heat_map(receipt),
        findings=tuple(_excerpt(finding, task.path) for finding in findings[:_MAX_FINDINGS]),
        diffs=_diffs(task.path),
        inputs=_flat(receipt.get("inputs")),
        argument=task.id or task.name,
    )


def _bars(currency: Currency) -> tuple[Bar, ...]:
    bars = []
    for trial in currency.receipt.trials if currency.receipt else []:
        expected = str(trial.get("expected", ""))
        low, high = _band(expected)
        bars.append(
            Bar(
                name=str(trial.get("name")),
                verdict=str(trial.get("verdict")),
                reward=_number(trial.get("reward")),
                expected=_as_score(expected),
                low=low,
                high=high,
                cause=str(trial.get("cause") or ""),
                why=str(trial.get("why") or ""),
                duration_s=_number(trial.get("duration_s")) or 0.0,
                solve_s=_number(trial.get("solve_s")),
                judge_s=_number(trial.get("judge_s")),
            )
        )
    return tuple(bars)


def _band(expected: str) -> tuple[float, float]:
    """The rewards that a trial's expectation allows, as shares of full marks."""
    match = _EXPECTED.fullmatch(expected)
    if match is None:
        return 0.0, 1.0
    if match["most"]:
        return 0.0, float(match["most"])
    if match["low"]:
        return float(match["low"]), float(match["high"])
    return float(match["one"]), float(match["one"])


def _as_score(expected: str) -> str:
    return re.sub(r"\d+(?:\.\d+)?", lambda match: f"{float(match[0]) * 100:g}", expected)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _heat_map(receipt: Mapping[str, Any]) -> HeatMap | None:
    """From the receipt's `ablation`: change -> `state`, `by` (the checks that noticed)."""
    ablation = receipt.get("ablation")
    changes = ablation.get("changes") if isinstance(ablation, dict) else None
    if not isinstance(changes, dict) or not changes:
        return None
    columns: dict[str, None] = {}
    for trial in receipt.get("trials") or ():
        checks = trial.get("checks") if isinstance(trial, dict) else None
        columns |= dict.fromkeys(checks if isinstance(checks, dict) else ())
    noticed: dict[str, tuple[str, ...]] = {}
    states: dict[str, str] = {}
    for name, change in changes.items():
        by = tuple(str(check) for check in change.get("by") or ()) if isinstance(change, dict) else ()
        noticed[name] = by
        states[name] = str(change.get("state")) if isinstance(change, dict) else "error"
        columns |= dict.fromkeys(by)
    return HeatMap(tuple(columns), noticed, states)


def _excerpt(finding: Finding, task_dir: Path) -> Excerpt:
    path = Path(finding.path)
    name = path.relative_to(task_dir).as_posix() if path.is_relative_to(task_dir) else path.name
    lines: list[tuple[int, str, bool]] = []
    if (
        finding.line is not None
        and finding.severity != "note"  # a note names a place; many of them need no source beside
        and path.is_file()
        and not path.is_symlink()
        and path.stat().st_size <= 1 << 20
    ):
        source = path.read_bytes().decode("utf-8", "replace").split("\n")
        first = max(finding.line - 1 - _AROUND, 0)
        for number, text in enumerate(source[first : finding.line + _AROUND], first + 1):
            lines.append((number, text[:_MAX_LINE], number == finding.line))
    place = name + (f":{finding.line}" if finding.line else "")
    return Excerpt(finding.rule, finding.severity, place, finding.message, finding.fix or "", tuple(lines))


def _diffs(task_dir: Path) -> tuple[FileDiff, ...]:
    """How the reference solution changes the fixture: `solution/plugin/` against it, and the script that places it."""
    after = task_dir / "solution" / "plugin"
    before = task_dir / "environment" / "fixture"
    script = _lines(task_dir / "solution" / "solve.sh")
    diffs = (
        [FileDiff("solve.sh", tuple(f" {line[:_MAX_LINE]}" for line in script[:_MAX_DIFF_LINES]))]
        if script
        else []
    )
    if not after.is_dir() or after.is_symlink():
        return tuple(diffs)
    budget = _MAX_DIFF_BYTES
    for path in sorted(after.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(after).as_posix()
        new, old = _lines(path), _lines(before / name)
        if new is None or old is None:
            diffs.append(FileDiff(name, ("(not text)",)))
            continue
        lines = [
            line[:_MAX_LINE] for line in difflib.unified_diff(old, new, "fixture", "solution", lineterm="")
        ]
        kept = lines[:_MAX_DIFF_LINES]
        budget -= sum(len(line) for line in kept)
        if budget < 0:
            diffs.append(FileDiff(name, (), cut=len(lines)))
        elif lines:
            diffs.append(FileDiff(name, tuple(kept), cut=len(lines) - len(kept)))
    return tuple(diffs)


def _lines(path: Path) -> list[str] | None:
    if path.is_symlink() or not path.is_file():
        return []
    data = path.read_bytes()
    if len(data) > _MAX_DIFF_BYTES or b"\0" in data:
        return None
    return data.decode("utf-8", "replace").splitlines()


def _flat(inputs: Any, prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in inputs.items() if isinstance(inputs, dict) else ():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key} ")
        elif value is not None:
            flat[f"{prefix}{key}"] = str(value)
    return flat
