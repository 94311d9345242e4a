"""A lock on a directory, given back by the system however its holder ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError, printable

_POLL_S = 0.05


@contextmanager
def directory_lock(directory: Path, *, timeout_s: float = 30.0, shared: bool = False) -> Iterator[None]:
    """Hold the suite (or any other directory) while the block runs; nothing is written, not even a lock file.

    Args:
        timeout_s: how long to wait for another holder; 0 asks once.
        shared: several readers may hold it together.

    Raises:
        IntegrityError: it is held by another process for longer, or cannot be opened.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise IntegrityError(
            f"cannot be locked ({error.strerror})", path=printable(str(directory))
        ) from error
    try:
        _take(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, directory, timeout_s)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, operation: int, directory: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise IntegrityError(
                    f"is held by another process since {timeout_s:g} s",
                    path=printable(str(directory)),
                    hint="wait until the other 'author' command has ended",
                ) from error
        except OSError as error:
            raise IntegrityError(
                f"cannot be locked ({error.strerror})", path=printable(str(directory))
            ) from error
        time.sleep(_POLL_S)
