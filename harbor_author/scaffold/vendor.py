"""Copies of the judge libraries in tasks, against the released ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harbor_author.integrity.files import reap_siblings, write_atomic
from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.scaffold.render import templates_dir
from harbor_author.suite import Task

#: The libraries that are copied into `tests/` of a task, and where the released ones lie among the templates.
LIBRARIES = {
    "judge-utils.mjs": "shared/tests/judge-utils.mjs",
    "findings.mjs": "S/tests/findings.mjs",
    "grading.mjs": "S/tests/grading.mjs",
    "judge_utils.py": "library/judge_utils.py",
    "service.mjs": "hostless/tests/service.mjs",
}
_VERSION = re.compile(rb"""^(?:export const )?VERSION = ["'](\d+(?:\.\d+)*)["']""", re.MULTILINE)

State = Literal["current", "lags", "ahead", "edited"]


@dataclass(frozen=True)
class Copy:
    """A library in a task.

    Attributes:
        state: `current`: the released bytes; `lags`: an earlier version; `ahead`: a later one than this tool has;
            `edited`: other bytes under the released version, or without one.
    """

    task: str
    path: Path
    library: str
    version: str
    released: str
    state: State


def vendored(tasks: Sequence[Task]) -> list[Copy]:
    """Every copy of a library in some tasks.

    Raises:
        ScaffoldError: one cannot be read.
    """
    released = {name: (templates_dir() / place).read_bytes() for name, place in LIBRARIES.items()}
    copies = []
    for task in tasks:
        for name, data in released.items():
            path = task.path / "tests" / name
            if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
                continue
            try:
                copies.append(_compare(task.label, path, name, path.read_bytes(), data))
            except OSError as error:
                raise ScaffoldError(
                    f"cannot be read: {error.strerror}", path=path, hint="check its permissions"
                ) from error
    return copies


def update(copy: Copy, *, force: bool = False) -> bool:
    """Put the released library in place of a copy; True when that changed it.

    Args:
        force: also where the copy was edited, or comes from a later version.

    Raises:
        IntegrityError: it cannot be written; the copy is as it was.
    """
    if copy.state == "current" or (copy.state in ("edited", "ahead") and not force):
        return False
    data = (templates_dir() / LIBRARIES[copy.library]).read_bytes()
    reap_siblings(copy.path.parent)
    write_atomic(copy.path, data)
    return True


def _compare(label: str, path: Path, name: str, own: bytes, released: bytes) -> Copy:
    version, wanted = _version(own), _version(released)
    if own == released:
        state: State = "current"
    elif version and _key(version) < _key(wanted):
        state = "lags"
    elif version and _key(version) > _key(wanted):
        state = "ahead"
    else:
        state = "edited"
    return Copy(label, path, name, version, wanted, state)


def _version(data: bytes) -> str:
    match = _VERSION.search(data)
    return match[1].decode() if match else ""


def _key(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part]
