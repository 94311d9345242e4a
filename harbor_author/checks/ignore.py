"""Which files a `.gitignore` or `.dockerignore` leaves out, and by which of its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

#: A longer pattern matches no path that a system can hold.
_MAX_LENGTH = 4096


@dataclass(frozen=True)
class Pattern:
    """One line of an ignore file; `text` as written, `line` 1-based."""

    text: str
    line: int
    glob: _Glob
    negated: bool
    directory_only: bool


@dataclass(frozen=True)
class IgnoreFile:
    """The patterns of one file, in order; the last match decides."""

    patterns: tuple[Pattern, ...]
    _folders: dict[str, Pattern | None] = field(default_factory=dict, compare=False, repr=False)

    def match(self, path: str, *, is_dir: bool = False) -> Pattern | None:
        """The pattern that leaves `path` out (or a directory above it), None when it stays in.

        Args:
            path: relative to the ignore file's directory, forward slashes.
        """
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            prefix = "/".join(parts[:depth])
            folder = is_dir or depth < len(parts)
            if folder and prefix not in self._folders:
                self._folders[prefix] = self._last(prefix, True)
            decided = self._folders[prefix] if folder else self._last(prefix, False)
            if decided is not None and not decided.negated:
                # git: nothing below an ignored directory can be taken in again.
                return decided
        return None

    def _last(self, path: str, is_dir: bool) -> Pattern | None:
        for pattern in reversed(self.patterns):
            if (is_dir or not pattern.directory_only) and pattern.glob.fullmatch(path):
                return pattern
        return None


@lru_cache(maxsize=512)
def gitignore(text: str) -> IgnoreFile:
    """Read a `.gitignore` (or `.harborignore`)."""
    patterns = []
    for number, raw in enumerate(text.split("\n"), 1):
        if len(raw) > _MAX_LENGTH:
            continue
        line = re.sub(r"(?<!\\)[ \t]+$", "", raw)
        if not line or line.startswith("#"):
            continue
        body = line
        negated = body.startswith("!")
        if negated:
            body = body[1:]
        body = body.removeprefix("\\") if body.startswith(("\\#", "\\!")) else body
        directory_only = body.endswith("/")
        body = body.removesuffix("/")
        if not body:
            continue
        anchored = "/" in body
        glob = _Glob(body.removeprefix("/"), anywhere=not anchored)
        patterns.append(Pattern(line, number, glob, negated, directory_only))
    return IgnoreFile(tuple(patterns))


@dataclass(frozen=True)
class DockerIgnore:
    """A `.dockerignore`: patterns match from the context's root, and the last match decides, at any depth."""

    patterns: tuple[Pattern, ...]

    def match(self, path: str) -> Pattern | None:
        decided: Pattern | None = None
        parts = path.split("/")
        for pattern in self.patterns:
            if any(pattern.glob.fullmatch("/".join(parts[:depth])) for depth in range(1, len(parts) + 1)):
                decided = None if pattern.negated else pattern
        return decided


@lru_cache(maxsize=512)
def dockerignore(text: str) -> DockerIgnore:
    """Read a `.dockerignore`."""
    patterns = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#") or len(line) > _MAX_LENGTH:
            continue
        negated = line.startswith("!")
        body = line[1:].strip() if negated else line
        body = body.strip("/").removeprefix("./")
        if body:
            patterns.append(Pattern(line, number, _Glob(body), negated, False))
    return DockerIgnore(tuple(patterns))


class _Glob:
    """A compiled glob. It costs at most pattern times path: hostile patterns and names cannot make it explode."""

    def __init__(self, pattern: str, *, anywhere: bool = False) -> None:
        self._segments = [None if part == "**" else _segment(part) for part in pattern.split("/")]
        #: Of a pattern without a slash, which is most of them: it asks for the last name alone.
        self._name = self._segments[0] if anywhere and len(self._segments) == 1 else None
        if anywhere:
            self._segments.insert(0, None)

    def fullmatch(self, path: str) -> bool:
        """Whether the whole of `path` matches; `**` stands for any folders, at the end for at least one name."""
        if self._name is not None:
            return self._name.fullmatch(path.rpartition("/")[2]) is not None
        parts = path.split("/")
        last = len(self._segments) - 1
        # reached[n]: the segments so far match the first n parts.
        reached = [True] + [False] * len(parts)
        for index, segment in enumerate(self._segments):
            if segment is None:
                first = reached.index(True) if True in reached else len(reached)
                first += index == last
                reached = [number >= first for number in range(len(reached))]
            else:
                reached = [False] + [
                    before and segment.fullmatch(part) is not None
                    for before, part in zip(reached, parts, strict=False)
                ]
        return reached[-1]


_NOTHING = re.compile(r"(?!)")
#: A character of a glob's brackets, which a backslash takes for itself; then brackets, whose first may be a `]`.
_CHAR = r"(?:\\.|[^\\])"
_BRACKETS = re.compile(rf"\[([!^]?)({_CHAR}(?:\\.|[^\\\]])*)\]", re.DOTALL)
_ITEM = re.compile(rf"({_CHAR})(?:-({_CHAR}))?", re.DOTALL)


def _as_regex(item: re.Match[str]) -> str:
    """A character or a range of a glob's brackets, for a regex's: nothing in it means anything else there.

    Of a range that runs backwards git takes the beginning.
    """
    first, last = item[1][-1], (item[2] or item[1])[-1]
    return f"{re.escape(first)}-{re.escape(last)}" if first < last else re.escape(first)


def _segment(glob: str) -> re.Pattern[str]:
    """The part of a glob between two slashes. Every star but the last takes the first fit for good."""
    pieces = [""]
    index = 0
    while index < len(glob):
        char = glob[index]
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            index += 1
        elif char == "?":
            pieces[-1] += "."
            index += 1
        elif char == "[":
            found = _BRACKETS.match(glob, index)
            if found is None:
                return _NOTHING
            pieces[-1] += f"[{found[1] and '^'}{_ITEM.sub(_as_regex, found[2])}]"
            index = found.end()
        elif char == "\\" and index + 1 < len(glob):
            pieces[-1] += re.escape(glob[index + 1])
            index += 2
        else:
            pieces[-1] += re.escape(char)
            index += 1
    first, *others = pieces
    regex = (
        first
        + "".join(f"(?>.*?{piece})" for piece in others[:-1])
        + "".join(f".*{piece}" for piece in others[-1:])
    )
    return re.compile(regex, re.DOTALL)
