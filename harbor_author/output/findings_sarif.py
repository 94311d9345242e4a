"""Findings as SARIF 2.1.0, for code hosts that show them beside the lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harbor_author import __version__
from harbor_author.checks import Finding, Report, all_rules
from harbor_author.output.findings_text import relative

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(report: Report, *, base: Path) -> dict[str, Any]:
    """A SARIF log with one run. Each rule that found something is described; paths are relative to `base`."""
    used = sorted({finding.rule for finding in report.findings})
    index = {name: number for number, name in enumerate(used)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "author",
                        "version": __version__,
                        "rules": [_rule(name) for name in used],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"ROOT": {"uri": f"file://{quote(os.fsencode(base).rstrip(b'/'))}/"}},
                "results": [_result(finding, index[finding.rule], base) for finding in report.findings],
            }
        ],
    }


def _rule(name: str) -> dict[str, Any]:
    rule = all_rules()[name]
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.fix}\n\nBad: {rule.bad}\n\nGood: {rule.good}"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.pack, rule.theme]},
    }


def _result(finding: Finding, index: int, base: Path) -> dict[str, Any]:
    path = relative(finding.path, base)
    # The folder of the run itself has no name below itself.
    artifact: dict[str, Any] = {"uri": quote(path) if path != str(base) else "./"}
    if path.startswith("/") and path != str(base):
        artifact = {"uri": f"file://{quote(path)}"}
    else:
        artifact["uriBaseId"] = "ROOT"
    location: dict[str, Any] = {"artifactLocation": artifact}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line}
        if finding.column is not None:
            location["region"]["startColumn"] = finding.column
    text = f"{finding.message}. Fix: {finding.fix}" if finding.fix else finding.message
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": location,
                "logicalLocations": [{"name": finding.task, "kind": "module"}],
            }
        ],
        "partialFingerprints": {"finding/v1": finding.fingerprint},
    }
