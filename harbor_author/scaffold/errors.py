"""The scaffold room's error."""

from __future__ import annotations

from harbor_author.errors import AuthorError


class ScaffoldError(AuthorError):
    """A task cannot be made or renamed as asked."""
