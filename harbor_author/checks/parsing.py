"""Parsing text that may be made to take for ever."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

#: The grammars need time that grows with the square of some texts that nobody writes (`a=(a=(a=(`, NULs, a line of
#: `<`): no such text is worth more processor time, bytes or length of a line than this.
LIMIT_S = 1.0
MAX_BYTES = 1 << 17
MAX_LINE_BYTES = 8000
_SMALL = 4096
_CHUNK = 1 << 14
_LONG_LINE = re.compile(rb"(?<=[^\n]{%d})[^\n]+" % MAX_LINE_BYTES)


def parse_bounded(parser: Parser, data: bytes) -> Tree:
    """The syntax tree of `data` with its places kept; an empty one when that takes longer than `LIMIT_S`.

    What is beyond the limits of bytes, and NULs, are blanks to the parser.
    """
    data = data[:MAX_BYTES].replace(b"\0", b" ")
    if len(data) > MAX_LINE_BYTES:
        data = _LONG_LINE.sub(lambda match: b" " * len(match[0]), data)
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
