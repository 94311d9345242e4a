"""Running something on a throw-away copy of a fixture, and proving that the fixture stayed as it was."""

from __future__ import annotations

import platform
import re
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from harbor_author.integrity.copying import copy_tree
from harbor_author.integrity.errors import (
    CleanupError,
    ContaminationError,
    CopyError,
    IntegrityError,
    printable,
)
from harbor_author.integrity.owner import DEAD_TTL_S, is_orphan, owner_token
from harbor_author.integrity.removal import end_processes, remove_tree
from harbor_author.integrity.treehash import tree_hash

PREFIX = "coding-agent-eval-"
#: What agents read as instructions when it lies above their working directory.
INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules")

_SAFE_PREFIX = re.compile(r"[a-z][a-z0-9-]{6,}-")

T = TypeVar("T")
Outcome = Literal["ok", "copy-failed", "operation-failed", "contaminated", "cleanup-failed"]


@dataclass(frozen=True)
class Evidence:
    """What is left of a working copy when it is gone: hashes, counts and outcomes, nothing of its content.

    `after` is None when the source could not be hashed any more. `copied` is "" when the copy was not finished.
    """

    task: str
    label: str
    before: str
    copied: str
    after: str | None
    outcome: Outcome
    operation_error: str | None
    removed: bool
    entries: int
    size_bytes: int
    duration_s: float
    platform: str


@dataclass(frozen=True)
class Tally:
    """Temporary directories of this process: created, removed, and left because removal failed."""

    created: int = 0
    removed: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Reaped:
    """Names of orphaned directories that were removed, and of those that could not be."""

    removed: tuple[str, ...]
    failed: tuple[str, ...]


_tally = Tally()
_tally_lock = threading.Lock()


def tally() -> Tally:
    """How many temporary directories this process has created and removed so far."""
    return _tally


def with_fixture_copy(
    source: Path,
    operation: Callable[[Path], T],
    *,
    prefix: str = PREFIX,
    task: str = "fixture",
    evidence: Callable[[Evidence], None] | None = None,
) -> T:
    """Call `operation` with the path of a fresh copy of `source`; return its value; leave nothing behind.

    The source is hashed before and after, whatever happens between, then the copy is removed: each is tried even when
    the other fails.

    Args:
        prefix: of the temporary directory's name. Orphans with this prefix are removed first.
        task: an ID for messages and evidence.
        evidence: gets the `Evidence` of this run before the value is returned or an error raised.

    Raises:
        ContaminationError: the source changed. Its cause is the operation's error, if there was one, and it outranks
            every other.
        CopyError, IntegrityError: there could be no copy; `operation` was not called.
        CleanupError: the operation succeeded and the copy could not be removed.
        BaseExceptionGroup: the operation failed *and* the copy could not be removed, or `evidence` failed: all, in
            this order.
        BaseException: whatever `operation` raised, unchanged.
    """
    started = time.monotonic()
    reap_orphans(prefix)
    before = tree_hash(source)
    copied, entries, size_bytes = "", 0, 0
    value: list[T] = []
    failure: BaseException | None = None
    outcome: Outcome = "ok"
    parent = _make_parent(prefix)
    try:
        _check_ancestors(parent)
        copy = copy_tree(source, parent / "workspace")
        copied, entries, size_bytes = copy.hash, copy.entries, copy.size_bytes
        if copied != before:
            raise CopyError("the source changed while it was copied")
    except BaseException as error:
        failure, outcome = error, "copy-failed"
    else:
        try:
            value.append(operation(parent / "workspace"))
        except BaseException as error:
            failure, outcome = error, "operation-failed"

    try:
        after, after_error = _hash_after(source)
    finally:  # also when interrupted a second time
        cleanup = _clean_up(parent)
    contaminated = after != before
    if contaminated:
        outcome = "contaminated"
    elif cleanup is not None and failure is None:
        outcome = "cleanup-failed"
    report_error = _report(
        evidence,
        Evidence(
            task=task,
            label=parent.name,
            before=before,
            copied=copied,
            after=after,
            outcome=outcome,
            operation_error=None if failure is None else type(failure).__name__,
            removed=cleanup is None,
            entries=entries,
            size_bytes=size_bytes,
            duration_s=time.monotonic() - started,
            platform=f"{platform.system()} {platform.machine()}",
        ),
    )
    errors = [error for error in (failure, after_error, cleanup, report_error) if error is not None]
    if contaminated:
        raise ContaminationError(task, before, after, errors[1:]) from (errors[0] if errors else None)
    if len(errors) > 1:
        raise BaseExceptionGroup("the operation on a working copy and what came after it failed", errors)
    if errors:
        raise errors[0]
    return value[0]


def reap_orphans(prefix: str = PREFIX, *, folder: Path | None = None, ttl_s: float = DEAD_TTL_S) -> Reaped:
    """Remove the working copies of dead processes: trusted prefix, dead owner, and old (see `owner.is_orphan`).

    Args:
        folder: where they are; default the folder for temporary files.

    Raises:
        IntegrityError: the prefix is so short that it could match what is not ours.
    """
    _check_prefix(prefix)
    folder = Path(tempfile.gettempdir()) if folder is None else folder
    removed, failed = [], []
    for path in sorted(folder.glob(prefix + "*")):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # another run was faster
        token = path.name[len(prefix) :].rpartition(".")[0]
        if stat.S_ISDIR(status.st_mode) and is_orphan(token, status.st_mtime, ttl_s=ttl_s):
            end_processes(path.name, path)
            try:
                remove_tree(path)
                removed.append(path.name)
            except OSError:
                failed.append(path.name)
    return Reaped(tuple(removed), tuple(failed))


def _check_prefix(prefix: str) -> None:
    if not _SAFE_PREFIX.fullmatch(prefix):
        raise IntegrityError(
            f"{printable(prefix)!r} cannot be the prefix of a temporary directory",
            hint="use at least eight lower-case letters, digits and hyphens, with a hyphen at the end",
        )


def _make_parent(prefix: str) -> Path:
    try:
        # The owner stands in the name: there is no moment at which a directory exists and nobody owns it.
        parent = Path(tempfile.mkdtemp(prefix=f"{prefix}{owner_token()}."))
    except OSError as error:
        raise CopyError(f"no temporary directory could be made ({error.strerror})") from error
    _count(created=1)
    return parent.resolve()


def _check_ancestors(parent: Path) -> None:
    for folder in parent.parents:
        for name in INSTRUCTION_FILES:
            if (folder / name).exists():
                raise CopyError(
                    f"{name} above the working copy would instruct an agent",
                    path=printable(str(folder / name)),
                    hint="point TMPDIR to a folder with no such file above it",
                )


def _hash_after(source: Path) -> tuple[str | None, BaseException | None]:
    try:
        return tree_hash(source), None
    except Exception as error:
        return None, error


def _clean_up(parent: Path) -> CleanupError | None:
    try:
        end_processes(parent.name, parent)
        remove_tree(parent)
    except OSError as error:
        _count(failed=1)
        cleanup = CleanupError(parent.name, error.strerror or type(error).__name__)
        cleanup.__cause__ = error
        return cleanup
    _count(removed=1)
    return None


def _report(evidence: Callable[[Evidence], None] | None, found: Evidence) -> Exception | None:
    if evidence is not None:
        try:
            evidence(found)
        except Exception as error:
            return error
    return None


def _count(*, created: int = 0, removed: int = 0, failed: int = 0) -> None:
    global _tally
    with _tally_lock:
        _tally = replace(
            _tally,
            created=_tally.created + created,
            removed=_tally.removed + removed,
            failed=_tally.failed + failed,
        )
