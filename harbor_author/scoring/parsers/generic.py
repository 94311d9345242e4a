"""The parser for executors, debuggers and code reviewers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harbor_author.scoring.evidence import has_evidence
from harbor_author.scoring.parsers.lines import heading_text, is_heading
from harbor_author.scoring.parsers.model import (
    ItemCollector,
    ParsedReport,
    ReportFinding,
    findings,
)
from harbor_author.scoring.text import WHITE_SPACE, WS, ascii_folded, trim, utf16_length, without_blank_runs

_ITEM = re.compile(f"(?:[-*\u2022]|[0-9]++[.)])[{WS}]++([^\\n\\r\\u2028\\u2029]++)\\Z")
_ITEM_STARTS = frozenset("-*\u20220123456789")
_SEVERITIES = tuple((re.compile(rf"\b{word}\b", re.ASCII), word) for word in ("CRITICAL", "MAJOR", "MINOR"))
_HEADING_SEVERITIES = tuple((re.compile(rf"\b{word.lower()}\b", re.ASCII), word) for _, word in _SEVERITIES)
_MISSING = "missing"
_ANY = "any"
_MISSING_HEADING = re.compile(r"\b(?:missing|gap)\b", re.ASCII)
_FINDING_HEADING = re.compile(
    r"\bfinding|issue|problem|bug|error|diagnos|root.?cause|fix|recommend", re.ASCII
)
# A first look that passes over headings which say nothing to any of the rules.
_KNOWN_HEADING = re.compile(
    "critical|major|minor|missing|gap|finding|issue|problem|bug|error|diagnos|cause|fix|recommend"
)
_VERDICT_WORDS = ("verdict", "classification", "diagnosis", "approach")
_VERDICT = re.compile(rf"(?:{'|'.join(_VERDICT_WORDS)})[{WS}]*:[{WS}]*([^\n*]+)", re.IGNORECASE | re.ASCII)
# White space in UTF-8 and outside character classes, for the searches in folded bytes.
_WS_BYTES = (
    rb"(?:[\t\n\v\f\r ]|\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]"
    rb"|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf)"
)
_PRE_COMMITMENT = re.compile(rb"\bpre-?commitment\b")
_WHAT_IS_MISSING = re.compile(rb"\bwhat'?s?" + _WS_BYTES + rb"++missing\b")
_GAP_ANALYSIS = re.compile(rb"\bgap" + _WS_BYTES + rb"++analysis\b")
_PERSPECTIVE = re.compile(rb"\bperspective\b")
_SECURITY = re.compile(rb"\bsecurity\b")
_SHORTEST_FALLBACK_ITEM = 15


def parse_generic(report: str) -> ParsedReport:
    """Sections by heading, each put into a severity, into what is missing, or read item by item; else ignored."""
    lines = [line.strip(WHITE_SPACE) for line in without_blank_runs(report).split("\n")]
    buckets: dict[str, list[ReportFinding]] = {"CRITICAL": [], "MAJOR": [], "MINOR": []}
    missing: list[str] = []
    severity_seen = False
    for kind, content in _sections(lines):
        items = list_items(content)
        if kind in buckets:
            severity_seen = True
            buckets[kind].extend(findings(items, kind))
        elif kind == _MISSING:
            missing.extend(items)
        else:
            _sort_by_own_words(items, buckets)
    if not severity_seen and not any(buckets.values()):
        everything = (item for item in list_items(lines) if _is_long_enough(item))
        _sort_by_own_words(everything, buckets)
    folded = ascii_folded(report)
    return ParsedReport(
        raw=report,
        verdict=_verdict(report, folded),
        critical=tuple(buckets["CRITICAL"]),
        major=tuple(buckets["MAJOR"]),
        minor=tuple(buckets["MINOR"]),
        missing=tuple(missing),
        has_pre_commitment=_holds(folded, b"commitment", _PRE_COMMITMENT),
        has_gap_analysis=_holds(folded, b"missing", _WHAT_IS_MISSING)
        or _holds(folded, b"analysis", _GAP_ANALYSIS),
        has_multi_perspective=_holds(folded, b"perspective", _PERSPECTIVE)
        and _holds(folded, b"security", _SECURITY),
    )


def _is_long_enough(item: str) -> bool:
    # A character counts one or two, so most items need not be measured.
    if len(item) >= _SHORTEST_FALLBACK_ITEM:
        return True
    return 2 * len(item) >= _SHORTEST_FALLBACK_ITEM and utf16_length(item) >= _SHORTEST_FALLBACK_ITEM


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(kind, lines) of the sections that count: a severity, what is missing, or findings of any severity."""
    kind: str | None = None
    content: list[str] = []
    for line in lines:
        if line and (line[0] in "#*" or line[-1] == ":") and is_heading(line):
            if kind is not None:
                yield kind, content
            kind = section_kind(line)
            content = []
        elif kind is not None:
            content.append(line)
    if kind is not None:
        yield kind, content


def section_kind(line: str) -> str | None:
    """What a heading announces for its section: a severity, _MISSING, _ANY, or None when it is ignored."""
    if not _KNOWN_HEADING.search(line.lower()):
        return None
    heading = heading_text(line)
    severity = heading_severity(heading)
    if severity is not None:
        return severity
    if _MISSING_HEADING.search(heading):
        return _MISSING
    return _ANY if _FINDING_HEADING.search(heading) else None


def list_items(lines: Iterable[str]) -> list[str]:
    """The list items in trimmed lines; indentation means nothing, a blank line ends an item."""
    collector = ItemCollector()
    for line in lines:
        if not line:
            collector.end()
            continue
        item = _ITEM.match(line) if line[0] in _ITEM_STARTS else None
        if item is not None:
            collector.start(item.group(1))
        else:
            collector.append(line)
    collector.end()
    return collector.items


def severity_of(text: str) -> str:
    """The first of CRITICAL, MAJOR and MINOR that the text names in any case; MAJOR when it names none."""
    return _first_word(_SEVERITIES, text.upper()) or "MAJOR"


def heading_severity(heading: str) -> str | None:
    """The severity that a normalised heading announces for its section."""
    return _first_word(_HEADING_SEVERITIES, heading)


def _first_word(words: Iterable[tuple[re.Pattern[str], str]], text: str) -> str | None:
    for pattern, word in words:
        if pattern.search(text):
            return word
    return None


def _sort_by_own_words(items: Iterable[str], buckets: dict[str, list[ReportFinding]]) -> None:
    for item in items:
        severity = severity_of(item)
        buckets[severity].append(ReportFinding(item, severity, has_evidence(item)))


def _verdict(report: str, folded: bytes) -> str:
    if not any(word.encode() in folded for word in _VERDICT_WORDS):
        return ""
    match = _VERDICT.search(report)
    # The group cannot hold a star, so the trailing stars that the reference strips are never there.
    return trim(match.group(1)) if match else ""


def _holds(folded: bytes, literal: bytes, pattern: re.Pattern[bytes]) -> bool:
    return literal in folded and pattern.search(folded) is not None
