"""Just enough JavaScript and TypeScript to tell code from comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SOURCE_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".vue")

_PIECE = re.compile(
    r"""(?P<space>\s+)
    | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?)
    | (?P<word>[^\W\d][\w$]*|\$[\w$]*|\#[\w$]+)
    | (?P<number>\d[\w.]*)
    | (?P<template>`)
    | (?P<punctuation>.)""",
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%~^<>")
_WORDS_BEFORE_REGEX = frozenset(
    {"return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "throw"}
)
_TEMPLATE_STOP = re.compile(r"\\.|`|\$\{", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A part of a source text; the pieces of a text cover it without gaps."""

    kind: str  # space, comment, string, template, regex, word, number, punctuation
    start: int
    end: int


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of `text`, in order. Never fails: what cannot be read is punctuation."""
    position, before = 0, ""
    while position < len(text):
        match = _PIECE.match(text, position)
        assert match is not None, "the last alternative takes any character"
        kind, end = str(match.lastgroup), match.end()
        if kind == "template":
            end = _template_end(text, end)
        elif text[position] == "/" and kind == "punctuation" and _regex_may_start(before):
            regex = _REGEX.match(text, position)
            if regex is not None:
                kind, end = "regex", regex.end()
        yield Piece(kind=kind, start=position, end=end)
        if kind not in ("space", "comment"):
            before = text[position:end]
        position = end


def _regex_may_start(before: str) -> bool:
    return not before or before in _BEFORE_REGEX or before in _WORDS_BEFORE_REGEX


def _template_end(text: str, position: int) -> int:
    """The end of a template literal whose opening backtick ends at `position`, nested ones included."""
    while match := _TEMPLATE_STOP.search(text, position):
        position = match.end()
        if match.group() == "`":
            return position
        if match.group() == "${":
            position = _substitution_end(text, position)
    return len(text)


def _substitution_end(text: str, position: int) -> int:
    depth = 1
    while depth and position < len(text):
        match = _PIECE.match(text, position)
        assert match is not None
        position = _template_end(text, match.end()) if match.lastgroup == "template" else match.end()
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
    return position


#: A comment (group 1), or something inside which what looks like a comment is none. A regular expression is told
#: from a division by what stands before it. One pass in C: a survey takes comments out of thousands of files.
_COMMENT = re.compile(
    r"""(//[^\n]*|/\*.*?(?:\*/|\Z))
    | '(?:\\.|[^'\\\n])*' | "(?:\\.|[^"\\\n])*" | `(?:\\.|[^`\\])*`
    | (?:[=(,:\[!&|?{};]|\breturn)[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/""",
    re.DOTALL | re.VERBOSE,
)


def code_only(text: str) -> str:
    """`text` with every comment made spaces; line breaks stay, so offsets and lines do too."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    if match.group(1) is None:
        return match.group()
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def comments(text: str) -> list[tuple[int, int]]:
    """Start and end offset of each comment."""
    return [(piece.start, piece.end) for piece in pieces(text) if piece.kind == "comment"]


def identifiers(text: str) -> set[str]:
    """The words of the code, without comments and strings."""
    return {text[piece.start : piece.end] for piece in pieces(text) if piece.kind == "word"}
