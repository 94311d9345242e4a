"""Findings as JUnit XML: a test suite a task, a test case a rule that found something."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from harbor_author.checks import Finding, Report
from harbor_author.output.findings_text import place, relative

#: What XML 1.0 cannot hold, even as a reference; findings are printable already but for lone surrogates.
_FORBIDDEN = dict.fromkeys((*range(55296, 57344), 65534, 65535), "�")


def render(report: Report, *, base: Path) -> str:
    """The document. Errors and warnings are failures, notes are written out; a clean task is one passed case."""
    by_task: dict[str, list[Finding]] = {task: [] for task in report.tasks}
    for finding in report.findings:
        by_task.setdefault(finding.task, []).append(finding)
    suites = [_suite(task, findings, base) for task, findings in by_task.items()]
    cases = sum(max(1, len({f.rule for f in findings})) for findings in by_task.values())
    head = f'<testsuites name="author validate" tests="{cases}" failures="{_failed(by_task)}" errors="0" time="0">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>"])


def _failed(by_task: dict[str, list[Finding]]) -> int:
    return sum(len({f.rule for f in found if f.severity != "note"}) for found in by_task.values())


def _suite(task: str, findings: list[Finding], base: Path) -> str:
    rules: dict[str, list[Finding]] = {}
    for finding in findings:
        rules.setdefault(finding.rule, []).append(finding)
    cases = [_case(task, rule, found, base) for rule, found in rules.items()]
    if not cases:
        cases = [f'    <testcase classname={_attribute(task)} name="all rules" time="0"/>']
    failed = _failed({task: findings})
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="0" time="0"'
    head = f"  <testsuite name={_attribute(task)} {counts}>"
    return "\n".join([head, *cases, "  </testsuite>"])


def _case(task: str, rule: str, findings: list[Finding], base: Path) -> str:
    lines = "\n".join(
        f"{place(f, base)}: {f.message}" + (f" (fix: {f.fix})" if f.fix else "") for f in findings
    )
    head = f'    <testcase classname={_attribute(task)} name={_attribute(rule)}{_where(findings[0], base)} time="0"'
    grave = [f for f in findings if f.severity != "note"]
    if not grave:
        return f"{head}><system-out>{_text(lines)}</system-out></testcase>"
    kind = "error" if any(f.severity == "error" for f in grave) else "warning"
    message = _attribute(grave[0].message)
    return f'{head}><failure type="{kind}" message={message}>{_text(lines)}</failure></testcase>'


def _where(finding: Finding, base: Path) -> str:
    """What readers link a case with."""
    line = f' line="{finding.line}"' if finding.line is not None else ""
    return f" file={_attribute(relative(finding.path, base))}{line}"


def _attribute(text: str) -> str:
    return quoteattr(text.translate(_FORBIDDEN))


def _text(text: str) -> str:
    return escape(text.translate(_FORBIDDEN))
