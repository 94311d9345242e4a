"""Reports read as the reference reads them."""

from __future__ import annotations

import sys
from pathlib import Path

from harbor_author.scoring.errors import ScoringError


def read_report(path: Path) -> str:
    """The text of a report, or of standard input for "-".

    Line ends and a byte order mark are kept; bytes that are no UTF-8 become U+FFFD.

    Raises:
        ScoringError: it cannot be read.
    """
    if str(path) == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise ScoringError(
            f"the report cannot be read: {error.strerror}",
            path=path,
            hint="check the path and its permissions",
        ) from error
