"""One walk over a task's directory, which follows no link and opens no file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["file", "dir", "link", "other"]

#: Directories that are noted but not entered: their content is another program's.
OPAQUE = frozenset({".git", "node_modules", "__pycache__", ".hg", ".svn"})
#: A task with more entries than this is no task; the walk stops and says so.
MAX_ENTRIES = 100_000
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in the tree; `path` is relative to the task with forward slashes."""

    path: str
    kind: Kind
    size: int
    mode: int
    opaque: bool = False

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def executable(self) -> bool:
        return bool(self.mode & 0o111)


@dataclass
class Tree:
    """What lies in a task's directory.

    Attributes:
        entries: by relative path, directories before their content, sorted.
        unreadable: (relative path, cause) of what could not be listed.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)


def walk(root: Path) -> Tree:
    """List everything below `root`."""
    tree = Tree()
    stack: list[tuple[str, str, int]] = [(os.fspath(root), "", 0)]
    while stack:
        directory, prefix, depth = stack.pop()
        if depth > MAX_DEPTH:
            tree.unreadable.append((prefix.rstrip("/"), f"nested more than {MAX_DEPTH} directories deep"))
            continue
        if len(tree.entries) > MAX_ENTRIES:
            tree.unreadable.append((prefix.rstrip("/"), f"more than {MAX_ENTRIES} files in one task"))
            break
        try:
            with os.scandir(directory) as scan:
                found = sorted(scan, key=lambda e: e.name)
        except (OSError, ValueError) as error:
            tree.unreadable.append((prefix.rstrip("/"), _cause(error)))
            continue
        below = []
        for item in found:
            path = prefix + item.name
            try:
                info = item.stat(follow_symlinks=False)
            except OSError as error:
                tree.unreadable.append((path, _cause(error)))
                continue
            kind = _kind(info.st_mode)
            opaque = kind == "dir" and item.name in OPAQUE
            tree.entries[path] = Entry(path, kind, info.st_size, stat.S_IMODE(info.st_mode), opaque)
            if kind == "dir" and not opaque:
                below.append((item.path, path + "/", depth + 1))
        stack.extend(reversed(below))
    return tree


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"


def _cause(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def total_size(path: Path) -> int:
    """Bytes of all regular files below an opaque directory, by stat alone; what cannot be listed counts 0."""
    total = 0
    stack = [os.fspath(path)]
    while stack:
        try:
            with os.scandir(stack.pop()) as scan:
                for item in scan:
                    if item.is_dir(follow_symlinks=False):
                        stack.append(item.path)
                    elif item.is_file(follow_symlinks=False):
                        total += item.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total
