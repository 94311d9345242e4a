"""Parsing text that may be made to take for ever."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

#: The grammars need time that grows with the square of some texts that nobody writes (`a=(a=(a=(`, NULs): no such text
#: is worth more processor time than this.
LIMIT_S = 1.0
_SMALL = 4096
_CHUNK = 1 << 16


def parse_bounded(parser: Parser, data: bytes) -> Tree:
    """The syntax tree of `data`; an empty one when it cannot be had within `LIMIT_S` seconds of processor time."""
    if len(data) <= _SMALL:
        return parser.parse(data)
    deadline_s = time.thread_time() + LIMIT_S
    try:
        return parser.parse(
            lambda offset, _: data[offset : offset + _CHUNK],
            progress_callback=lambda *_: time.thread_time() > deadline_s,
        )
    except ValueError:
        parser.reset()
        return parser.parse(b"")
