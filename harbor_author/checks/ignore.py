"""Which files a `.gitignore` or `.dockerignore` leaves out, and by which of its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Pattern:
    """One line of an ignore file; `text` as written, `line` 1-based."""

    text: str
    line: int
    regex: re.Pattern[str]
    negated: bool
    directory_only: bool


@dataclass(frozen=True)
class IgnoreFile:
    """The patterns of one file, in order; the last match decides."""

    patterns: tuple[Pattern, ...]

    def match(self, path: str, *, is_dir: bool = False) -> Pattern | None:
        """The pattern that leaves `path` out (or a directory above it), None when it stays in.

        Args:
            path: relative to the ignore file's directory, forward slashes.
        """
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            prefix = "/".join(parts[:depth])
            decided = self._last(prefix, is_dir or depth < len(parts))
            if decided is not None and not decided.negated:
                # git: nothing below an ignored directory can be taken in again.
                return decided
        return None

    def _last(self, path: str, is_dir: bool) -> Pattern | None:
        for pattern in reversed(self.patterns):
            if (is_dir or not pattern.directory_only) and pattern.regex.fullmatch(path):
                return pattern
        return None


@lru_cache(maxsize=512)
def gitignore(text: str) -> IgnoreFile:
    """Read a `.gitignore` (or `.harborignore`)."""
    patterns = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = re.sub(r"(?<!\\)[ \t]+$", "", raw)
        if not line or line.startswith("#"):
            continue
        body = line
        negated = body.startswith("!")
        if negated:
            body = body[1:]
        body = body.removeprefix("\\") if body.startswith(("\\#", "\\!")) else body
        directory_only = body.endswith("/")
        body = body.rstrip("/")
        if not body:
            continue
        anchored = "/" in body
        regex = _glob(body.removeprefix("/"))
        if not anchored:
            regex = "(?:.*/)?" + regex
        patterns.append(Pattern(line, number, _compile(regex), negated, directory_only))
    return IgnoreFile(tuple(patterns))


@dataclass(frozen=True)
class DockerIgnore:
    """A `.dockerignore`: patterns match from the context's root, and the last match decides, at any depth."""

    patterns: tuple[Pattern, ...]

    def match(self, path: str) -> Pattern | None:
        decided: Pattern | None = None
        parts = path.split("/")
        for pattern in self.patterns:
            if any(pattern.regex.fullmatch("/".join(parts[:depth])) for depth in range(1, len(parts) + 1)):
                decided = None if pattern.negated else pattern
        return decided


@lru_cache(maxsize=512)
def dockerignore(text: str) -> DockerIgnore:
    """Read a `.dockerignore`."""
    patterns = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        negated = line.startswith("!")
        body = line[1:].strip() if negated else line
        body = body.strip("/").removeprefix("./")
        if body:
            patterns.append(Pattern(line, number, _compile(_glob(body)), negated, False))
    return DockerIgnore(tuple(patterns))


def _compile(regex: str) -> re.Pattern[str]:
    try:
        return re.compile(regex, re.DOTALL)
    except re.error:
        return re.compile(r"(?!)")


def _glob(pattern: str) -> str:
    """A gitignore glob as a regular expression without nested repetition, so that it cannot explode."""
    pattern = re.sub(r"\*{3,}", "**", pattern)
    pattern = re.sub(r"(?:\*\*/)+", "**/", pattern)
    out = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if pattern.startswith("**/", index):
            out.append("(?:.*/)?")
            index += 3
        elif pattern.startswith("**", index):
            out.append(".*")
            index += 2
        elif char == "*":
            out.append("[^/]*")
            index += 1
        elif char == "?":
            out.append("[^/]")
            index += 1
        elif char == "[" and (end := pattern.find("]", index + 2)) > 0:
            body = pattern[index + 1 : end].replace("\\", "\\\\")
            body = "^" + body[1:] if body[:1] in "!^" else body
            out.append(f"[{body}]")
            index = end + 1
        elif char == "\\" and index + 1 < len(pattern):
            out.append(re.escape(pattern[index + 1]))
            index += 2
        else:
            out.append(re.escape(char))
            index += 1
    return "".join(out)
