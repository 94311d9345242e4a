"""The error of this room."""

from __future__ import annotations

from harbor_author.errors import AuthorError


class CheckError(AuthorError):
    """Tasks could not be checked at all: no such directory, no task found, an unknown rule."""
