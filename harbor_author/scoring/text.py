"""Text as the reference scorer sees it: JavaScript's white space, lower case, NFKC and UTF-16 lengths.

The reference is written in JavaScript and its scores must be reproduced to the last digit, so nothing here may use
Python's own idea of white space, word or line: `str.strip()`, `str.split()`, `str.splitlines()`, a bare `\\s` and
`casefold()` all differ from it on some character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

#: What JavaScript's `\s` and `trim()` take for white space. U+001C-001F, U+0085 and U+200B are not in it.
WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
#: The same for use inside a character class of a pattern.
WS = "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
#: What `.` does not match and what `^` and `$` break at under JavaScript's `m` flag.
LINE_TERMINATORS = "\n\r\u2028\u2029"

_WHITE_RUN = re.compile(f"[{WS}]+")
# A run of these and of white space becomes one space.
_BLANKED = "`*_#()[]{}<>\"'.,;!?|\\-/:"
# NFKC has made the others blanks already.
_WHITE_AFTER_NFKC = "\t\n\v\f\r\u1680\u2028\u2029\ufeff"
_ASCII_BLANKS = str.maketrans(dict.fromkeys(_BLANKED + "\t\n\v\f\r", " "))
# Canonical ordering is quadratic in the length of a run of combining marks, here as in other implementations;
# a report may hold a megabyte of them. Runs below this length are left to the library.
_LONG_MARK_RUN = 64


def trim(text: str) -> str:
    """`text.trim()` of JavaScript."""
    return text.strip(WHITE_SPACE)


def trim_end(text: str) -> str:
    """`text.trimEnd()` of JavaScript."""
    return text.rstrip(WHITE_SPACE)


def trim_start(text: str) -> str:
    """`text.trimStart()` of JavaScript."""
    return text.lstrip(WHITE_SPACE)


def collapse(text: str) -> str:
    """Each run of white space made one space; the ends are kept."""
    return _WHITE_RUN.sub(" ", text)


def split_lines(text: str) -> list[str]:
    r"""Lines as `split(/\r?\n/)` gives them: a lone CR, VT, FF, U+0085 or U+2028 does not end one."""
    return text.replace("\r\n", "\n").split("\n")


def without_blank_runs(text: str) -> str:
    r"""The text with `\n` for line ends and no more than one empty line in a row, for readers of whom a second one is
    not heard. A report may hold millions of them."""
    text = text.replace("\r\n", "\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def utf16_length(text: str) -> int:
    """`text.length` of JavaScript: an emoji counts two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_prefix(text: str, units: int) -> str:
    """`text.slice(0, units)` of JavaScript; a pair cut in two leaves its first half."""
    return text.encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "surrogatepass")


def ascii_folded(text: str) -> bytes:
    """UTF-8 with ASCII letters in lower case: what a case-insensitive ASCII search needs, at the speed of bytes."""
    return text.encode("utf-8", "surrogatepass").lower()


@cache
def _marks() -> frozenset[str]:
    # By their decompositions: a few marks of class 0 fall apart into marks of other classes.
    return frozenset(
        character
        for character in map(chr, range(0x300, 0x1F000))
        if unicodedata.combining(unicodedata.normalize("NFKD", character)[0])
    )


@cache
def _mark_run() -> re.Pattern[str]:
    return re.compile(f"[{''.join(sorted(_marks()))}]{{{_LONG_MARK_RUN},}}")


def _ordered_marks(run: re.Match[str]) -> str:
    marks = run.group()
    changed = {ord(mark): unicodedata.normalize("NFKD", mark) for mark in set(marks)}
    changed = {code: marks_ for code, marks_ in changed.items() if marks_ != chr(code)}
    if changed:
        marks = marks.translate(changed)
    order = {mark: unicodedata.combining(mark) for mark in set(marks)}
    return "".join(sorted(marks, key=order.__getitem__))


def nfkc(text: str) -> str:
    """NFKC in time that grows with the length of the text, whatever the text."""
    if text.isascii():
        return text
    # A long run covers at least one of these positions, so most texts are not searched for one.
    if len(text) >= _LONG_MARK_RUN and not _marks().isdisjoint(text[::_LONG_MARK_RUN]):
        text = _mark_run().sub(_ordered_marks, text)
    return unicodedata.normalize("NFKC", text)


def normalize_lowered(lowered: str) -> str:
    """`normalize_for_match` of a text already in lower case."""
    if lowered.isascii():
        blanked = lowered.translate(_ASCII_BLANKS)
    else:
        blanked = nfkc(lowered)
        for character in _BLANKED + _WHITE_AFTER_NFKC:
            blanked = blanked.replace(character, " ")
    return " ".join([part for part in blanked.split(" ") if part])


def normalize_for_match(text: str) -> str:
    """The form in which keywords and reports are compared.

    Lower case, then NFKC, and no second lower-casing (so "™" ends as "TM"); Markdown and ASCII punctuation, dashes,
    slashes and colons become blanks; runs of white space become one space; the ends are trimmed.
    """
    return normalize_lowered(text.lower())


class ItemText:
    """One text of a report with its compared forms.

    `normal` is not blanked as `normalize_for_match` does it: the parts of a keyword hold none of the characters that
    it blanks, so they occur in the one form exactly where they occur in the other.
    """

    __slots__ = ("is_ascii", "lowered", "normal", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lowered = text.lower()
        self.is_ascii = self.lowered.isascii()
        self.normal = self.lowered if self.is_ascii else nfkc(self.lowered)


class Keyword:
    """One keyword of a ground truth, with its compared forms.

    `parts` are the space-separated parts of the normalised form. When the whole normalised keyword occurs in a
    normalised text then so does every part of it; so the parts alone decide, for one part as for several.
    """

    __slots__ = ("lowered", "parts", "raw", "shortcut")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.lowered = raw.lower()
        normal = normalize_lowered(self.lowered)
        self.parts: tuple[str, ...] = tuple(normal.split(" ")) if normal else ()
        # On an ASCII text an ASCII keyword that occurs as it stands also occurs normalised.
        self.shortcut = bool(normal) and self.lowered.isascii()

    def matches(self, item: ItemText) -> bool:
        """Whether the keyword occurs: as it stands in lower case, or every normalised part as a substring."""
        normal = item.normal
        if self.parts:
            for part in self.parts:
                if part not in normal:
                    break
            else:
                return True
            if self.shortcut and item.is_ascii:
                return False
        return self.lowered in item.lowered


@lru_cache(maxsize=16384)
def compiled_keyword(keyword: str) -> Keyword:
    """A keyword, prepared once in a process."""
    return Keyword(keyword)


def keyword_matches_text(text: str, keyword: str) -> bool:
    """Whether `keyword` occurs in `text` under the reference's rules: no whole words, parts in any order."""
    return Keyword(keyword).matches(ItemText(text))


def required_keyword_matches(count: int) -> int:
    """How many of `count` keywords a text must hold: all of up to two, else two or four tenths, rounded up."""
    if count == 0:
        return 0
    return min(count, max(2, -(-4 * count // 10)))
