"""Findings as GitHub workflow commands: annotations beside the changed lines."""

from __future__ import annotations

from pathlib import Path

from harbor_author.checks import Finding, Report
from harbor_author.output.findings_text import relative, summary_line

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, *, base: Path) -> str:
    """One command a finding, then the summary line."""
    return "\n".join([*(_command(finding, base) for finding in report.findings), summary_line(report)])


def _command(finding: Finding, base: Path) -> str:
    properties = {"file": relative(finding.path, base)}
    if finding.line is not None:
        properties["line"] = str(finding.line)
        if finding.column is not None:
            properties["col"] = str(finding.column)
    properties["title"] = f"{finding.task}: {finding.rule}"
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = f"{finding.message}\nfix: {finding.fix}" if finding.fix else finding.message
    return f"::{_COMMANDS[finding.severity]} {told}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
