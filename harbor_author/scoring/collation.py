"""The order of JavaScript's `localeCompare` in the root locale, as far as identifiers need it."""

from __future__ import annotations

_ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
_RANK = {character: rank for rank, character in enumerate(_ORDER)}


def locale_key(text: str) -> tuple[tuple[tuple[int, str], ...], tuple[bool, ...]]:
    """A sort key: punctuation, digits, then letters without regard to case; equal so far, lower case comes first."""
    primary = tuple((_RANK.get(character, len(_ORDER)), character.lower()) for character in text)
    return primary, tuple(character != character.lower() for character in text)
