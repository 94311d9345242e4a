"""The errors of the proof room."""

from __future__ import annotations

from harbor_author.errors import AuthorError


class ProofError(AuthorError):
    """A proof could not be made, or a receipt not read."""


class TaskRefusedError(ProofError):
    """A task that no trial can start on; `cause` is from `causes.CAUSES`."""

    def __init__(
        self,
        cause: str,
        message: str,
        *,
        path: object = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, path=None if path is None else str(path), line=line, hint=hint)
        self.cause = cause
        #: The end of what tells why, such as a build's output.
        self.log = ""


def says_no_room(text: str) -> bool:
    """Whether a program or the engine says that a file system is full."""
    return "no space left" in text.lower()
