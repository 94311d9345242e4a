"""Removing a directory that something hostile may have filled, and the processes that still live in it."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: In the environment of every process that works in a copy: `RUN_VARIABLE=<label of the copy>`.
RUN_VARIABLE = "HARBOR_AUTHOR_RUN"

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS = 3
_RETRY_S = 0.1


def remove_tree(path: Path) -> None:
    """Remove a directory and all below it, however deep, whatever its modes; links are removed, not followed.

    Works without recursion and with two descriptors: a directory that is not empty is first moved up to the top.

    Raises:
        OSError: something could not be removed after some attempts.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _remove_once(path)
        except FileNotFoundError:
            if not os.path.lexists(path):
                return
            if attempt == _ATTEMPTS:
                raise
        except OSError:
            if attempt == _ATTEMPTS:
                raise
        else:
            return
        time.sleep(_RETRY_S * attempt)


def _remove_once(path: Path) -> None:
    with suppress(PermissionError):
        if stat.S_ISDIR(path.lstat().st_mode):
            path.chmod(0o700)
    top = os.open(path, _DIRECTORY)
    try:
        pending = list(_empty(top, top))
        while pending:
            name = pending.pop()
            descriptor = os.open(name, _DIRECTORY, dir_fd=top)
            try:
                pending += _empty(descriptor, top)
            finally:
                os.close(descriptor)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    path.rmdir()


def _empty(descriptor: int, top: int) -> Iterator[str]:
    """Empty one directory; yield the names, directly below `top`, of the directories that it held."""
    with os.scandir(descriptor) as listing:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    for name, is_dir in entries:
        if not is_dir:
            os.unlink(name, dir_fd=descriptor)
            continue
        # Moving a directory rewrites its '..', reading it lists it: both need its own mode to allow it.
        os.chmod(name, 0o700, dir_fd=descriptor)
        if descriptor == top:
            yield name
            continue
        moved = f".{secrets.token_hex(8)}"
        os.rename(name, moved, src_dir_fd=descriptor, dst_dir_fd=top)
        yield moved


def end_processes(label: str, directory: Path) -> list[int]:
    """Kill what still runs for a working copy: processes marked with its label, and our descendants working in it.

    Returns the process numbers. Where there is no /proc, none.
    """
    ended = []
    here = os.getpid()
    marker = f"{RUN_VARIABLE}={label}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        if pid == here or not (_is_marked(folder, marker) or _works_in(folder, directory, here)):
            continue
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
            ended.append(pid)
    return ended


def _is_marked(folder: Path, marker: bytes) -> bool:
    try:
        return marker in (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _works_in(folder: Path, directory: Path, ancestor: int) -> bool:
    try:
        cwd = (folder / "cwd").readlink()
    except OSError:
        return False
    return cwd.is_relative_to(directory) and _descends_from(int(folder.name), ancestor)


def _descends_from(pid: int, ancestor: int) -> bool:
    while pid > 1:
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return False
        pid = int(fields[1])
        if pid == ancestor:
            return True
    return False
