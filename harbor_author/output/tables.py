"""Plain tables that fit the terminal, with the widths of Chinese text and emoji right."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO

from harbor_author.output.text import printable

_GAP = 2
#: Columns of a terminal that does not tell.
_UNKNOWN = 80
#: A column is cut to this only when no wider one is left.
_LEAST = 4
#: The last column holds what a row is about, and is cut first: to this, then with the others.
_LAST = 16


def table(rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Rows as aligned columns, two blanks apart; cells are cut so that no line is wider than the terminal.

    Args:
        width: columns to fit; default: the terminal's, and no limit when standard output is none.
    """
    if not rows:
        return ""
    if width is None:
        width = terminal_width()
    cells = [[printable(cell) for cell in row] for row in rows]
    columns = [max(display_width(row[index]) for row in cells) for index in range(len(cells[0]))]
    if width is not None:
        columns = _fit(columns, width)
    lines = []
    for row in cells:
        shown = [cut(cell, column) for cell, column in zip(row, columns, strict=True)]
        padded = (
            cell + " " * (column - display_width(cell)) for cell, column in zip(shown, columns, strict=True)
        )
        line = (" " * _GAP).join(padded).rstrip()
        lines.append(line if width is None else cut(line, width))
    return "\n".join(lines)


def terminal_width(stream: IO[str] | None = None) -> int | None:
    """Columns of the terminal that a stream is (default: standard output), or None when it is none.

    `COLUMNS` overrules what the terminal says of itself.
    """
    stream = stream if stream is not None else sys.stdout
    try:
        if not stream.isatty():
            return None
        given = os.environ.get("COLUMNS", "")
        width = int(given) if given.isdecimal() else 0
        return width or os.get_terminal_size(stream.fileno()).columns or _UNKNOWN
    except (AttributeError, ValueError):  # no stream, or a closed one
        return None
    except OSError:
        return _UNKNOWN


def _fit(columns: Sequence[int], width: int) -> list[int]:
    """Narrower columns whose sum fits: the last one gives first, then the widest ones give alike."""
    fitted = list(columns)
    room = max(width - _GAP * (len(fitted) - 1), 0)
    over = sum(fitted) - room
    if over > 0:
        fitted[-1] = max(fitted[-1] - over, min(fitted[-1], _LAST))
    while sum(fitted) > room and max(fitted) > _LEAST:
        widest = max(fitted)
        index = max(place for place, column in enumerate(fitted) if column == widest)
        fitted[index] -= 1
    return fitted


def display_width(text: str) -> int:
    """Columns that printable text takes on a terminal."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns, with an ellipsis when it had more."""
    if display_width(text) <= width:
        return text
    if width < 1:
        return ""
    kept = ""
    for character in text:
        if display_width(kept + character) > width - 1:
            break
        kept += character
    return kept + "…"
