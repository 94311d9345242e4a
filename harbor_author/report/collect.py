"""From a suite on disk to what its report shows: receipts, findings, cards, differences."""

from __future__ import annotations

import contextlib
import datetime
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harbor_author import __version__
from harbor_author.checks import Finding, validate
from harbor_author.output.bars import as_scores, band
from harbor_author.proof import CAUSES, Currency
from harbor_author.proof.overview import look_at
from harbor_author.report.apart import apart, by_parts
from harbor_author.report.differences import MAX_LINE, differences
from harbor_author.report.model import Bar, Excerpt, HeatMap, SuiteView, TaskView
from harbor_author.suite import Suite, SuiteError, Task, parse_toml, read_plain, read_text, task_mode
from harbor_author.suite.coverage import card_coverage

_AROUND = 2
_MAX_FINDINGS = 40
_MAX_SOURCE = 1 << 20
_WEIGHT = {"error": 0, "warning": 1, "note": 2}
#: What `oracle-check` does unasked; a receipt of more needs the option to come about again.
_REPEATS = 5
_BUDGET = 24
_ABLATION = "ablation:"


def collect(suite: Suite, tasks: Sequence[Task]) -> SuiteView:
    """Look at some tasks of a suite: validate them, read their receipts. No container is started.

    Raises:
        SuiteError: the suite cannot be read.
    """
    covering = apart(lambda: card_coverage(suite))
    findings: dict[str, list[Finding]] = {}
    for finding in validate(tasks, suite=suite, remember=True).findings if tasks else ():
        findings.setdefault(finding.task, []).append(finding)
    coverage = covering()
    cards = suite.cards()

    def views(part: Sequence[tuple[int, Task]]) -> list[TaskView]:
        return [
            _task_view(
                task, index, found.currency, findings.get(task.label, []), coverage.cites.get(task.label, ())
            )
            for (index, task), found in zip(part, look_at(task for _, task in part), strict=True)
        ]

    made = datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return SuiteView(
        suite.settings.name,
        made,
        __version__,
        tuple(by_parts(views, list(enumerate(tasks)))),
        {id_: (card.title, coverage.cited_by.get(id_, ())) for id_, card in cards.cards.items()},
    )


def _task_view(
    task: Task, index: int, currency: Currency, findings: list[Finding], cards: tuple[str, ...]
) -> TaskView:
    document: Mapping[str, Any] = {}
    with contextlib.suppress(SuiteError):  # one of the findings says so
        document = parse_toml(read_text(task.path / "task.toml"), path=task.path / "task.toml").document
    described = document.get("task")
    receipt: Mapping[str, Any] = currency.receipt.document if currency.receipt else {}
    bars = tuple(_bar(trial) for trial in (currency.receipt.trials if currency.receipt else ()))
    findings = sorted(findings, key=lambda finding: _WEIGHT[finding.severity])
    counts = dict.fromkeys(_WEIGHT, 0)
    for finding in findings:
        counts[finding.severity] += 1
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
        story=_story(receipt, bars),
        bars=bars,
        drawn=tuple(_drawn(bars)),
        heat_map=_heat_map(receipt),
        counts=counts,
        findings=tuple(_excerpt(finding, task.path) for finding in findings[:_MAX_FINDINGS]),
        diffs=differences(task.path),
        inputs=_inputs(receipt),
        reproduce=_reproduce(task, receipt, bars, cards),
    )


def _bar(trial: Mapping[str, Any]) -> Bar:
    expected = str(trial.get("expected", ""))
    low, high = band(expected)
    checks = trial.get("checks")
    return Bar(
        name=str(trial.get("name")),
        verdict=str(trial.get("verdict")),
        reward=_number(trial.get("reward")),
        expected=as_scores(expected),
        low=low,
        high=high,
        cause=str(trial.get("cause") or ""),
        why=str(trial.get("why") or ""),
        duration_s=_number(trial.get("duration_s")) or 0.0,
        solve_s=_number(trial.get("solve_s")),
        judge_s=_number(trial.get("judge_s")),
        message=str(trial.get("message") or ""),
        checks=tuple(_checks(checks)) if isinstance(checks, dict) else (),
    )


def _checks(checks: Mapping[str, Any]) -> Iterable[tuple[str, float, float]]:
    for name, value in checks.items():
        if isinstance(value, list) and len(value) == 2:
            earned, points = _number(value[0]), _number(value[1])
            if earned is not None and points is not None:
                yield str(name), earned, points


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _drawn(bars: Sequence[Bar]) -> Iterable[Bar]:
    """Repetitions `oracle#2` that passed with the same reward count as one; ablation has its heat map."""
    again: dict[tuple[str, float | None], int] = {}
    for bar in bars:
        if _repeats(bar):
            key = (bar.name.partition("#")[0], bar.reward)
            again[key] = again.get(key, 0) + 1
    first: set[tuple[str, float | None]] = {(bar.name, bar.reward) for bar in bars if bar.verdict == "pass"}
    for bar in bars:
        key = (bar.name.partition("#")[0], bar.reward)
        if bar.verdict == "pass" and bar.name.startswith(_ABLATION):
            continue
        if _repeats(bar) and key in first:
            continue
        yield _counted(bar, 1 + again.get(key, 0) if bar.verdict == "pass" and bar.name == key[0] else 1)


def _repeats(bar: Bar) -> bool:
    return bar.verdict == "pass" and "#" in bar.name


def _counted(bar: Bar, count: int) -> Bar:
    return replace(bar, count=count) if count != 1 else bar


def _story(receipt: Mapping[str, Any], bars: Sequence[Bar]) -> tuple[str, ...]:
    """Of a proof that did not pass: what is wrong, by which trials and checks, and what to do next."""
    cause = CAUSES.get(str(receipt.get("cause") or ""))
    told = []
    if cause is not None:
        told.append(f"{cause.name}: {cause.meaning}.")
    full = {name: earned for bar in bars if bar.name == "oracle" for name, earned, _ in bar.checks}
    for bar in bars:
        if bar.verdict == "pass":
            continue
        got = "no score" if bar.reward is None or bar.verdict == "error" else f"{bar.reward * 100:g}"
        line = f"{bar.name}: {got}, expected {bar.expected}."
        if bar.message and not bar.message.startswith("reward "):  # which says the same
            line += f" {bar.message[:1].upper()}{bar.message[1:]}."
        told.append(line + (f" It stands for: {bar.why}" if bar.why else ""))
        low = bar.verdict == "fail" and bar.reward is not None and bar.reward < bar.low
        for name, earned, points in bar.checks:
            if low and earned < points:
                told.append(f"Check {name} gave {earned:g} of {points:g} points.")
            elif not low and bar.verdict == "fail" and earned > 0 and full.get(name, points) > 0:
                told.append(f"Check {name} gave {earned:g} of {points:g} points all the same.")
    if cause is not None:
        told.append(f"What to do: {cause.hint}.")
    return tuple(told)


def _heat_map(receipt: Mapping[str, Any]) -> HeatMap | None:
    """From the receipt's `ablation`: change -> `state`, `reward`, `by` (the checks that noticed)."""
    ablation = receipt.get("ablation")
    changes = ablation.get("changes") if isinstance(ablation, dict) else None
    if not isinstance(ablation, dict) or not isinstance(changes, dict) or not changes:
        return None
    columns: dict[str, None] = {}
    for trial in receipt.get("trials") or ():
        checks = trial.get("checks") if isinstance(trial, dict) else None
        columns |= dict.fromkeys(checks if isinstance(checks, dict) else ())
    noticed: dict[str, tuple[str, ...]] = {}
    for name, change in changes.items():
        noticed[name] = tuple(str(check) for check in change.get("by") or ())
        columns |= dict.fromkeys(noticed[name])
    return HeatMap(
        tuple(columns),
        noticed,
        {name: str(change.get("state")) for name, change in changes.items()},
        {name: _number(change.get("reward")) for name, change in changes.items()},
        tuple(_ablation_notes(ablation)),
    )


def _ablation_notes(ablation: Mapping[str, Any]) -> Iterable[str]:
    left = ablation.get("not_tried")
    left = left if isinstance(left, dict) else {}
    for words, names in (
        ("Not tried, since no judge is expected to look at it", left.get("prose")),
        ("Checks that no trial moved", ablation.get("checks_nothing_moves")),
        ("Checks that give points to the untouched fixture", ablation.get("checks_passing_unsolved")),
    ):
        if isinstance(names, list) and names:
            yield f"{words}: {', '.join(map(str, names))}."
    if _number(left.get("over_budget")):
        yield f"{left['over_budget']} more changes were over the budget."


def _excerpt(finding: Finding, task_dir: Path) -> Excerpt:
    path = Path(finding.path)
    name = path.relative_to(task_dir).as_posix() if path.is_relative_to(task_dir) else path.name
    lines: list[tuple[int, str, bool]] = []
    if finding.line is not None and finding.severity != "note":  # many notes name a place, and need no source
        with contextlib.suppress(OSError):
            data = read_plain(path)
            source = data[:_MAX_SOURCE].decode("utf-8", "replace").split("\n")
            first = max(finding.line - 1 - _AROUND, 0)
            for number, text in enumerate(source[first : finding.line + _AROUND], first + 1):
                lines.append((number, text[:MAX_LINE], number == finding.line))
    place = name + (f":{finding.line}" if finding.line else "")
    return Excerpt(finding.rule, finding.severity, place, finding.message, finding.fix or "", tuple(lines))


def _inputs(receipt: Mapping[str, Any]) -> dict[str, str]:
    found = {"tool": f"author {receipt['tool']}"} if "tool" in receipt else {}
    return found | _flat(receipt.get("inputs"))


def _flat(inputs: Any, prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in inputs.items() if isinstance(inputs, dict) else ():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key} ")
        elif value is not None:
            flat[f"{prefix}{key}"] = str(value)
    return flat


def _reproduce(
    task: Task, receipt: Mapping[str, Any], bars: Sequence[Bar], cards: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    name = shlex.quote(task.id or task.name)
    prove = f"author oracle-check {name}"
    if {bar.name for bar in bars} - {"untouched", "oracle"}:
        prove += " --matrix"
        oracles = sum(bar.name.partition("#")[0] == "oracle" for bar in bars)
        if oracles > _REPEATS:
            prove += f" --repeat {oracles}"
        ablations = sum(bar.name.startswith(_ABLATION) for bar in bars)
        if ablations > _BUDGET:
            prove += f" --budget {ablations}"
    steps = [
        ("Findings", f"author validate {name}"),
        ("Scores, times and ablation", f"{prove} --force"),
        ("A trial, to look into its container", f"{prove} --keep"),
    ]
    if receipt:
        steps.append(("Digests, and whether the receipt holds", f"author proof show {name}"))
    steps += [("What a card says", f"author cards show {shlex.quote(card)}") for card in cards[:1]]
    return tuple(steps)
