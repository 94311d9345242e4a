"""Findings as one JSON document, stable from release to release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harbor_author.checks import Report
from harbor_author.output.findings_text import relative

SCHEMA = "author/validate/1"


def document(report: Report, *, base: Path) -> dict[str, Any]:
    """Shape: `{schema, findings: [{task, rule, severity, path, line, column, message, fix}], summary}`.

    Paths are relative to `base` when they lie below it, absolute otherwise.
    """
    counts = report.summary
    return {
        "schema": SCHEMA,
        "findings": [
            {
                "task": finding.task,
                "rule": finding.rule,
                "severity": finding.severity,
                "path": relative(finding.path, base),
                "line": finding.line,
                "column": finding.column,
                "message": finding.message,
                "fix": finding.fix,
            }
            for finding in report.findings
        ],
        "summary": {
            "tasks": counts.tasks,
            "errors": counts.errors,
            "warnings": counts.warnings,
            "notes": counts.notes,
        },
    }
