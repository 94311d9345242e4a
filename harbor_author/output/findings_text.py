"""Findings for people: grouped by task, one line a place, a remedy below it."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from harbor_author.checks import Finding, Report
from harbor_author.output.text import counted

_COLOURS = {"error": "31", "warning": "33", "note": "36"}


def place(finding: Finding, base: Path) -> str:
    """`path:line:column`, the path relative to `base` when it lies below."""
    text = relative(finding.path, base)
    if finding.line is not None:
        text += f":{finding.line}"
        if finding.column is not None:
            text += f":{finding.column}"
    return text


def relative(path: str, base: Path) -> str:
    """`path` relative to `base` when it lies below, else as it is; forward slashes."""
    prefix = str(base).rstrip("/") + "/"
    return path.removeprefix(prefix)


def render(report: Report, *, base: Path, colour: bool) -> str:
    """The whole report, ending in one summary line."""

    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colour else text

    lines: list[str] = []
    current = None
    for finding, after in zip_longest(report.findings, report.findings[1:]):
        if finding.task != current:
            if lines:
                lines.append("")
            current = finding.task
            lines.append(paint(finding.task, "1"))
        weight = paint(finding.severity, _COLOURS[finding.severity])
        lines.append(f"  {place(finding, base)}: {weight}: {finding.rule}: {finding.message}")
        # One remedy stands once below all that it is for.
        if finding.fix and (after is None or _remedy(after) != _remedy(finding)):
            lines.append(f"    fix: {finding.fix}")
    if lines:
        lines.append("")
    lines.append(summary_line(report))
    return "\n".join(lines)


def _remedy(finding: Finding) -> tuple[str, str, str | None]:
    return finding.task, finding.rule, finding.fix


def summary_line(report: Report) -> str:
    """`3 tasks: 2 errors, 1 warning, 0 notes`."""
    counts = report.summary
    return (
        f"{counted(counts.tasks, 'task')}: {counted(counts.errors, 'error')}, "
        f"{counted(counts.warnings, 'warning')}, {counted(counts.notes, 'note')}"
    )
