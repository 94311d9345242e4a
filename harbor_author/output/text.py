"""Text from a task on its way to a terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with everything that a terminal would obey, or that hides text, shown as an escape.

    A task's names, logs and reasons are another person's words: an escape sequence in them must not reach a terminal.
    """
    return _CONTROL.sub(
        lambda match: f"\\u{ord(match[0]):04x}" if ord(match[0]) > 0xFF else f"\\x{ord(match[0]):02x}", text
    )


def printable_lines(text: str) -> str:
    """The same for text of several lines: line breaks and tabs stay, a CR before a line break goes."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(printable(part) for part in line.split("\t")) for line in lines)


def counted(number: int, noun: str) -> str:
    """Such as `1 task` and `2 tasks`: a noun whose plural ends in an s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
