"""A task under another name: the directory, and each mention of the old name or ID inside it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harbor_author.integrity.files import reap_siblings, temporary_sibling
from harbor_author.integrity.removal import remove_tree
from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.suite import Suite, Task, TaskName, check_series, check_slug, parse_task_name, used_ids
from harbor_author.suite.registry import staging_directory

_UNTOUCHED = ("provenance/",)
_RECEIPT = "proof.json"
#: A longer file is data that nobody wrote by hand; it keeps what it holds.
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Renaming:
    """What a renaming changes.

    Attributes:
        mentions: file, relative to the task -> how many mentions of the old name it holds.
        receipt: whether the task had a proof, which a renamed task has lost.
    """

    old: TaskName
    new: TaskName
    path: Path
    mentions: Mapping[str, int]
    receipt: bool


def rename_task(suite: Suite, task: Task, target: str, *, dry_run: bool = False) -> Renaming:
    """Rename a task of a suite to another slug (`new-slug`) or another name (`H24-new-slug`).

    The renamed task is made aside and put in place before the old one goes: an interruption leaves at least one whole.

    Raises:
        ScaffoldError, SuiteError: the task is not in the suite, the target is taken or malformed, the task holds links.
    """
    old = task.task_name
    if old is None or task.path.parent != suite.tasks_dir:
        raise ScaffoldError(
            f"'{task.name}' is no task of this suite",
            path=task.path,
            hint="only tasks/<ID>-<slug> can be renamed",
        )
    new = _target_name(suite, old, target)
    final = suite.tasks_dir / str(new)
    if final.exists():
        raise ScaffoldError("already exists", path=final, hint="choose another slug")
    if new.task_id != old.task_id:
        where = used_ids(suite).get(new.task_id)
        if where:
            raise ScaffoldError(
                f"{new.id} is in use: {where}",
                hint=f"'author next-id --series {new.series}' prints a free one",
            )
    substitution = _substitution(old, new)
    rewritten: dict[str, bytes] = {}
    mentions: dict[str, int] = {}
    for path in sorted(task.path.rglob("*")):
        name = path.relative_to(task.path).as_posix()
        if path.is_symlink():
            raise ScaffoldError(
                "is a symbolic link, which a task may not hold", path=path, hint="replace it by its target"
            )
        if path.is_dir():
            continue
        if not path.is_file():
            raise ScaffoldError("is no regular file, which a task may not hold", path=path, hint="remove it")
        if name == _RECEIPT or name.startswith(_UNTOUCHED):
            continue
        if path.stat().st_size > _MOST_BYTES:
            continue
        data = path.read_bytes()
        changed, count = substitution(data)
        if count:
            rewritten[name] = changed
            mentions[name] = count
    receipt = (task.path / _RECEIPT).exists()
    result = Renaming(old, new, final, mentions, receipt)
    if dry_run:
        return result
    reap_siblings(suite.tasks_dir)
    try:
        with staging_directory(suite.tasks_dir, new.id) as staging:
            shutil.copytree(
                task.path, staging, ignore=lambda _, names: {_RECEIPT} & set(names), dirs_exist_ok=True
            )
            for name, data in rewritten.items():
                (staging / name).write_bytes(data)
            staging.rename(final)
    except OSError as error:
        # copytree gathers its faults in an error that has no cause of its own.
        causes = error.args[0] if isinstance(error, shutil.Error) else ()
        cause = error.strerror or "; ".join(sorted({str(one[2]) for one in causes}))
        raise ScaffoldError(
            f"cannot be written: {cause}",
            path=error.filename or final,
            hint="the old task is untouched",
        ) from error
    # Out of sight in one step, then away: an interruption leaves no half of it under its name.
    aside = temporary_sibling(task.path)
    task.path.rename(aside)
    remove_tree(aside)
    return result


def _target_name(suite: Suite, old: TaskName, target: str) -> TaskName:
    named = parse_task_name(target)
    if named is not None:
        check_series(suite, named.series)
        return named
    check_slug(target)
    if target == old.slug:
        raise ScaffoldError(f"{old} has that slug already", hint="give a new one")
    return TaskName(old.series, old.number, target)


class _substitution:  # noqa: N801 - used as a function
    """Old name and ID to the new ones, in the case in which they stand (`H23`, `h23`)."""

    def __init__(self, old: TaskName, new: TaskName) -> None:
        pairs = [(str(old), str(new)), (str(old).lower(), str(new).lower())]
        if old.id != new.id:
            pairs += [(old.id, new.id), (old.id.lower(), new.id.lower())]
        self._new = {before.encode(): after.encode() for before, after in pairs}
        alternatives = b"|".join(re.escape(before) for before in sorted(self._new, key=len, reverse=True))
        self._pattern = re.compile(rb"(?<![A-Za-z0-9])(?:" + alternatives + rb")(?![A-Za-z0-9])")

    def __call__(self, data: bytes) -> tuple[bytes, int]:
        if b"\0" in data[:8192]:
            return data, 0
        return self._pattern.subn(lambda match: self._new[match[0]], data)
