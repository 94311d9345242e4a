"""Walking a directory tree that may be hostile: no link is followed, nothing but regular files is opened."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError, printable

#: Left out of hashes and copies at any depth. Part of tree-hash version 1: see docs/tree-hash.md.
IGNORED_NAMES = frozenset(
    {
        ".git", ".hg", ".svn", ".bzr", ".jj", "CVS", "_darcs",
        "node_modules", "__pycache__", ".DS_Store",
    }
)  # fmt: skip
#: Each level holds one descriptor while it is walked, and several trees are walked at once.
MAX_DEPTH = 100
CHUNK = 1 << 20

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO that took a file's place must not hang.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
}


@dataclass(frozen=True)
class Node:
    """One file or directory of a tree.

    `path` is relative to the tree, with forward slashes; `size` counts bytes and is 0 for a directory.
    """

    path: str
    is_dir: bool
    executable: bool
    size: int
    _parent_fd: int = field(repr=False, compare=False)
    _identity: tuple[int, int] = field(repr=False, compare=False)

    @contextmanager
    def open(self) -> Iterator[int]:
        """A descriptor of the file, while the walk stands at this node.

        Raises:
            IntegrityError: it is no longer the regular file that was listed.
        """
        name = self.path.rpartition("/")[2]
        try:
            descriptor = os.open(name, _FILE, dir_fd=self._parent_fd)
        except OSError as error:
            raise IntegrityError(f"cannot be opened ({error.strerror})", path=printable(self.path)) from error
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != self._identity:
                raise IntegrityError("was replaced while it was read", path=printable(self.path))
            yield descriptor
        finally:
            os.close(descriptor)

    def chunks(self) -> Iterator[bytes]:
        """The file's bytes, streamed.

        Raises:
            IntegrityError: it cannot be read, or its size changed on the way.
        """
        total = 0
        with self.open() as descriptor:
            try:
                while chunk := os.read(descriptor, CHUNK):
                    total += len(chunk)
                    yield chunk
            except OSError as error:
                raise IntegrityError(
                    f"cannot be read ({error.strerror})", path=printable(self.path)
                ) from error
        if total != self.size:
            raise IntegrityError("changed while it was read", path=printable(self.path))


def walk(root: Path) -> Iterator[Node]:
    """Every node below `root` but the ignored ones; a directory comes before what it holds, else no order.

    Raises:
        IntegrityError: `root` is not a directory; a link or another special file; a name that is not UTF-8,
            not in normalisation form C, or equal to its neighbour's when case-folded; deeper than `MAX_DEPTH`;
            unreadable.
    """
    try:
        descriptor = os.open(root, _DIRECTORY)
    except OSError as error:
        reason = "is a symbolic link" if root.is_symlink() else f"cannot be opened ({error.strerror})"
        raise IntegrityError(f"{reason}; a directory is needed", path=printable(str(root))) from error
    try:
        yield from _walk(descriptor, "", 1)
    finally:
        os.close(descriptor)


def _walk(parent_fd: int, prefix: str, depth: int) -> Iterator[Node]:
    if depth > MAX_DEPTH:
        raise IntegrityError(f"is nested deeper than {MAX_DEPTH} levels", path=printable(prefix[:200]))
    try:
        with os.scandir(parent_fd) as listing:
            entries = [entry for entry in listing if entry.name not in IGNORED_NAMES]
        folded: dict[str, str] = {}
        for entry in entries:
            _check_name(entry.name, prefix, folded)
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            path = prefix + entry.name
            kind = stat.S_IFMT(status.st_mode)
            identity = (status.st_dev, status.st_ino)
            if kind == stat.S_IFREG:
                executable = bool(status.st_mode & stat.S_IXUSR)
                yield Node(path, False, executable, status.st_size, parent_fd, identity)
            elif kind == stat.S_IFDIR:
                yield Node(path, True, False, 0, parent_fd, identity)
                child = os.open(entry.name, _DIRECTORY, dir_fd=parent_fd)
                try:
                    yield from _walk(child, path + "/", depth + 1)
                finally:
                    os.close(child)
            else:
                raise IntegrityError(
                    f"is {_KINDS.get(kind, 'a special file')}",
                    path=printable(path),
                    hint="only regular files and directories belong in a fixture or task",
                )
    except OSError as error:
        raise IntegrityError(f"cannot be read ({error.strerror})", path=printable(prefix or ".")) from error


def _check_name(name: str, prefix: str, folded: dict[str, str]) -> None:
    where = printable(prefix + name)
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise IntegrityError("has a name that is not UTF-8", path=where) from error
    if not unicodedata.is_normalized("NFC", name):
        raise IntegrityError(
            "has a name that is not in Unicode normalisation form C",
            path=where,
            hint="rename it: another machine would write the name in other bytes",
        )
    key = name if name.isascii() else unicodedata.normalize("NFD", name)
    key = unicodedata.normalize("NFD", key.casefold())
    other = folded.setdefault(key, name)
    if other != name:
        raise IntegrityError(
            f"differs from {printable(other)!r} beside it by case alone",
            path=where,
            hint="rename one: they are one file on a case-insensitive disk",
        )
