"""Ground truth: what a right report must find.

The schema, the order of the checks and every message are the reference suite's. One extension, for tasks of our own:
a finding's `keywords` may also be an object of lists by language (`{"en": [...], "zh": [...]}`); a text then matches
when any one language's list reaches its own threshold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.scoring.errors import TruthError
from harbor_author.scoring.jsnumber import js_string
from harbor_author.scoring.text import Keyword, compiled_keyword, required_keyword_matches

DOMAINS = ("plan", "code", "analysis", "bug", "task")
SEVERITIES = ("CRITICAL", "MAJOR", "MINOR")
CATEGORIES = ("finding", "missing", "perspective")
PERSPECTIVES = ("security", "new-hire", "ops")
VERDICTS = ("REJECT", "REVISE", "ACCEPT", "ACCEPT-WITH-RESERVATIONS")

_PROJECTED_DOMAINS = {"bug": "analysis", "task": "analysis"}
_MISSING = object()


@dataclass(frozen=True, slots=True)
class KeywordList:
    """The keywords of one language ("" for the plain form), and how many of them a text must hold."""

    language: str
    keywords: tuple[Keyword, ...]
    required: int


@dataclass(frozen=True, slots=True)
class TruthFinding:
    """One thing that a right report names."""

    id: str
    severity: str
    category: str
    summary: str
    explanation: str
    keyword_lists: tuple[KeywordList, ...]
    perspective: str | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A validated ground truth. `domain`, `expected_verdict` and `is_clean_baseline` influence no score."""

    fixture_id: str
    fixture_path: str
    domain: str
    findings: tuple[TruthFinding, ...]
    is_clean_baseline: bool
    expected_verdict: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The validated copy, without the fields that the schema does not know."""
        document: dict[str, Any] = {
            "fixtureId": self.fixture_id,
            "fixturePath": self.fixture_path,
            "domain": self.domain,
        }
        if self.expected_verdict is not None:
            document["expectedVerdict"] = self.expected_verdict
        document["findings"] = [_finding_json(finding) for finding in self.findings]
        document["isCleanBaseline"] = self.is_clean_baseline
        return document


def _finding_json(finding: TruthFinding) -> dict[str, Any]:
    lists = {entry.language: [keyword.raw for keyword in entry.keywords] for entry in finding.keyword_lists}
    document: dict[str, Any] = {
        "id": finding.id,
        "severity": finding.severity,
        "category": finding.category,
    }
    if finding.perspective is not None:
        document["perspective"] = finding.perspective
    document["summary"] = finding.summary
    document["keywords"] = lists[""] if list(lists) == [""] else lists
    if finding.location is not None:
        document["location"] = finding.location
    document["explanation"] = finding.explanation
    return document


def read_truth(document: Any) -> GroundTruth:
    """A ground truth from parsed JSON.

    Raises:
        TruthError: the first rule that it breaks, in the reference's order and words.
    """
    if not isinstance(document, Mapping):
        raise TruthError("Ground truth must be an object")
    if not _filled(document.get("fixtureId")):
        raise TruthError("Ground truth fixtureId is required")
    if not _filled(document.get("fixturePath")):
        raise TruthError("Ground truth fixturePath is required")
    domain = document.get("domain", _MISSING)
    if not isinstance(domain, str) or domain not in DOMAINS:
        shown = "undefined" if domain is _MISSING else js_string(domain)
        raise TruthError(f"Unsupported ground truth domain: {shown}")
    entries = document.get("findings")
    if not isinstance(entries, list):
        raise TruthError("Ground truth findings must be an array")
    if not isinstance(document.get("isCleanBaseline"), bool):
        raise TruthError("Ground truth isCleanBaseline must be boolean")
    findings = tuple(_read_finding(entry, index) for index, entry in enumerate(entries))
    seen: set[str] = set()
    for finding in findings:
        if finding.id in seen:
            raise TruthError(f"Duplicate ground truth finding id: {finding.id}")
        seen.add(finding.id)
    verdict = document.get("expectedVerdict")
    return GroundTruth(
        fixture_id=document["fixtureId"],
        fixture_path=document["fixturePath"],
        domain=domain,
        findings=findings,
        is_clean_baseline=document["isCleanBaseline"],
        expected_verdict=verdict if isinstance(verdict, str) else None,
    )


def _filled(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _read_finding(entry: Any, index: int) -> TruthFinding:
    def wrong(what: str) -> TruthError:
        return TruthError(f"Ground truth finding {index} {what}")

    if not isinstance(entry, Mapping):
        raise wrong("must be an object")
    if not _filled(entry.get("id")):
        raise wrong("has no id")
    languages = _keywords_by_language(entry.get("keywords"))
    if languages is None:
        raise wrong("has invalid keywords")
    if not all(languages.values()):
        raise wrong("must have at least one keyword")
    if entry.get("severity") not in SEVERITIES:
        raise wrong("has invalid severity")
    if entry.get("category") not in CATEGORIES:
        raise wrong("has invalid category")
    if "perspective" in entry and entry["perspective"] not in PERSPECTIVES:
        raise wrong("has invalid perspective")
    if not isinstance(entry.get("summary"), str) or not isinstance(entry.get("explanation"), str):
        raise wrong("has invalid text fields")
    if "location" in entry and not isinstance(entry["location"], str):
        raise wrong("has invalid location")
    return _finding(entry, languages)


def _keywords_by_language(value: Any) -> dict[str, list[str]] | None:
    """The lists by language, {"": list} for the plain form, None when it is neither."""
    if isinstance(value, list):
        languages = {"": value}
    elif isinstance(value, Mapping) and value and all(isinstance(one, list) for one in value.values()):
        languages = dict(value)
    else:
        return None
    if all(isinstance(word, str) for words in languages.values() for word in words):
        return languages
    return None


def _finding(entry: Mapping[str, Any], languages: Mapping[str, list[str]]) -> TruthFinding:
    return TruthFinding(
        id=entry["id"],
        severity=entry["severity"],
        category=entry["category"],
        summary=entry.get("summary", ""),
        explanation=entry.get("explanation", ""),
        keyword_lists=tuple(
            KeywordList(language, tuple(map(compiled_keyword, words)), required_keyword_matches(len(words)))
            for language, words in languages.items()
        ),
        perspective=entry.get("perspective"),
        location=entry.get("location"),
    )


def trust_truth(document: Any) -> GroundTruth:
    """A ground truth taken as it is, as the reference's critic benchmark does, which validates nothing.

    Repeated ids and empty keyword lists pass, and count as the reference counts them.

    Raises:
        TruthError: it lacks what scoring needs.
    """
    if not isinstance(document, Mapping):
        raise TruthError("Ground truth must be an object")
    entries = document.get("findings")
    if not isinstance(entries, list):
        raise TruthError("Ground truth findings must be an array")
    findings = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise TruthError(f"Ground truth finding {index} must be an object")
        if not isinstance(entry.get("id"), str):
            raise TruthError(f"Ground truth finding {index} has no id")
        languages = _keywords_by_language(entry.get("keywords"))
        if languages is None:
            raise TruthError(f"Ground truth finding {index} has invalid keywords")
        if entry.get("severity") not in SEVERITIES:
            raise TruthError(f"Ground truth finding {index} has invalid severity")
        findings.append(_finding({"category": "finding", **entry}, languages))
    return GroundTruth(
        fixture_id=str(document.get("fixtureId", "")),
        fixture_path=str(document.get("fixturePath", "")),
        domain=str(document.get("domain", "")),
        findings=tuple(findings),
        is_clean_baseline=bool(document.get("isCleanBaseline", False)),
        expected_verdict=None,
    )


def load_truth_document(path: Path) -> dict[str, Any]:
    """A ground truth as parsed from its JSON file, with the fields that the schema does not know; it is valid.

    Raises:
        TruthError: it cannot be read, is no JSON (a byte order mark makes it none), or breaks the schema.
    """
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise TruthError(
            f"the ground truth cannot be read: {error.strerror}", path=path, hint="check the path"
        ) from error
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise TruthError(
            f"the ground truth is no JSON: {error.msg}", path=path, line=error.lineno, column=error.colno
        ) from error
    except ValueError as error:  # of Python's own, as for an integer of more digits than it converts
        raise TruthError("the ground truth holds a number that is too long", path=path) from error
    except RecursionError as error:
        raise TruthError("the ground truth is nested too deeply", path=path) from error
    try:
        read_truth(document)
    except TruthError as error:
        raise TruthError(error.message, path=path, hint="docs/scoring.md describes the schema") from error
    assert isinstance(document, dict)
    return document


def load_truth(path: Path) -> GroundTruth:
    """The ground truth in a JSON file.

    Raises:
        TruthError: it cannot be read, is no JSON, or breaks the schema.
    """
    return read_truth(load_truth_document(path))


def project_for_scoring(domain: str, verdict: str | None) -> tuple[str, str]:
    """The domain and verdict under which the reference's canonical scorer sees a truth; no score depends on them."""
    return _PROJECTED_DOMAINS.get(domain, domain), verdict if verdict in VERDICTS else "REJECT"
