"""Which IDs are in use, wherever that is written, and the reservation of the next one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harbor_author.suite.errors import SuiteError
from harbor_author.suite.git import branch_task_names
from harbor_author.suite.ids import TaskId, TaskName, next_number, parse_ranges, parse_task_name
from harbor_author.suite.model import Suite
from harbor_author.suite.registers import register_ids

_STAGING = re.compile(r"\.(?P<series>[A-Z])(?P<number>[1-9]\d*)\.new")
#: So many files are written to the disk one after the other.
_FEW = 64


def used_ids(suite: Suite, *, remotes: bool = False) -> dict[TaskId, str]:
    """Every ID in use and where: directories, registers, reserved, retired, and branches of the git checkout.

    Args:
        remotes: look at remote-tracking branches too.
    """
    return _elsewhere_ids(suite, remotes=remotes) | _directory_ids(suite)


def _elsewhere_ids(suite: Suite, *, remotes: bool) -> dict[TaskId, str]:
    used: dict[TaskId, str] = {}
    for task_id in parse_ranges(suite.settings.reserved):
        used.setdefault(task_id, "reserved in author.toml")
    for text in suite.settings.retired:
        used.update(dict.fromkeys(parse_ranges([text]), "retired in author.toml"))
    for task_id, where in register_ids(suite).items():
        used.setdefault(task_id, where)
    for name, branch in branch_task_names(suite.root, remotes=remotes).items():
        parsed = parse_task_name(name)
        if parsed:
            used.setdefault(parsed.task_id, f"tasks/{name} on branch {branch}")
    return used


def _directory_ids(suite: Suite) -> dict[TaskId, str]:
    used: dict[TaskId, str] = {}
    for entry in suite.tasks_dir.iterdir() if suite.tasks_dir.is_dir() else []:
        parsed = parse_task_name(entry.name)
        staging = _STAGING.fullmatch(entry.name)
        if parsed:
            used[parsed.task_id] = f"tasks/{entry.name}"
        elif staging:
            used[TaskId(staging["series"], int(staging["number"]))] = f"tasks/{entry.name}"
    return used


def next_id(suite: Suite, series: str, *, remotes: bool = False) -> TaskId:
    """The next free ID of `series`. It is free now; only `reserve_task` keeps it so."""
    return TaskId(series, next_number(series, used_ids(suite, remotes=remotes)))


def check_series(suite: Suite, series: str) -> str:
    """`series` itself when the suite has it.

    Raises:
        SuiteError: it has not; the hint lists those it has.
    """
    known = suite.settings.series
    if series in known:
        return series
    listing = ", ".join(f"{letter} ({known[letter].title})" for letter in sorted(known))
    near = f"did you mean '{series.upper()}'? " if series.upper() in known else ""
    raise SuiteError(
        f"there is no series '{series}'",
        hint=f"{near}the suite has {listing}; others are declared as [series.X] in author.toml",
    )


@dataclass
class Reservation:
    """A number that is ours, and the hidden directory in which its task is made.

    Attributes:
        name: the task's name.
        staging: an empty directory beside its final place.
        final: where `reserve_task` puts it.
    """

    name: TaskName
    staging: Path
    final: Path


@contextlib.contextmanager
def reserve_task(suite: Suite, series: str, slug: str, *, remotes: bool = False) -> Iterator[Reservation]:
    """Take the next free ID of `series`; the body fills `staging`, which is then renamed into place.

    The directory `tasks/.H23.new` is the reservation: making it is atomic, and it counts as in use until it
    becomes `tasks/H23-slug`. When the body raises, nothing is left. A reservation whose process died is
    removed by the next one: its owner held a lock on it, which died with it.

    Raises:
        SuiteError: `tasks/` cannot be written.
    """
    elsewhere = _elsewhere_ids(suite, remotes=remotes)
    try:
        suite.tasks_dir.mkdir(exist_ok=True)
        with _locked(suite.tasks_dir):
            _remove_orphans(suite.tasks_dir)
            number = next_number(series, [*elsewhere, *_directory_ids(suite)])
            name = TaskName(series, number, slug)
            staging, lock = _hold(suite.tasks_dir, name.id)
    except OSError as error:
        raise SuiteError(
            f"cannot make a task here: {error.strerror}",
            path=suite.tasks_dir,
            hint="check permissions and free space",
        ) from error
    reservation = Reservation(name, staging, suite.tasks_dir / str(name))
    try:
        yield reservation
        _sync_tree(staging)
        staging.rename(reservation.final)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise SuiteError(
            f"cannot write the task: {error.strerror}",
            path=error.filename or reservation.final,
            hint="nothing was left behind; free some space or check permissions, then run it again",
        ) from error
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    finally:
        os.close(lock)


@contextlib.contextmanager
def staging_directory(tasks_dir: Path, task_id: str) -> Iterator[Path]:
    """Make `tasks/.<ID>.new` and hold it while the block runs, which renames it; when that raises, it is removed.

    Raises:
        OSError: it is there already, and held; or it cannot be made.
    """
    with _locked(tasks_dir):
        _remove_orphans(tasks_dir)
        staging, lock = _hold(tasks_dir, task_id)
    try:
        yield staging
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _hold(tasks_dir: Path, task_id: str) -> tuple[Path, int]:
    """A fresh staging directory, and a descriptor that keeps others from taking it for a dead process's."""
    staging = tasks_dir / f".{task_id}.new"
    staging.mkdir()
    lock = os.open(staging, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return staging, lock


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_orphans(tasks_dir: Path) -> None:
    for entry in tasks_dir.iterdir():
        if not _STAGING.fullmatch(entry.name) or entry.is_symlink():
            continue
        try:
            descriptor = os.open(entry, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            shutil.rmtree(entry, ignore_errors=True)
        finally:
            os.close(descriptor)


def _sync_tree(directory: Path) -> None:
    """A rename may reach the disk before the files do; a crash then must not show an empty task."""
    from concurrent.futures import ThreadPoolExecutor

    files = [path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
    # Side by side: a file system commits what waits together, and a task cut from a repository has thousands. For
    # a few, starting threads would take longer, and may hang where there is no memory for them.
    if len(files) > _FEW:
        try:
            with ThreadPoolExecutor(16) as pool:
                for _ in pool.map(_sync_file, files):
                    pass
            return
        except RuntimeError:  # no room for threads
            pass
    for file in files:
        _sync_file(file)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
