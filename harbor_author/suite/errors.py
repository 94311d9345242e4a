"""The suite room's error."""

from __future__ import annotations

from harbor_author.errors import AuthorError


class SuiteError(AuthorError):
    """A suite, its settings, a task's name or a card cannot be read or found."""
