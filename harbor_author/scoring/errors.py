"""The one exception type of this room."""

from __future__ import annotations

from harbor_author.errors import AuthorError


class ScoringError(AuthorError):
    """A ground truth, a report or a benchmark run that cannot be used. Never a score of zero."""


class TruthError(ScoringError):
    """A ground truth that breaks its schema; `message` is the reference suite's own wording."""
