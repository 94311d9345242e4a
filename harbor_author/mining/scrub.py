"""The after state's names in the fixture's comments and documents: they give the answer away."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harbor_author.mining.facts import split_fact
from harbor_author.mining.hostdata import Host
from harbor_author.mining.javascript import SOURCE_SUFFIXES, comments, identifiers
from harbor_author.mining.licence import is_licence_file
from harbor_author.mining.states import Tree, TreeFile

_DOCUMENT = re.compile(
    r"(?i)\.(md|mdx|markdown|rst|txt|adoc)$|(^|/)(change(s|log)|news|history|readme|upgrading|migrat\w*)[^/]*$"
)
_HASH_COMMENTS = (".yml", ".yaml", ".toml", ".sh", ".ini")
_SHORTEST_NAME = 5
#: A migration that brings more has names that are no hints.
_MOST_NAMES = 300
#: A lower-case word without a hump, digit or mark is English as often as it is a name: `remote`, `jobs`.
_TELLING = re.compile(r"[a-z0-9][A-Z]|[_$.\-/]|\d")


@dataclass(frozen=True)
class Hint:
    """A line of the fixture that holds a name of the after state."""

    path: str
    line: int
    name: str


def after_names(before: Tree, after: Tree, gained: Iterable[str], host: Host) -> frozenset[str]:
    """Names that the code has only after the migration, and files that only then exist.

    Args:
        gained: the facts that the migration adds.
    """
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    new = _names(after, changed) - _names(before, changed)
    new = {name for name in new if len(name) >= _SHORTEST_NAME and _TELLING.search(name)}
    own_keys = tuple(key for key in host.manifest if key not in ("main", "exports"))
    for fact in gained:
        kind, rest = split_fact(fact)
        if kind in ("word", "import") or (kind in ("inject", "use") and _TELLING.search(rest)):
            new.add(rest)
        elif kind == "manifest" and rest.startswith(own_keys):
            new.add(rest.partition("=")[0])
    new |= {path for path in after if path not in before and host.host_file(path)}
    telling = sorted(
        (name for name in new if not _in_code(name, before)), key=lambda name: (-len(name), name)
    )
    return frozenset(telling[:_MOST_NAMES])


def _names(tree: Tree, paths: set[str]) -> set[str]:
    found: set[str] = set()
    for path in paths & tree.keys():
        if path.endswith(SOURCE_SUFFIXES):
            found |= identifiers(tree[path].data.decode("utf-8", "replace"))
    return found


def _in_code(name: str, tree: Tree) -> bool:
    """Whether the fixture's own code has the name, so that it tells nothing."""
    needle = name.encode()
    return any(
        name in identifiers(file.data.decode("utf-8", "replace"))
        for path, file in tree.items()
        if path.endswith(SOURCE_SUFFIXES) and needle in file.data
    )


def find_hints(tree: Tree, names: frozenset[str]) -> list[Hint]:
    """Every line of a comment or document of `tree` that holds one of `names`."""
    pattern = _pattern(names)
    if pattern is None:
        return []
    hints = []
    needles = [name.encode() for name in names]
    for path, file in sorted(tree.items()):
        if not _has_prose(path) or not any(needle in file.data for needle in needles):
            continue
        text = _text(file)
        if text is None:
            continue
        for start, end in _prose(path, text):
            for match in pattern.finditer(text, start, end):
                hints.append(Hint(path=path, line=text.count("\n", 0, match.start()) + 1, name=match.group()))
    return hints


def scrub(tree: Tree, hints: Iterable[Hint]) -> Tree:
    """The tree without those comments and lines of documents."""
    by_path: dict[str, set[int]] = {}
    for hint in hints:
        by_path.setdefault(hint.path, set()).add(hint.line)
    clean = dict(tree)
    for path, lines in by_path.items():
        text = _text(tree[path])
        assert text is not None
        clean[path] = TreeFile(
            data=_scrub_text(path, text, lines).encode("utf-8"), executable=tree[path].executable
        )
    return clean


def _scrub_text(path: str, text: str, lines: set[int]) -> str:
    if not _comment_style(path):
        kept = [
            line for number, line in enumerate(text.splitlines(keepends=True), start=1) if number not in lines
        ]
        return "".join(kept)
    # Whole comments go; code on the same line stays, and a line that held nothing else goes with it.
    parts, end = [], 0
    for start, stop in _prose(path, text):
        first = text.count("\n", 0, start) + 1
        last = first + text.count("\n", start, stop)
        if not any(first <= line <= last for line in lines):
            continue
        begin = text.rfind("\n", 0, start) + 1
        after = text.find("\n", stop)
        after = len(text) if after < 0 else after
        if not text[begin:start].strip() and not text[stop:after].strip():
            start, stop = begin, min(len(text), after + 1)
        elif not text[stop:after].strip():
            start = begin + len(text[begin:start].rstrip())
        parts.append(text[end:start])
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def is_document(path: str) -> bool:
    """Whether a path is written for people: prose, a change log."""
    return _DOCUMENT.search(path) is not None


def _has_prose(path: str) -> bool:
    return _comment_style(path) is not None or (is_document(path) and not is_licence_file(path))


def _prose(path: str, text: str) -> list[tuple[int, int]]:
    style = _comment_style(path)
    if style == "script":
        return comments(text)
    if style == "hash":
        return [match.span(1) for match in re.finditer(r"(?m)(?:^|(?<=\s))(#[^\n]*)", text)]
    return [(0, len(text))]


def _comment_style(path: str) -> str | None:
    if path.endswith(SOURCE_SUFFIXES):
        return "script"
    return "hash" if path.endswith(_HASH_COMMENTS) else None


def _pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    if not names:
        return None
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"(?<![\w$])(?:{alternatives})(?![\w$])")


def _text(file: TreeFile) -> str | None:
    try:
        return file.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
