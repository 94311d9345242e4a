"""Whether a finding shows evidence: a backticked snippet, or a place in a file with its line number.

The reference's pattern

    `[^`]+`|\\b(?:[A-Za-z0-9_./-]+\\.[A-Za-z0-9_+-]+|[A-Za-z_][A-Za-z0-9_]*\\(\\)):\\d+(?:-\\d+)?(?:[:]\\d+)?\\b

takes cubic time on "a.a.a.a...", so the second half is decided here from each colon outwards: what may stand to its
right comes down to digits that end at a word boundary, and what stands to its left is read once.
"""

from __future__ import annotations

import re

_SNIPPET = re.compile(r"`[^`]+`")
_NUMBERED_COLON = re.compile(r":[0-9]+(?![A-Za-z0-9_])")
_EXTENSION = re.compile(r"[A-Za-z0-9_+-]+")
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_DIGITS = frozenset("0123456789")
_PATH_MARKS = frozenset("./-")


def has_evidence(text: str) -> bool:
    """Whether `text` holds a snippet of code or a `file.ext:12`, `call():12-15` place."""
    if "`" in text and _SNIPPET.search(text):
        return True
    if ":" not in text:
        return False
    start = 0  # nothing before the previous colon belongs to this one's place
    for colon in _NUMBERED_COLON.finditer(text):
        end = colon.start()
        start = max(start, text.rfind(":", start, end) + 1)
        if _is_file(text, start, end) or _is_call(text, start, end):
            return True
        start = end + 1
    return False


def _is_file(text: str, start: int, end: int) -> bool:
    """A path ends at `end`: an extension, its dot, and before it a word that only path marks may separate."""
    dot = text.rfind(".", start, end)
    if dot < 0 or not _EXTENSION.fullmatch(text, dot + 1, end):
        return False
    position = dot - 1
    while position >= start and text[position] in _PATH_MARKS:
        position -= 1
    return position >= start and text[position] in _WORD


def _is_call(text: str, start: int, end: int) -> bool:
    """`name()` ends at `end`, and the name does not begin with a digit."""
    if not text.endswith("()", start, end):
        return False
    position = end - 3
    while position >= start and text[position] in _WORD:
        position -= 1
    first = position + 1
    return first < end - 2 and text[first] not in _DIGITS
