"""Whether a finding shows evidence: a backticked snippet, or a place in a file with its line number.

The reference's pattern

    `[^`]+`|\\b(?:[A-Za-z0-9_./-]+\\.[A-Za-z0-9_+-]+|[A-Za-z_][A-Za-z0-9_]*\\(\\)):\\d+(?:-\\d+)?(?:[:]\\d+)?\\b

takes cubic time on "a.a.a.a...". What follows finds the same texts in linear time: a path needs no more than one word
character before the marks that end in its extension's dot, and what may follow the line number never matters once the
digits end at a word boundary.
"""

from __future__ import annotations

import re

_SNIPPET = re.compile("`[^`]+`")
_LINE_NUMBER = re.compile(r":[0-9]")
_PLACE = re.compile(
    r"[A-Za-z0-9_][./-]*\.[A-Za-z0-9_+-]+:[0-9]+(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*\(\):[0-9]+(?![A-Za-z0-9_])"
)


def has_evidence(text: str) -> bool:
    """Whether `text` holds a snippet of code or a `file.ext:12`, `call():12-15` place."""
    if "`" in text and _SNIPPET.search(text):
        return True
    return _LINE_NUMBER.search(text) is not None and _PLACE.search(text) is not None
