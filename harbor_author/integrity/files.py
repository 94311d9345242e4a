"""Writing files and directories so that a reader, or a crash, sees the old or the new and nothing between."""

from __future__ import annotations

import ctypes
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.owner import is_orphan, owner_token
from harbor_author.integrity.removal import remove_tree

_MARK = ".author-tmp-"
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


def temporary_sibling(final: Path) -> Path:
    """A free name beside `final` that tells whose it is: `reap_siblings` removes it after a crash."""
    # The name is cut because a file's name has at most 255 bytes.
    return final.with_name(f".{final.name[:40]}{_MARK}{owner_token()}.{secrets.token_hex(4)}")


def write_atomic(path: Path, data: bytes | str, *, mode: int | None = None) -> None:
    """Write a whole file: text as UTF-8, by a temporary file in the same folder that is then renamed.

    Args:
        mode: permission bits; default those of the file that is replaced, else what the umask leaves of 666.

    Raises:
        IntegrityError: the disk is full, the folder is missing or not writable; what was there is untouched.
    """
    payload = data.encode() if isinstance(data, str) else data
    temporary = temporary_sibling(path)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(payload)
                stream.flush()
                if mode is None:
                    with suppress(FileNotFoundError):
                        status = path.lstat()
                        if stat.S_ISREG(status.st_mode):
                            mode = stat.S_IMODE(status.st_mode)
                if mode is not None:
                    os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise IntegrityError(
            f"cannot be written ({error.strerror})",
            path=printable(str(path)),
            hint="make room on the disk, or see who may write to the folder",
        ) from error


def replace_dir(tmp: Path, final: Path) -> None:
    """Put the directory `tmp` in the place of `final`, which may exist; both are in one folder.

    An existing `final` is exchanged with `tmp` in one step where the system can, then removed.

    Raises:
        IntegrityError: it could not be done; `final` is as it was, and `tmp` still there.
    """
    try:
        if not os.path.lexists(final):
            tmp.rename(final)
            return
        aside = temporary_sibling(final)
        if _exchange(tmp, final):
            tmp.rename(aside)
        else:
            final.rename(aside)
            try:
                tmp.rename(final)
            except OSError:
                aside.rename(final)
                raise
    except OSError as error:
        raise IntegrityError(f"cannot be replaced ({error.strerror})", path=printable(str(final))) from error
    with suppress(OSError):  # what cannot be removed now, `reap_siblings` removes later
        _remove(aside)


def reap_siblings(folder: Path) -> list[Path]:
    """Remove what dead processes left of `write_atomic` and `replace_dir` in `folder`; return it."""
    removed = []
    for path in folder.iterdir():
        _, mark, rest = path.name.rpartition(_MARK)
        token = rest.rpartition(".")[0]
        if mark and is_orphan(token, path.lstat().st_mtime):
            _remove(path)
            removed.append(path)
    return removed


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two names in one step; False where the system or the file system cannot."""
    if sys.platform != "linux":
        return False
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = (os.fsencode(first), os.fsencode(second))
    return bool(renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
