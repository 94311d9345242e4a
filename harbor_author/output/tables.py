"""Plain tables that fit the terminal, with the widths of Chinese text and emoji right."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from wcwidth import wcswidth, wcwidth

from harbor_author.output.text import printable


def table(rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Rows as aligned columns, two blanks apart; the last column is cut to the terminal's width.

    Args:
        width: columns to fit; default: the terminal's, and no limit when standard output is none.
    """
    if not rows:
        return ""
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    cells = [[printable(cell) for cell in row] for row in rows]
    columns = [max(display_width(row[index]) for row in cells) for index in range(len(cells[0]) - 1)]
    lines = []
    for row in cells:
        start = "".join(
            cell + " " * (column - display_width(cell) + 2)
            for cell, column in zip(row, columns, strict=False)
        )
        last = row[-1]
        if width is not None:
            last = cut(last, max(width - display_width(start), 8))
        lines.append((start + last).rstrip())
    return "\n".join(lines)


def display_width(text: str) -> int:
    """Columns that printable text takes on a terminal."""
    return max(wcswidth(text), 0)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns, with an ellipsis when it had more."""
    if display_width(text) <= width:
        return text
    kept, used = "", 0
    for character in text:
        used += max(wcwidth(character), 0)
        if used > width - 1:
            break
        kept += character
    return kept + "…"
