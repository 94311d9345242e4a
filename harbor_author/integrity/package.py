"""Harbor's package: which files of a task it holds, and its digest (Harbor 0.26, `publisher/packager.py`)."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.tree import CHUNK, IGNORED_NAMES, MAX_DEPTH

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec, PathSpec
    from pathspec.pattern import Pattern

#: Both in Harbor's order of collection; the package is sorted afterwards.
PACKAGED_FILES = ("task.toml", "instruction.md", "README.md", "trajectory.json")
PACKAGED_DIRECTORIES = ("environment", "tests", "solution", "steps")
#: What Harbor leaves out when the task has no .gitignore of its own.
DEFAULT_IGNORES = ("__pycache__/", "*.pyc", ".DS_Store", "*.swp", "*.swo", "*~")

#: What a path that one of them matches has in it.
_DEFAULT_PARTS = tuple(pattern.strip("*/") for pattern in DEFAULT_IGNORES)

_IGNORE_FILE = ".harborignore"
_IGNORE_SCOPES = ("/tests/", "/solution/", "/steps/*/tests/", "/steps/*/solution/")
_MAX_IGNORE_BYTES = 1 << 16
_MAX_STARS = 3
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def package_digest(task_dir: Path) -> str:
    """Harbor's content digest of a task: `sha256:` and 64 hexadecimal digits. Modes and times do not count.

    Raises:
        IntegrityError: the package would hold a link or a special file (Harbor follows links that stay
            inside, and skips special files; we refuse both), or something cannot be read.
    """
    digest = hashlib.sha256()
    for relative in package_files(task_dir):
        digest.update(f"{relative}\0{file_digest(task_dir / relative)}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def check_plain(task_dir: Path) -> None:
    """See that a task holds nothing but directories and regular files, before any file of it is read.

    By listing and stat alone; directories that trees leave out (`tree.IGNORED_NAMES`) are not entered.

    Raises:
        IntegrityError: it is no directory, holds a link or a special file, or cannot be listed.
    """
    pending = [""]
    while pending:
        relative = pending.pop()
        try:
            with os.scandir(task_dir / relative) as listing:
                entries = [entry for entry in listing if entry.name not in IGNORED_NAMES]
            for entry in entries:
                path = f"{relative}/{entry.name}" if relative else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                elif not entry.is_file(follow_symlinks=False):
                    what = "a symbolic link" if entry.is_symlink() else "not a regular file"
                    raise IntegrityError(f"is {what}, which a task may not hold", path=printable(path))
        except OSError as error:
            raise IntegrityError(
                f"cannot be listed ({error.strerror})", path=printable(relative or str(task_dir))[:200]
            ) from error


def file_digest(path: Path) -> str:
    """The SHA-256 of one regular file, as 64 hexadecimal digits.

    Raises:
        IntegrityError: it is no regular file, or cannot be read.
    """
    digest = hashlib.sha256()
    for chunk in _read(path):
        digest.update(chunk)
    return digest.hexdigest()


def package_files(task_dir: Path) -> list[str]:
    """The files of a task's package, relative with forward slashes, in the package's order.

    Raises:
        IntegrityError: as `package_digest`.
    """
    if not task_dir.is_dir():
        raise IntegrityError("is not a directory", path=printable(str(task_dir)))
    found = [name for name in PACKAGED_FILES if os.path.lexists(task_dir / name)]
    scopes = _HarborIgnores(task_dir)
    for directory in PACKAGED_DIRECTORIES:
        if os.path.lexists(task_dir / directory):
            found += _select(task_dir, directory, scopes, 1)
    kept = sorted(_not_ignored(task_dir, found))
    for relative in kept:
        _check(task_dir / relative, relative)
    return kept


def input_files(task_dir: Path, directory: str) -> list[str]:
    """What Harbor uploads of a directory of the task: relative to it, sorted; .harborignore applied, .gitignore not.

    Raises:
        IntegrityError: as `package_digest`.
    """
    if not (task_dir / directory).is_dir():
        return []
    found = sorted(_select(task_dir, directory, _HarborIgnores(task_dir), 1))
    for relative in found:
        _check(task_dir / relative, relative)
    return [relative[len(directory) + 1 :] for relative in found]


def _select(task_dir: Path, relative: str, scopes: _HarborIgnores, depth: int) -> Iterator[str]:
    """Everything below a directory of the task but directories and what .harborignore leaves out."""
    if depth > MAX_DEPTH:
        raise IntegrityError(f"is nested deeper than {MAX_DEPTH} levels", path=printable(relative[:200]))
    path = task_dir / relative
    try:
        status = path.lstat()
        if scopes.excluded(relative, stat.S_ISDIR(status.st_mode)):
            return
        if not stat.S_ISDIR(status.st_mode):
            yield relative
            return
        names = [child.name for child in path.iterdir()]
    except OSError as error:
        raise IntegrityError(f"cannot be read ({error.strerror})", path=printable(relative)) from error
    for name in names:
        yield from _select(task_dir, f"{relative}/{name}", scopes, depth + 1)


class _HarborIgnores:
    """.harborignore files: each rules its folder and below; the innermost match wins."""

    def __init__(self, task_dir: Path) -> None:
        self._task_dir = task_dir
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def excluded(self, relative: str, is_dir: bool) -> bool:
        """Whether a path is left out, given that none of its parents is (the walk does not enter those)."""
        parent, _, name = relative.rpartition("/")
        if name == _IGNORE_FILE:
            return True
        as_listed = relative + ("/" if is_dir else "")
        verdict = False
        parts = parent.split("/") if parent else []
        for count in range(1, len(parts) + 1):
            directory = "/".join(parts[:count])
            spec = self._spec(directory)
            if spec is not None and _ignore_scopes().match_file(as_listed):
                match = spec.check_file(as_listed[len(directory) + 1 :])
                if match.include is not None:
                    verdict = match.include
        return verdict

    def _spec(self, directory: str) -> GitIgnoreSpec | None:
        if directory not in self._specs:
            spec = None
            relative = f"{directory}/{_IGNORE_FILE}"
            # Whether there is one is asked first: matching needs a library that takes a while to load.
            if os.path.lexists(self._task_dir / relative) and _ignore_scopes().match_file(directory + "/"):
                spec = _gitignore_spec(_ignore_lines(self._task_dir, relative), relative)
            self._specs[directory] = spec
        return self._specs[directory]


@cache
def _ignore_scopes() -> GitIgnoreSpec:
    return _gitignore_spec(_IGNORE_SCOPES, "")


def _not_ignored(task_dir: Path, found: list[str]) -> list[str]:
    """What the task's .gitignore keeps, or the patterns that stand in for a missing one."""
    if os.path.lexists(task_dir / ".gitignore"):
        spec = _path_spec(tuple(_ignore_lines(task_dir, ".gitignore")))
        return [relative for relative in found if not spec.match_file(relative)]
    # Hardly a path has anything of these patterns in it: then the matcher need not be loaded.
    return [
        relative
        for relative in found
        if not any(part in relative for part in _DEFAULT_PARTS)
        or not _path_spec(DEFAULT_IGNORES).match_file(relative)
    ]


@lru_cache(maxsize=16)
def _path_spec(lines: tuple[str, ...]) -> PathSpec[Pattern]:
    from pathspec import PathSpec

    try:
        # The plain PathSpec, not GitIgnoreSpec: Harbor's packager takes it, and they differ on re-inclusion.
        return PathSpec.from_lines("gitignore", lines)
    except ValueError as error:
        raise IntegrityError(
            f"holds a pattern that git would not take ({error})", path=".gitignore"
        ) from error


def _gitignore_spec(lines: list[str] | tuple[str, ...], relative: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise IntegrityError(
            f"holds a pattern that git would not take ({error})", path=printable(relative)
        ) from error


def _ignore_lines(task_dir: Path, relative: str) -> list[str]:
    path = task_dir / relative
    _check(path, relative)
    if path.lstat().st_size > _MAX_IGNORE_BYTES:
        raise IntegrityError(f"is larger than {_MAX_IGNORE_BYTES} bytes", path=printable(relative))
    try:
        return _bounded(b"".join(_read(path)).decode().splitlines(), relative)
    except UnicodeDecodeError as error:
        raise IntegrityError("is not UTF-8", path=printable(relative)) from error


def _bounded(lines: list[str], relative: str) -> list[str]:
    """Refuse patterns that a backtracking matcher would need years for; nobody writes them in earnest."""
    for number, line in enumerate(lines, 1):
        if line.count("**/") > _MAX_STARS or any(part.count("*") > _MAX_STARS for part in line.split("/")):
            raise IntegrityError(
                f"holds a pattern with more than {_MAX_STARS} stars in one part, or that many '**/'",
                path=printable(relative),
                line=number,
            )
    return lines


def _check(path: Path, relative: str) -> None:
    try:
        relative.encode()
        mode = path.lstat().st_mode
    except (OSError, UnicodeEncodeError) as error:
        raise IntegrityError(f"cannot be packaged ({error})", path=printable(relative)) from error
    if not stat.S_ISREG(mode):
        what = "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
        raise IntegrityError(f"is {what}, which a task's package may not hold", path=printable(relative))


def _read(path: Path) -> Iterator[bytes]:
    try:
        descriptor = os.open(path, _READ)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise IntegrityError("is not a regular file", path=printable(str(path)))
            while chunk := os.read(descriptor, CHUNK):
                yield chunk
        finally:
            os.close(descriptor)
    except OSError as error:
        raise IntegrityError(f"cannot be read ({error.strerror})", path=printable(str(path))) from error
