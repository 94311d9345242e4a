"""Citations of cards in any text: full IDs, and the short forms that people write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Form = Literal["full", "tail", "slash", "range", "wildcard", "rollup", "retired"]

_BASE = r"DSH-\d+\.\d+\.\d+-"
_TAIL = r"[AR]\d+-\d{2}"
_DOTS = r"\s*(?:\.{2,3}|…|–|—|~|～|至|到)\s*"
_PATTERN = re.compile(
    rf"""(?<![\w.-])(?:
      (?P<wildcard>(?:{_BASE})?[AR]\d+-(?:\*|XX?|NN?)(?!\w))
    | (?P<range>(?:{_BASE})?{_TAIL}{_DOTS}(?:(?:{_BASE})?[AR]\d+-)?\d{{2}}(?!\d))
    | (?P<slash>(?:{_BASE})?{_TAIL}(?:/\d{{2}}(?!\d))+)
    | (?P<full>{_BASE}{_TAIL})(?!\w)
    | (?P<tail>{_TAIL})(?![\w-])
    | (?P<rollup>[Rr]oll-?up\s+R-\d{{2}}(?:\s*\#\d+)?|R-\d{{2}}\s*\#\d+)
    | (?P<retired>ALPHA\d+-\d{{2}}|BC-\d{{2}})(?![\w-])
    )""",
    re.VERBOSE | re.ASCII,  # a Chinese character beside an ID is no part of it
)
#: What every form holds. Most texts hold none, and a search for this is far cheaper than one for the whole.
_HINT = re.compile(r"[AR]\d+-[\d*XN]|R-\d\d|BC-\d\d", re.ASCII)
_VERSION = re.compile(r"DSH-(\d+\.\d+\.\d+)-")
_STEM = re.compile(rf"(?:{_BASE})?([AR]\d+-)(\d{{2}})")


@dataclass(frozen=True)
class Citation:
    """One mention of one or more cards.

    Attributes:
        text: as written.
        form: `full` is right in a task's own files; every other form must become full IDs.
        line, column: 1-based, of its first character.
        ids: the full IDs meant, as far as they follow from the text. A range holds its two ends, a wildcard the
            prefix (`DSH-0.1.2-A1`), which only a card set can expand. Empty when the version is not known.
    """

    text: str
    form: Form
    line: int
    column: int
    ids: tuple[str, ...]


def find_citations(text: str) -> list[Citation]:
    """Every citation in `text`, in order. A short form takes its version from the full ID nearest before it."""
    found: list[Citation] = []
    if _HINT.search(text) is None:
        return found
    version = ""
    line, line_start = 1, 0
    scanned = 0
    for match in _PATTERN.finditer(text):
        written = match[0]
        newlines = text.count("\n", scanned, match.start())
        if newlines:
            line += newlines
            line_start = text.rfind("\n", 0, match.start()) + 1
        scanned = match.start()
        own = _VERSION.match(written)
        if own:
            version = own[1]
        form: Form = match.lastgroup  # type: ignore[assignment]
        found.append(
            Citation(written, form, line, match.start() - line_start + 1, _ids(written, form, version))
        )
    return found


def _ids(written: str, form: Form, version: str) -> tuple[str, ...]:
    if form == "full":
        return (written,)
    if form in ("rollup", "retired") or not version:
        return ()
    base = f"DSH-{version}-"
    if form == "wildcard":
        stem = re.search(r"[AR]\d+(?=-)", written.removeprefix(base))
        assert stem is not None
        return (base + stem[0],)
    stem = _STEM.match(written)
    assert stem is not None
    first = base + stem[1] + stem[2]
    if form == "tail":
        return (first,)
    if form == "slash":
        return (first, *(base + stem[1] + number for number in re.findall(r"/(\d{2})", written)))
    last = re.search(r"(?:([AR]\d+-))?(\d{2})$", written)
    assert last is not None
    return (first, base + (last[1] or stem[1]) + last[2])
