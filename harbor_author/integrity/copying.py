"""Copying a tree by hand: bytes and the executable bit, nothing else, and the copy proved equal."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from harbor_author.integrity.errors import CopyError, printable
from harbor_author.integrity.tree import Node, walk
from harbor_author.integrity.treehash import hash_records, record, tree_hash

#: Room that must remain on the disk beside the copy, and what a file or directory costs beyond its bytes.
_RESERVE_BYTES = 16 << 20
_ENTRY_BYTES = 4096


@dataclass(frozen=True)
class Copied:
    """What a copy holds: its tree hash (of the source as it was read), entries and bytes."""

    hash: str
    entries: int
    size_bytes: int


def copy_tree(source: Path, destination: Path) -> Copied:
    """Copy `source` to the new directory `destination`, then hash the copy and compare.

    Directories get mode 755, files 644 or 755; hidden files and empty directories come along; what the tree hash leaves
    out stays behind, so no dependencies of this machine, and no hooks, remotes or secrets of its version control.

    Raises:
        IntegrityError: the source holds what `tree.walk` refuses.
        CopyError: the disk is too small or a write failed, or the copy is not equal to what was read. What was written
            is still there: the caller made the directory above, and removes it.
    """
    _check_room(source, destination.parent)
    records = []
    size_bytes = 0
    try:
        _make_directory(destination)
        for node in walk(source):
            target = destination / node.path
            if node.is_dir:
                _make_directory(target)
                records.append(record(node, ""))
            else:
                records.append(record(node, _copy_file(node, target)))
                size_bytes += node.size
    except OSError as error:
        raise CopyError(
            f"the working copy could not be written ({error.strerror})",
            hint="make room on the disk that holds temporary files, or point TMPDIR elsewhere",
        ) from error
    read = hash_records(records)
    written = tree_hash(destination)
    if written != read:
        raise CopyError(f"the working copy is not equal to its source: {written} against {read}")
    return Copied(read, len(records), size_bytes)


def _make_directory(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)  # whatever the umask is


def _copy_file(node: Node, target: Path) -> str:
    digest = hashlib.sha256()
    mode = 0o755 if node.executable else 0o644
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as stream:
        os.fchmod(descriptor, mode)  # whatever the umask is
        for chunk in node.chunks():
            digest.update(chunk)
            stream.write(chunk)
    return digest.hexdigest()


def _check_room(source: Path, folder: Path) -> None:
    needed = _RESERVE_BYTES + sum(node.size + _ENTRY_BYTES for node in walk(source))
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise CopyError(
            f"the working copy needs {needed:,} bytes and {free:,} are free",
            path=printable(str(folder)),
            hint="make room on the disk that holds temporary files, or point TMPDIR elsewhere",
        )
