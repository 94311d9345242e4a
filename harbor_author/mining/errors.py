"""What mining could not do, in a sentence."""

from __future__ import annotations

from harbor_author.errors import AuthorError


class MiningError(AuthorError):
    """A repository cannot be read, or a commit cannot become a task."""
