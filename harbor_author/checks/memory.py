"""Verdicts on whole tasks, kept from run to run: a task that nothing has touched is not checked again.

A verdict is recalled by a digest of all that it depends on: each byte and mode of the task, where it lies, the suite's
settings, cards and task names, git's index and the .gitignore files above it, the options, the day, and the programs,
this one's own code among them. What cannot be told by a digest (links, special files, files too long to be read, a
folder that is another program's) is never remembered; neither is a verdict that a time limit had a part in.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from harbor_author.checks.checkout import git_dir
from harbor_author.checks.context import READ_LIMIT, TaskFiles
from harbor_author.checks.findings import Finding, Verdict
from harbor_author.checks.tree import walk
from harbor_author.integrity.cache import cache_path, keep_json, load_json
from harbor_author.suite import Suite, Task

_LIMIT = 5_000
#: Tasks with more are read anew: a digest of so much costs what the rules cost.
_MAX_BYTES = 8 << 20
_MAX_FINDINGS = 100
_PROGRAMS = ("bash", "shellcheck", "node", "git")


@cache
def program(name: str) -> str | None:
    """Path of a program: beside Python, as pip installs one, else on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.is_file() else shutil.which(name)


class Memory:
    """The verdicts of earlier runs; losing them costs time and nothing else."""

    def __init__(self) -> None:
        self._path = cache_path("verdicts-1.json")
        self._known = self._load()
        self._fresh: dict[str, Any] = {}

    def _load(self) -> dict[str, Any]:
        known = load_json(self._path)
        return known if isinstance(known, dict) else {}

    def knows(self, ground: str) -> bool:
        """A run on the same ground left something."""
        return any(key.startswith(ground) for key in self._known)

    def recall(self, key: str | None) -> Verdict | None:
        try:
            findings, used, name = self._known[key or ""]
            return Verdict(
                tuple(Finding(*finding) for finding in findings),
                frozenset(tuple(item) for item in used),
                name,
            )
        except (KeyError, TypeError, ValueError):
            return None

    def keep(self, key: str, verdict: Verdict) -> None:
        if len(verdict.findings) > _MAX_FINDINGS or any(f.rule == "rule-crashed" for f in verdict.findings):
            return
        findings = [
            [f.task, f.rule, f.severity, f.path, f.line, f.column, f.message, f.fix] for f in verdict.findings
        ]
        self._fresh[key] = [findings, sorted(verdict.used), verdict.name]

    def save(self) -> None:
        if not self._fresh:
            return
        # Another run may have saved meanwhile.
        kept = {**self._load(), **self._fresh}
        keep_json(self._path, dict(list(kept.items())[-_LIMIT:]))


def ground(task: Task, owner: Suite | None, options: Mapping[str, Any], today: datetime.date) -> str | None:
    """What the tasks of one suite (or of none) have in common, as a short digest; None when it cannot be told."""
    around = _suite_state(owner) if owner is not None else ""
    if around is None:
        return None
    own = "" if task.suite is None else str(task.suite.root)
    said = json.dumps([around, own, options, today.isoformat(), _tools()], default=str)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def key(files: TaskFiles, ground: str) -> str | None:
    """Digest of a task; None when its verdict may depend on what no digest tells. Its files are read for it once."""
    tree = files.tree
    if tree.unreadable:
        return None
    digest = hashlib.sha256(os.fsencode(files.root))
    total = 0
    for path, entry in tree.entries.items():
        if entry.kind not in ("file", "dir") or entry.opaque or entry.size > READ_LIMIT:
            return None
        # A directory's own size is the file system's affair.
        size = entry.size if entry.kind == "file" else 0
        digest.update(f"{path}\0{entry.kind}\0{entry.mode}\0{size}\0".encode("utf-8", "surrogateescape"))
        if size:
            data = files.data(path)
            total += size
            if len(data) != size or total > _MAX_BYTES:
                return None
            digest.update(data)
    return None if files.unreadable else ground + _git_state(str(files.root)) + digest.hexdigest()[:32]


def still_holds(key: str, task: Task, ground: str | None) -> bool:
    """Neither the suite nor git changed while the task was checked."""
    return ground is not None and key.startswith(ground + _git_state(str(task.path)))


def sure(files: TaskFiles) -> bool:
    """Nothing had a part in the verdict that `key` does not tell."""
    cards = [place.resolve() for place in files.suite.reference_dirs] if files.suite is not None else []
    return (
        not files.unreadable
        and files.programs is not None
        and not files.programs.cut_short
        and all(any(path.is_relative_to(place) for place in cards) for path in files.consulted)
    )


def _suite_state(suite: Suite) -> str | None:
    digest = hashlib.sha256(str(suite.root).encode("utf-8", "surrogatepass"))
    try:
        digest.update(repr(suite.settings).encode("utf-8", "surrogatepass"))
        with os.scandir(suite.tasks_dir) as scan:
            names = sorted(f"{item.name}\0{item.is_dir()}" for item in scan)
    except FileNotFoundError:
        names = []
    except OSError:
        return None
    digest.update("\0".join(names).encode("utf-8", "surrogateescape"))
    for directory in suite.reference_dirs:
        tree = walk(directory) if os.path.lexists(directory) else None
        digest.update(f"\0{directory}\0{tree is None}\0".encode("utf-8", "surrogateescape"))
        if tree is None:
            continue
        if tree.unreadable or directory.is_symlink():
            return None
        for path, entry in tree.entries.items():
            if entry.kind not in ("file", "dir") or entry.opaque or entry.size > READ_LIMIT:
                return None
            digest.update(f"{path}\0{entry.kind}\0{entry.mode}\0".encode("utf-8", "surrogateescape"))
            if entry.kind == "file":
                try:
                    data = (directory / path).read_bytes()
                except OSError:
                    return None
                digest.update(f"{len(data)}\0".encode() + data)
    return digest.hexdigest()


@lru_cache(maxsize=1024)
def _git_state(folder: str) -> str:
    """What git could say of a folder: the checkouts above it, their indexes, and the .gitignore files on the way."""
    parent = os.path.dirname(folder)  # noqa: PTH120 - text alone
    above = _git_state(parent) if parent != folder else ""
    git = f"{folder}/.git"
    place = git_dir(folder) if os.path.lexists(git) else None
    own = f"{place}\0{_content(place + '/index')}" if place is not None else ""
    said = f"{above}\0{own}\0{_content(f'{folder}/.gitignore')}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _content(path: str) -> str:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            return hashlib.sha256(stream.read(64 << 20)).hexdigest()
    except OSError as error:
        return str(error.errno)


def look_anew() -> None:
    """Forget what this process knows of git and of the suite: they may have changed since the last run."""
    _git_state.cache_clear()


@cache
def _tools() -> list[Any]:
    """This program's own code, the packages beside it, Python, and the programs that it asks."""
    package = Path(__file__).resolve().parent.parent
    code = [(path, *_stamp(path)) for path in _sources(str(package))]
    others = sorted(
        name for folder in sys.path for name in _names(folder) if name.endswith((".dist-info", ".egg-info"))
    )
    programs: list[Any] = []
    for name in _PROGRAMS:
        place = program(name)
        programs.append([name] if place is None else [place, *_stamp(place)])
    digest = hashlib.sha256(repr((code, others)).encode("utf-8", "surrogatepass")).hexdigest()
    return [digest, programs, sys.version, os.getuid()]


def _stamp(path: str) -> tuple[int, int]:
    info = os.stat(path)  # noqa: PTH116
    return info.st_size, info.st_mtime_ns


def _sources(folder: str) -> list[str]:
    found = []
    with os.scandir(folder) as scan:
        for item in sorted(scan, key=lambda entry: entry.name):
            if item.is_dir():
                found += _sources(item.path) if item.name != "__pycache__" else []
            elif item.name.endswith(".py"):
                found.append(item.path)
    return found


def _names(folder: str) -> Sequence[str]:
    try:
        return os.listdir(folder or ".")  # noqa: PTH208
    except OSError:
        return ()
