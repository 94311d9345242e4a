"""The parsers for the `critic` and `harsh-critic` reviewers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harbor_author.scoring.parsers.lines import (
    heading_text_with_plain_dashes,
    is_bold_number,
    is_heading,
    is_rule,
)
from harbor_author.scoring.parsers.model import (
    ItemCollector,
    ParsedReport,
    PerspectiveNotes,
    findings,
    is_item,
    unique,
)
from harbor_author.scoring.text import (
    LINE_TERMINATORS,
    WHITE_SPACE,
    WS,
    ascii_folded,
    trim,
    without_blank_runs,
)

_ASCII_I = re.IGNORECASE | re.ASCII
_NUMBERED = re.compile(
    rf"([ \t]*+)(?:\*{{1,2}}+[{WS}]*+)?+[0-9]++[.)](?:\*{{1,2}}+)?+([{WS}]++)(.*+)\Z", re.DOTALL
)
_BULLET = re.compile(rf"([ \t]*+)[-*\u2022]([{WS}]++)(.*+)\Z", re.DOTALL)
_NOTE_ITEM = re.compile(
    rf"(?:[-*\u2022]|(?:\*{{1,2}}+[{WS}]*+)?+[0-9]++[.)](?:\*{{1,2}}+)?+)[{WS}]++"
    r"([^\n\r\u2028\u2029]++)\Z"
)
_SUBFIELD = re.compile(
    r"(?:\*{1,2})?(?:evidence|why this matters|fix|impact|risk|mitigation|proof|location|example|note)\b",
    _ASCII_I,
)
_INLINE_NOTE = re.compile(rf"(security|new-?hire|ops)[{WS}]*:[{WS}]*(.+)\Z", _ASCII_I | re.DOTALL)

# Section aliases on normalised lines: a word that must occur, and the pattern itself.
_PRE_COMMITMENT = (b"commitment", re.compile(r"\bpre-?commitment predictions?\b", re.ASCII))
_CRITICAL = (b"critical", re.compile(r"\bcritical findings?\b", re.ASCII))
_MAJOR = (b"major", re.compile(r"\bmajor findings?\b", re.ASCII))
_MINOR = (b"minor", re.compile(r"\bminor findings?\b", re.ASCII))
_MISSING = (b"missing", re.compile(r"\bwhat'?s? missing\b", re.ASCII))
_SUMMARY = (b"summary", re.compile(r"\bsummary\b", re.ASCII))
_JUSTIFICATION = (b"justification", re.compile(r"\bjustification\b", re.ASCII))
_MULTI_PERSPECTIVE = re.compile(r"\bmulti-?perspective\b", re.ASCII)
_NOTES_OR_REVIEW = re.compile(r"\b(?:notes?|review)\b", re.ASCII)
_PHASE = re.compile(r"\bphase ?[0-9]+\b", re.ASCII)

_HARSH_VERDICT_BOLD = re.compile(rf"\*{{1,2}}verdict[{WS}]*:[{WS}]*([a-z][a-z{WS}-]*?)\*{{1,2}}", _ASCII_I)
_HARSH_VERDICT = re.compile(rf"\bverdict[{WS}]*:[{WS}]*([a-z][a-z{WS}-]+)", _ASCII_I)
_CRITIC_VERDICT_BOLD = re.compile(rf"\*{{1,2}}\[?[{WS}]*(okay|reject)[{WS}]*\]?\*{{1,2}}", _ASCII_I)
_CRITIC_VERDICT_WORD = re.compile("okay|reject", _ASCII_I)

_PERSPECTIVE_HEADINGS = (
    (re.compile(r"\bsecurity\b", re.ASCII), "security"),
    (re.compile(r"\bnew[- ]?hire\b", re.ASCII), "new_hire"),
    (re.compile(r"\bops\b", re.ASCII), "ops"),
)


def parse_harsh_critic(report: str) -> ParsedReport:
    """Severity sections, what is missing, and notes from three perspectives."""
    document = _Document(report)
    perspectives = document.find_multi_perspective()
    notes = _perspective_notes(document, 0 if perspectives is None else perspectives + 1)
    missing = document.find(*_MISSING)
    return ParsedReport(
        raw=report,
        verdict=harsh_verdict(report) if document.holds(b"verdict") else "",
        critical=findings(document.items(document.find(*_CRITICAL)), "CRITICAL"),
        major=findings(document.items(document.find(*_MAJOR)), "MAJOR"),
        minor=findings(document.items(document.find(*_MINOR)), "MINOR"),
        missing=tuple(document.items(missing)),
        notes=notes,
        has_pre_commitment=document.find(*_PRE_COMMITMENT) is not None,
        has_gap_analysis=missing is not None,
        has_multi_perspective=perspectives is not None or bool(notes.security or notes.new_hire or notes.ops),
    )


def parse_critic(report: str) -> ParsedReport:
    """A verdict, and the items of the summary and the justification as major findings."""
    document = _Document(report)
    items = [
        *document.items(document.find(*_SUMMARY)),
        *document.items(document.find(*_JUSTIFICATION)),
    ]
    return ParsedReport(raw=report, verdict=critic_verdict(report), major=findings(unique(items), "MAJOR"))


class _Document:
    """The lines of a report and their normalised forms."""

    def __init__(self, report: str) -> None:
        text = without_blank_runs(report)
        self.lines = text.split("\n")
        self._folded = ascii_folded(text)

    def normal(self, index: int) -> str:
        """The form of a line in which headings are compared."""
        return heading_text_with_plain_dashes(self.lines[index])

    def lines_with(self, word: bytes) -> Iterator[int]:
        """The lines that hold a word, found without looking at the others one by one."""
        folded = self._folded
        index = start = 0
        while (hit := folded.find(word, start)) >= 0:
            index += folded.count(b"\n", start, hit)
            yield index
            end = folded.find(b"\n", hit)
            if end < 0:
                return
            index, start = index + 1, end + 1

    def find(self, word: bytes, pattern: re.Pattern[str]) -> int | None:
        """The first line, heading or not, that opens the section; it holds `word` if it matches `pattern`."""
        return next((index for index in self.lines_with(word) if pattern.search(self.normal(index))), None)

    def find_multi_perspective(self) -> int | None:
        """The first line with "multi-perspective" before "notes" or "review", or after a phase's number."""
        for index in self.lines_with(b"perspective"):
            line = self.normal(index)
            first = _MULTI_PERSPECTIVE.search(line)
            if first is None:
                continue
            if _NOTES_OR_REVIEW.search(line, first.end()):
                return index
            phase = _PHASE.search(line)
            if phase is not None and _MULTI_PERSPECTIVE.search(line, phase.end()):
                return index
        return None

    def holds(self, word: bytes) -> bool:
        """Whether the report holds a word in any case."""
        return word in self._folded

    def items(self, section: int | None) -> list[str]:
        """The list items from the line after `section` to the next heading."""
        return [] if section is None else critic_list_items(self._content(section + 1))

    def _content(self, start: int) -> Iterator[str]:
        for index in range(start, len(self.lines)):
            line = self.lines[index]
            if ends_section(line):
                return
            yield line


def ends_section(line: str) -> bool:
    trimmed = trim(line)
    return trimmed != "" and (is_rule(trimmed) or (not is_bold_number(trimmed) and is_heading(trimmed)))


def _marked_text(pattern: re.Pattern[str], line: str) -> tuple[str, str] | None:
    """(indent, text) of a list line; the text may be empty, when only white space follows the marker.

    Stands for the reference's `...\\s+(.+)$`: what follows the white space may hold no line terminator, and when
    nothing follows, the last white-space character is the text.
    """
    match = pattern.match(line)
    if match is None:
        return None
    indent, blank, text = match.groups()
    if text:
        return None if any(mark in text for mark in LINE_TERMINATORS) else (indent, trim(text))
    return (indent, "") if len(blank) > 1 and blank[-1] not in LINE_TERMINATORS else None


def critic_list_items(lines: Iterator[str]) -> list[str]:
    collector = ItemCollector()
    numbered = False
    for raw in lines:
        line = raw.replace("\r", "")
        trimmed = trim(line)
        if not trimmed or is_rule(trimmed):
            collector.end()
            continue
        number = _marked_text(_NUMBERED, line)
        if number is not None:
            collector.end()
            if number[1]:
                collector.start(number[1])
                numbered = True
            continue
        bullet = _marked_text(_BULLET, line)
        if bullet is None:
            collector.append(trimmed)
            continue
        indent, text = bullet
        if not text:
            continue
        width = len(indent) + indent.count("\t")
        if collector.is_open and (width >= 2 or numbered or _SUBFIELD.match(text)):
            collector.append(text)
        else:
            collector.start(text)
            numbered = False
    collector.end()
    return collector.items


def _perspective_notes(document: _Document, start: int) -> PerspectiveNotes:
    notes: dict[str, list[str]] = {"security": [], "new_hire": [], "ops": []}
    # Every line that names a perspective, as a label or as a heading, holds one of these.
    naming = sorted({index for word in (b"security", b"hire", b"ops") for index in document.lines_with(word)})
    naming = [index for index in naming if index >= start]
    for index in naming:
        bullet = _marked_text(_BULLET, document.lines[index].replace("\r", ""))
        inline = _INLINE_NOTE.match(bullet[1]) if bullet else None
        if inline is not None:
            name, text = inline.group(1).lower(), trim(inline.group(2))
            if is_item(text):
                notes["new_hire" if name.startswith("new") else name].append(text)
    for index in naming:
        line = document.lines[index]
        if ends_section(line) and not is_rule(line):
            name = _named_perspective(document.normal(index))
            if name is not None:
                notes[name].extend(_section_notes(document.lines, index + 1))
    return PerspectiveNotes(
        security=unique(notes["security"]), new_hire=unique(notes["new_hire"]), ops=unique(notes["ops"])
    )


def _named_perspective(heading: str) -> str | None:
    return next((name for pattern, name in _PERSPECTIVE_HEADINGS if pattern.search(heading)), None)


def _section_notes(lines: Sequence[str], start: int) -> list[str]:
    """The notes from a line to the next heading; a rule ends a note but not the section."""
    collector = ItemCollector()
    for index in range(start, len(lines)):
        line = lines[index]
        trimmed = trim(line)
        if not trimmed or is_rule(trimmed):
            collector.end()
            continue
        if ends_section(line):
            break
        item = _NOTE_ITEM.match(trimmed)
        if item is not None:
            collector.start(trim(item.group(1)))
        elif collector.is_open:
            collector.append(trimmed)
        else:
            collector.start(trimmed)
    collector.end()
    return collector.items


def harsh_verdict(report: str) -> str:
    match = _HARSH_VERDICT_BOLD.search(report) or _HARSH_VERDICT.search(report)
    return trim(match.group(1)) if match else ""


def critic_verdict(report: str) -> str:
    match = _CRITIC_VERDICT_BOLD.search(report)
    if match:
        return match.group(1).upper()
    for word in _CRITIC_VERDICT_WORD.finditer(report):
        if _opens_line(report, word.start()) and _closes_line(report, word.end()):
            return word.group().upper()
    return ""


def _opens_line(text: str, position: int) -> bool:
    """Whether only white space and at most one "[" stand between some line's start and `position`."""
    for _ in range(2):
        while True:
            if position == 0 or text[position - 1] in LINE_TERMINATORS:
                return True
            if text[position - 1] not in WHITE_SPACE:
                break
            position -= 1
        if text[position - 1] != "[":
            return False
        position -= 1
    return False


def _closes_line(text: str, position: int) -> bool:
    """Whether only white space and at most one "]" stand between `position` and some line's end."""
    for _ in range(2):
        while True:
            if position == len(text) or text[position] in LINE_TERMINATORS:
                return True
            if text[position] not in WHITE_SPACE:
                break
            position += 1
        if text[position] != "]":
            return False
        position += 1
    return False
