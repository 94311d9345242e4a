"""Where a checkout keeps git's data: a folder `.git`, or, in a worktree and a submodule, a file that names one."""

from __future__ import annotations

import os
import stat

_MAX_BYTES = 4096


def git_dir(top: str) -> str | None:
    """The folder with the index of the checkout `top`; None when there is none. Links are not followed."""
    path = f"{top}/.git"
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            return path
        if not stat.S_ISREG(mode):
            return None
        with os.fdopen(
            os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb"
        ) as file:
            head, blank, place = file.read(_MAX_BYTES).partition(b"gitdir: ")
    except (OSError, ValueError):
        return None
    if head or not blank or b"\0" in place:
        return None
    named = os.path.normpath(os.path.join(top, os.fsdecode(place.rstrip(b"\r\n"))))  # noqa: PTH118
    return named if os.path.isfile(f"{named}/HEAD") else None  # noqa: PTH113
