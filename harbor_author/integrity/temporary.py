"""Temporary folders whose names say whose they are, so that what a killed process left goes with the next run."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harbor_author.integrity.owner import owner_state, owner_token
from harbor_author.integrity.removal import remove_tree

_PREFIX = "harbor-author-"


def owned_folder(kind: str) -> tempfile.TemporaryDirectory[str]:
    """A fresh folder of this process, removed when it is closed; first, those of dead processes go.

    Raises:
        OSError: it cannot be made.
    """
    reap_folders()
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{kind}.{owner_token()}.")


@contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """`owned_folder` for the time of a `with`."""
    with owned_folder(kind) as folder:
        yield Path(folder)


def abandoned_folders() -> list[Path]:
    """Temporary folders of this user whose process is known to be dead."""
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*.*.*"):
        with suppress(OSError):
            status = path.lstat()
            mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
            if mine and owner_state(path.name.split(".")[1]) == "dead":
                found.append(path)
    return found


def reap_folders() -> list[Path]:
    """Remove the folders of dead processes; return those that are gone."""
    removed = []
    for path in abandoned_folders():
        with suppress(OSError):
            remove_tree(path)
            removed.append(path)
    return removed
