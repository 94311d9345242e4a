"""A plugin's git history -> candidates for tasks; a commit -> a task."""

from harbor_author.mining.errors import MiningError

__all__ = ["MiningError"]
