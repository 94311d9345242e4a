"""The one error that the command line turns into a message and exit status 2."""

from __future__ import annotations

from pathlib import Path


class AuthorError(Exception):
    """Something could not be done.

    Every room raises its own subclass. The text says what is wrong, where, and what to do.

    Args:
        message: what is wrong, one sentence, without the place and without a final remedy.
        path: the file or directory at fault, when there is one.
        line: 1-based line in `path`.
        column: 1-based column in that line.
        hint: what the reader should do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        place = ""
        if self.path is not None:
            place = str(self.path)
            if self.line is not None:
                place += f":{self.line}"
                if self.column is not None:
                    place += f":{self.column}"
            place += ": "
        text = place + self.message
        return f"{text}\n  fix: {self.hint}" if self.hint else text
