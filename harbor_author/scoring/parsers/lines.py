"""Headings and list markers, as the reference's regular expressions define them; every check takes linear time.

Possessive quantifiers stand where the reference back-tracks without ever finding another way.
"""

from __future__ import annotations

import re

from harbor_author.scoring.text import WS, collapse, trim, trim_end

_HASH_HEADING = re.compile(f"#{{1,6}}[{WS}]")
_BOLD_HEADING = re.compile(rf"\*{{1,2}}+[^*\n]++\*{{1,2}}+(?:[{WS}]*+\([^)\n]*+\))?+[{WS}]*+:?+[{WS}]*+\Z")
_PLAIN_HEADING = re.compile(r"[A-Za-z][A-Za-z0-9'() \-/]{2,}+:\Z")
_BOLD_NUMBER = re.compile(rf"\*{{1,2}}[{WS}]*+[0-9]++[.)][{WS}]")
_OPENING_HASHES = re.compile(f"#{{1,6}}[{WS}]*+")
_OPENING_STARS = re.compile(rf"\*{{1,2}}[{WS}]*+")


def is_hash_heading(line: str) -> bool:
    """`# X` to `###### X`, on a trimmed line."""
    return _HASH_HEADING.match(line) is not None


def is_emphasis_heading(line: str) -> bool:
    """`**X**`, `*X* (note):` or plain words with a final colon, on a trimmed line."""
    if line[0] == "*":
        return _BOLD_HEADING.match(line) is not None
    return line[-1] == ":" and _PLAIN_HEADING.match(line) is not None


def is_heading(line: str) -> bool:
    """Whether a trimmed, non-empty line is a heading for the generic parser."""
    return is_hash_heading(line) if line[0] == "#" else is_emphasis_heading(line)


def is_rule(line: str) -> bool:
    """A horizontal rule: three or more dashes or stars and nothing else but white space."""
    stripped = trim(line)
    return len(stripped) >= 3 and stripped[0] in "-*" and stripped.strip(stripped[0]) == ""


def is_bold_number(line: str) -> bool:
    """`**1. X**`: an item, not a heading, for the critics' parsers."""
    return _BOLD_NUMBER.match(line) is not None


def heading_text(line: str) -> str:
    """The words of a heading in lower case, without its marks; any other line is treated the same way."""
    return collapse(_without_marks(line)).strip(" ").lower()


def heading_text_with_plain_dashes(line: str) -> str:
    """`heading_text` with em and en dashes made hyphens, as the critics' parsers compare it."""
    text = _without_marks(line).replace("\u2014", "-").replace("\u2013", "-")
    return collapse(text).strip(" ").lower()


def _without_marks(line: str) -> str:
    text = trim(line)
    if text.startswith("#"):
        match = _OPENING_HASHES.match(text)
        assert match is not None
        text = text[match.end() :]
    if text.startswith("*"):
        match = _OPENING_STARS.match(text)
        assert match is not None
        text = text[match.end() :]
    bare = trim_end(text)
    if bare.endswith(":"):
        bare = trim_end(bare[:-1])
    if bare.endswith("**"):
        return trim_end(bare[:-2])
    if bare.endswith("*"):
        return trim_end(bare[:-1])
    return text
