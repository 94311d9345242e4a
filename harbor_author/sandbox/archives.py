"""Tar archives on their way into a container, and the fresh copy that an image is built from."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from harbor_author.sandbox.engine import SandboxError

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Archive:
    """A tar archive in the making; owner root, like `docker cp`. Use `finish` once, then give it to `Engine.put`."""

    def __init__(self, target: IO[bytes] | None = None) -> None:
        self._file: IO[bytes] = target if target is not None else io.BytesIO()
        self._tar = tarfile.open(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115

    def directory(self, name: str, mode: int = 0o755) -> Archive:
        """Add a directory; one that exists keeps its content and takes the mode."""
        member = tarfile.TarInfo(name.strip("/"))
        member.type = tarfile.DIRTYPE
        member.mode = mode
        self._tar.addfile(member)
        return self

    def data(self, name: str, content: bytes, mode: int = 0o644) -> Archive:
        """Add a file from memory."""
        member = tarfile.TarInfo(name.strip("/"))
        member.size = len(content)
        member.mode = mode
        self._tar.addfile(member, io.BytesIO(content))
        return self

    def tree(
        self, source: Path, names: Iterable[str], target: str, executable: frozenset[str] = frozenset()
    ) -> Archive:
        """Add files of `source` (relative names) below `target`, with their modes; `executable` ones get +x."""
        prefix = target.strip("/")
        self.directory(prefix)
        seen: set[str] = set()
        for name in names:
            parents = name.split("/")[:-1]
            for count in range(1, len(parents) + 1):
                parent = "/".join(parents[:count])
                if parent not in seen:
                    seen.add(parent)
                    self._add(source / parent, f"{prefix}/{parent}", False)
            self._add(source / name, f"{prefix}/{name}", name in executable)
        return self

    def _add(self, path: Path, name: str, executable: bool) -> None:
        add_path(self._tar, path, name, executable=executable)

    def finish(self) -> IO[bytes]:
        """The finished archive, at its start."""
        self._tar.close()
        self._file.seek(0)
        return self._file


def add_path(archive: tarfile.TarFile, path: Path, name: str, *, executable: bool = False) -> None:
    """Add one file or directory as it is now, owned by root. Raises `SandboxError` for anything else."""
    try:
        status = path.lstat()
        member = tarfile.TarInfo(name)
        member.mode = stat.S_IMODE(status.st_mode) | (0o111 if executable else 0)
        member.mtime = int(status.st_mtime)
        if stat.S_ISDIR(status.st_mode):
            member.type = tarfile.DIRTYPE
            archive.addfile(member)
            return
        if not stat.S_ISREG(status.st_mode):
            raise SandboxError("is a link or a special file, which a task may not hold", path=path)
        # NOFOLLOW and NONBLOCK: what stands here may have been exchanged for a link or a FIFO since it was listed.
        with os.fdopen(os.open(path, _OPEN), "rb") as stream:
            member.size = os.fstat(stream.fileno()).st_size
            archive.addfile(member, stream)
    except OSError as error:
        raise SandboxError(f"cannot be read ({error.strerror})", path=path) from error


def pack_paths(target: IO[bytes], root: Path, names: Iterable[str]) -> None:
    """Write a tar archive of the named paths below `root`."""
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in names:
            add_path(archive, root / name, name.replace(os.sep, "/"))


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder's files and directories with their modes and times into the empty folder `target`.

    Raises:
        SandboxError: it holds a link or a special file, or cannot be read or written.
    """
    for parent, directories, files in os.walk(source):
        here = target / os.path.relpath(parent, source)
        for name in directories:
            if (Path(parent) / name).is_symlink():
                raise SandboxError("is a link, which a task may not hold", path=Path(parent) / name)
            (here / name).mkdir()
        for name in files:
            path = Path(parent) / name
            if not stat.S_ISREG(path.lstat().st_mode):
                raise SandboxError("is a link or a special file, which a task may not hold", path=path)
            try:
                shutil.copy2(path, here / name, follow_symlinks=False)
            except OSError as error:
                raise SandboxError(f"cannot be copied ({error.strerror})", path=path) from error
