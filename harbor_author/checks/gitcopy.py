"""A foreign repository's data without its configuration, hooks, links and alternates: what git may be run on.

No option makes git ignore `include.path`, `core.worktree` or `objects/info/alternates` of a repository that it is run
in, and each of them leads it to files outside. So it is run in a copy that has none of them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harbor_author.integrity import IntegrityError, temporary_folder, walk

_FILES = ("packed-refs", "index", "shallow", "HEAD")
_FOLDERS = ("objects", "refs", "logs")
_LINK_FOLDERS = ("objects/info/",)
#: A repository inside a task is small; a larger one is not looked into.
MAX_BYTES = 256 << 20
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogallrefupdates = false\n"


@contextmanager
def repository_copy(git_dir: Path, *, index_only: bool = False) -> Iterator[Path | None]:
    """A temporary bare repository with the objects, refs, logs and index of `git_dir`; None when it holds links or
    special files, is too large or cannot be read.

    Args:
        index_only: copy the index alone; enough for `git ls-files`.
    """
    with temporary_folder("git") as target:
        for name in ("objects", "refs"):
            (target / name).mkdir()
        (target / "HEAD").write_text("ref: refs/heads/none\n")
        (target / "config").write_text(_CONFIG)
        try:
            budget = MAX_BYTES
            for name in ("index",) if index_only else _FILES:
                budget = _copy_file(git_dir / name, target / name, budget)
            for name in () if index_only else _FOLDERS:
                budget = _copy_folder(git_dir / name, target / name, budget)
            usable = budget >= 0
        except (OSError, IntegrityError):
            usable = False
        yield target if usable else None


def _copy_file(source: Path, target: Path, budget: int) -> int:
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return budget
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > budget:
            return -1
        target.write_bytes(stream.read(budget))
    return budget - status.st_size


def _copy_folder(source: Path, target: Path, budget: int) -> int:
    if not source.is_dir():
        return budget
    for node in walk(source):
        budget -= node.size
        if budget < 0:
            break
        if f"{source.name}/{node.path}/".startswith(_LINK_FOLDERS):
            continue
        if node.is_dir:
            (target / node.path).mkdir(parents=True, exist_ok=True)
        else:
            (target / node.path).parent.mkdir(parents=True, exist_ok=True)
            with (target / node.path).open("wb") as stream:
                stream.writelines(node.chunks())
    return budget
