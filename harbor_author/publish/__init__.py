"""The gate before delivery, and the description of the change set that passes it."""

from harbor_author.publish.change_set import change_set
from harbor_author.publish.gate import Gate, PublishError, gates, record

__all__ = ["Gate", "PublishError", "change_set", "gates", "record"]
