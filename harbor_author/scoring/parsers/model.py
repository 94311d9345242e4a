"""What a parser makes of a report."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from harbor_author.scoring.evidence import has_evidence
from harbor_author.scoring.text import trim

_NONE = re.compile(r"none\.?", re.IGNORECASE | re.ASCII)


class ReportFinding(NamedTuple):
    """One finding of a report."""

    text: str
    severity: str
    has_evidence: bool

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "severity": self.severity, "hasEvidence": self.has_evidence}


@dataclass(frozen=True, slots=True)
class PerspectiveNotes:
    """Notes that a report gives from three points of view."""

    security: tuple[str, ...] = ()
    new_hire: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """A report as scoring sees it."""

    raw: str
    verdict: str = ""
    critical: tuple[ReportFinding, ...] = ()
    major: tuple[ReportFinding, ...] = ()
    minor: tuple[ReportFinding, ...] = ()
    missing: tuple[str, ...] = ()
    notes: PerspectiveNotes = PerspectiveNotes()
    has_pre_commitment: bool = False
    has_gap_analysis: bool = False
    has_multi_perspective: bool = False

    def texts(self) -> list[str]:
        """Every text that may match a finding of the truth, in the order in which matching tries them."""
        return [
            *(finding.text for finding in (*self.critical, *self.major, *self.minor)),
            *self.missing,
            *self.notes.security,
            *self.notes.new_hire,
            *self.notes.ops,
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "criticalFindings": [finding.to_json() for finding in self.critical],
            "majorFindings": [finding.to_json() for finding in self.major],
            "minorFindings": [finding.to_json() for finding in self.minor],
            "missingItems": list(self.missing),
            "perspectiveNotes": {
                "security": list(self.notes.security),
                "newHire": list(self.notes.new_hire),
                "ops": list(self.notes.ops),
            },
            "hasPreCommitment": self.has_pre_commitment,
            "hasGapAnalysis": self.has_gap_analysis,
            "hasMultiPerspective": self.has_multi_perspective,
        }


def findings(texts: Iterable[str], severity: str) -> tuple[ReportFinding, ...]:
    """Findings of one severity."""
    return tuple(ReportFinding(text, severity, has_evidence(text)) for text in texts)


def is_item(text: str) -> bool:
    """Whether a finished list item says anything: it is neither empty nor "none"."""
    return text != "" and (len(text) > 5 or not _NONE.fullmatch(text))


def unique(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts without those that differ from an earlier one only in case or outer white space; empty ones drop."""
    kept: dict[str, str] = {}
    for text in texts:
        stripped = trim(text)
        if stripped:
            kept.setdefault(stripped.lower(), stripped)
    return tuple(kept.values())


class ItemCollector:
    """Collects list items whose text arrives line by line."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self._parts: list[str] | None = None

    @property
    def is_open(self) -> bool:
        return self._parts is not None

    def start(self, text: str) -> None:
        """End the current item and begin another."""
        self.end()
        self._parts = [text]

    def append(self, text: str) -> None:
        """Continue the current item after one space; without one the text is ignored."""
        if self._parts is not None:
            self._parts.append(text)

    def end(self) -> None:
        """End the current item, if there is one."""
        if self._parts is None:
            return
        text = trim(" ".join(self._parts)) if len(self._parts) > 1 else self._parts[0]
        self._parts = None
        if is_item(text):
            self.items.append(text)
