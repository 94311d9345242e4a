"""Proof results for people and for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from harbor_author.output.bars import Bar, Style, as_scores, band, draw
from harbor_author.output.tables import display_width, table
from harbor_author.output.text import counted, printable
from harbor_author.proof.causes import NOT_THE_TASK
from harbor_author.proof.flaky import REPEAT_MARK, base_name, spreads
from harbor_author.proof.programme import ABLATION_PREFIX
from harbor_author.proof.reward import Check, parse_judge_line
from harbor_author.proof.verdict import Trial
from harbor_author.proof.workflow import ProofResult

SCHEMA = "author/oracle-check/1"
_TAIL_LINES = 15
_MOST = 20
_TRIED = "      tried: "
#: Causes for which solve.sh may be to blame.
_OF_THE_SOLUTION = ("reward-too-low", "solve-failed", "agent-timeout")
#: For tables that are no terminal's.
_UNLIMITED = 1 << 20
#: What a judge prints when something in it went wrong, although it gave a reward in the end.
_TROUBLE = re.compile(
    r"curl: \(\d+\)|Could not resolve|No such file|can't open|not found|Traceback|Permission denied|[Ee]rror:|"
    r"[Ff]ailed to|unreachable"
)


def document(results: Sequence[ProofResult]) -> dict[str, Any]:
    """The document of `oracle-check --json`."""
    return {
        "schema": SCHEMA,
        "results": [_result(result) for result in results],
        "summary": summary(results),
    }


def summary(results: Sequence[ProofResult]) -> dict[str, int]:
    """Tasks by verdict; `current` ones are among the passes."""
    counts = {
        verdict: sum(result.verdict == verdict for result in results) for verdict in ("pass", "fail", "error")
    }
    return {
        "tasks": len(results),
        **counts,
        "current": sum(result.is_current for result in results),
        "trials": sum(len(result.trials) for result in results if not result.is_current),
    }


def exit_status(results: Iterable[ProofResult]) -> int:
    """0 when all pass, 2 when this machine could not do it, 1 for a proof that failed or found nothing out."""
    status = 0
    for result in results:
        if result.verdict == "error" and result.cause in NOT_THE_TASK:
            return 2
        if result.verdict != "pass":
            status = 1
    return status


def _result(result: ProofResult) -> dict[str, Any]:
    return {
        "task": result.task,
        "verdict": result.verdict,
        "cause": result.cause,
        "message": result.message,
        "hint": result.hint,
        "log": result.log,
        "current": result.is_current,
        "duration_s": round(result.duration_s, 3),
        "notes": list(result.notes),
        "trials": [_trial(trial) for trial in result.trials],
        **result.details,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "name": trial.name,
        "verdict": trial.verdict,
        "cause": trial.cause,
        "message": trial.message,
        "reward": trial.reward,
        "expected": trial.expected,
        "harbor_error": trial.harbor_error,
        "score": trial.score,
        "max": trial.max,
        "reasons": list(trial.reasons),
        "checks": [
            {"id": check.id, "points": check.points, "earned": check.earned, "reason": check.reason}
            for check in trial.checks
        ],
        "duration_s": round(trial.duration_s, 3),
        "solve_s": round(trial.solve_s, 3),
        "judge_s": round(trial.judge_s, 3),
        "solve_exit": trial.solve_exit,
        "judge_exit": trial.judge_exit,
        "solve_log": trial.solve_log,
        "judge_log": trial.judge_log,
        "leftovers": list(trial.leftovers),
        "why": trial.why,
        "note": trial.note,
    }


def text(
    results: Sequence[ProofResult], *, verbose: bool = False, keep: bool = False, style: Style | None = None
) -> str:
    """What people read: one block a task, logs only where something is wrong.

    Args:
        style: of a terminal, on which each trial is drawn as a bar.
    """
    lines: list[str] = []
    for result in results:
        lines += _task_lines(result, verbose=verbose, keep=keep, style=style)
    if len(results) > 1:
        counts = summary(results)
        lines.append(
            f"{counted(counts['tasks'], 'task')}: {counts['pass']} pass ({counts['current']} current), "
            f"{counts['fail']} fail, {counts['error']} error"
        )
    return "\n".join(lines)


def _task_lines(result: ProofResult, *, verbose: bool, keep: bool, style: Style | None) -> list[str]:
    head = f"{result.task}: {result.verdict.upper()}"
    if result.is_current:
        head += " (current: nothing that it depends on has changed)"
    elif result.cause:
        head += f" {result.cause}"
    if result.message and not any(trial.cause == result.cause for trial in result.trials):
        head += f": {result.message}"
    lines = [printable(head)]
    shown, again = _without_repeats(result.trials, verbose=verbose)
    before: dict[tuple[object, ...], str] = {}
    for trial, first in zip(shown, _first_lines(shown, style), strict=True):
        lines.append(first)
        told = _told(trial, verbose=verbose or (trial.verdict != "pass" and not result.is_current))
        seen = [line for line in told if not line.startswith(_TRIED)]
        name = before.setdefault((trial.cause, trial.message, *seen), trial.name)
        if name != trial.name and len(seen) > 1 and not verbose:
            told = [line for line in told if line.startswith(_TRIED)] + [f"      the same as {name}"]
        if keep and trial.container:
            told.append(f"      kept: docker exec -it {trial.container[:12]} bash")
        lines += map(printable, told)
    rest = [*again, *_table(result, style), *(f"  note: {note}" for note in result.notes)]
    if result.log:
        rest += _quoted("log", result.log)
    rest += _fixes(result)
    return [*lines, *map(printable, rest)]


def _fixes(result: ProofResult) -> list[str]:
    """What to do about the verdict's cause, and about each other cause that trials have."""
    if result.verdict == "pass" or not result.hint:
        return []
    fixes = [f"  fix: {result.hint}"]
    others = {trial.cause: trial.hint for trial in reversed(result.trials) if trial.cause and trial.hint}
    for cause, hint in reversed(others.items()):
        if cause != result.cause and hint != result.hint:
            fixes.append(f"  fix {cause}: {hint}")
    return fixes


def _without_repeats(trials: Sequence[Trial], *, verbose: bool) -> tuple[list[Trial], list[str]]:
    """The trials that need a line of their own, and a line on each repeated submission. Ablation has its table.

    A repetition that went wrong just as the one before it is told by its line alone, unless `verbose`.
    """
    shown, told = [], set()
    for trial in trials:
        again = REPEAT_MARK in trial.name
        story = (base_name(trial.name), trial.verdict, trial.cause, trial.message)
        if trial.verdict == "pass":
            if again or trial.name.startswith(ABLATION_PREFIX):
                continue
        elif again and story in told and not verbose:
            continue
        told.add(story)
        shown.append(trial)
    return shown, [f"  repeated {spread}" for spread in spreads(trials)]


def _table(result: ProofResult, style: Style | None) -> list[str]:
    """Change against check: what noticed it."""
    ablation = result.details.get("ablation", {})
    changes = ablation.get("changes", {})
    if not changes:
        return []
    lines = ["  the oracle without:"]
    rows = []
    for change, row in changes.items():
        by = ", ".join(row["by"]) or ("the reward alone" if row["state"] == "killed" else "")
        said = {"killed": f"noticed by {by}", "blind": "NOT NOTICED", "declared": "declared as not graded"}
        reward = "-" if row["reward"] is None else f"{row['reward']:g}"
        rows.append((change, reward.rjust(5), said.get(row["state"], row["state"].upper())))
    drawn = table(rows, width=style.width - 4 if style else _UNLIMITED)
    lines += [f"    {line}" for line in drawn.splitlines()]
    killed, total = ablation["killed"], ablation["total"]
    if total:
        lines.append(f"  kill rate {killed}/{total} ({100 * killed // total} %)")
    return lines


def _first_lines(trials: Sequence[Trial], style: Style | None) -> list[str]:
    """Of each trial: name, score, bar, whether that is right and how long it took."""
    bars = []
    for trial in trials:
        low, high = band(trial.expected)
        share = trial.reward if trial.score is None or not trial.max else trial.score / trial.max
        if trial.verdict == "error":
            share = None  # nothing was found out, whatever the judge said
        bars.append(Bar(trial.name, share, low, high, _value(trial), trial.verdict, _outcome(trial, style)))
    if style is not None:
        return draw(bars, style)
    names = [printable(bar.name) for bar in bars]
    width = max(map(display_width, names), default=0)
    return [
        f"  {name}{' ' * (width - display_width(name))}  {bar.value.rjust(5)}  {printable(bar.tail)}"
        for name, bar in zip(names, bars, strict=True)
    ]


def _value(trial: Trial) -> str:
    if trial.score is not None:
        return f"{trial.score:g}" if trial.max == 100 else f"{trial.score:g}/{trial.max:g}"
    return "-" if trial.reward is None else f"{trial.reward:g}"


def _outcome(trial: Trial, style: Style | None) -> str:
    text = {"pass": "ok", "fail": "FAIL", "error": "ERROR"}[trial.verdict]
    if trial.verdict != "pass":
        text += f" {trial.cause}: {trial.message}"
    elif trial.note:
        text += f", remark: {trial.note}"
    elif style is not None and trial.expected not in ("0", "1", "any"):
        # What the marks in its bar stand for.
        text += f", {as_scores(trial.expected) if trial.max == 100 else trial.expected}"
    took = f", judge {trial.judge_s:.1f} s" if trial.judge_s else ""
    return f"{text}  ({trial.duration_s:.1f} s{took})"


def _told(trial: Trial, *, verbose: bool) -> list[str]:
    """What a trial has to tell besides: what it left behind, reasons and logs."""
    lines = []
    if trial.leftovers:
        lines.append(f"      left behind: {'; '.join(trial.leftovers[:8])}")
    if verbose:
        if trial.why and trial.verdict != "pass" and base_name(trial.name) not in ("untouched", "oracle"):
            lines.append(_TRIED + trial.why)
        checks = _telling_checks(trial)
        known = {f"{check.id}: {check.reason}" for check in checks}
        lines += [f"      - {reason}" for reason in trial.reasons[:_MOST] if reason not in known]
        lines += [
            f"      check {check.id}: {check.earned:g} of {check.points:g}"
            + (f", {check.reason}" if check.reason else "")
            for check in checks
        ]
        if trial.solve_log or trial.cause in _OF_THE_SOLUTION:
            lines += _quoted("solve.sh", trial.solve_log or "(printed nothing)")
        if trial.judge_log or trial.judge_exit is not None:
            lines += _quoted("judge", _without_line(trial) or "(printed nothing)")
    elif not trial.checks:  # a judge with a ledger of checks says for itself what went wrong
        troubles = [line for line in trial.judge_log.splitlines() if _TROUBLE.search(line)]
        if troubles and trial.name == "oracle":
            lines += _quoted("judge", "\n".join(troubles[-3:]))
    return lines


def _telling_checks(trial: Trial) -> list[Check]:
    """The checks that made the reward what it should not be."""
    if trial.cause == "reward-too-low":
        wrong = [check for check in trial.checks if check.earned < check.points]
    elif trial.cause == "reward-too-high":
        wrong = [check for check in trial.checks if check.earned > 0]
    else:
        wrong = []
    return wrong[:_MOST]


def _without_line(trial: Trial) -> str:
    """The judge's log without the JSON line whose reasons and checks are told in words."""
    if not (trial.reasons or trial.checks):
        return trial.judge_log
    lines = [line for line in trial.judge_log.splitlines() if parse_judge_line(line) is None]
    return "\n".join(lines) or "(nothing beside its verdict)"


def _quoted(title: str, log: str) -> list[str]:
    shown = log.splitlines()[-_TAIL_LINES:]
    return [f"      {title} |{' ' + line if line else ''}" for line in shown]
