"""Tables of a Markdown document, cell by cell, with the place of each so that one cell can be changed alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_DELIMITER = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*")


@dataclass(frozen=True)
class Row:
    """One line of a table: its 0-based index in the document, each cell's place in it, and its text as it stands."""

    index: int
    spans: tuple[tuple[int, int], ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A header, and the rows below the line of dashes."""

    header: Row
    rows: tuple[Row, ...]


def prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Index and text of each line that is in no fenced code block."""
    fence = ""
    for index, line in enumerate(lines):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif match:
            fence = match[1]
        else:
            yield index, line


def find_tables(lines: list[str]) -> list[Table]:
    """All tables whose lines begin with `|`, outside fenced code."""
    kept = dict(prose(lines))
    tables = []
    index = 0
    while index < len(lines):
        if index in kept and _is_row(lines[index]) and _DELIMITER.fullmatch(kept.get(index + 1, "")):
            end = index + 2
            while end in kept and _is_row(lines[end]):
                end += 1
            rows = tuple(_row(number, lines[number]) for number in range(index + 2, end))
            tables.append(Table(_row(index, lines[index]), rows))
            index = end
        else:
            index += 1
    return tables


def with_cell(line: str, span: tuple[int, int], cell: str) -> str:
    """`line` with the content of one cell replaced; its padding stays, an empty cell gets one space on each side."""
    start, end = span
    if start < end:
        return f"{line[:start]}{cell or ' '}{line[end:]}"
    return f"{line[:start]} {cell} {line[end:].lstrip(' ')}"


def cell_text(text: str) -> str:
    """Any text as the content of one cell: one line, its bars escaped."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    escaped = re.sub(r"(\\*)\|", lambda match: match[1] * 2 + "\\|", line)
    # A backslash at the end would escape the bar after the cell.
    return escaped + " " if escaped.endswith("\\") else escaped


def _is_row(line: str) -> bool:
    return line.lstrip(" ").startswith("|")


def _row(index: int, line: str) -> Row:
    edges = _bars(line)
    if line[edges[-1] + 1 :].strip():
        edges.append(len(line))
    spans = []
    for left, right in pairwise(edges):
        content = line[left + 1 : right]
        start = left + 1 + len(content) - len(content.lstrip())
        spans.append((start, left + 1 + len(content.rstrip())) if content.strip() else (left + 1, left + 1))
    return Row(index, tuple(spans), tuple(line[start:end] for start, end in spans))


def _bars(line: str) -> list[int]:
    """Where the bars are that part cells: not those after a backslash, which is so in code spans, too."""
    bars, escaped = [], False
    for index, char in enumerate(line):
        if char == "|" and not escaped:
            bars.append(index)
        escaped = char == "\\" and not escaped
    return bars
