"""Repairs of what can be proved: shown as a diff first, written atomically, verified before they are written.

A fixer sees a task's files as they will be after the fixers before it, and changes that view. Nothing is written until
every task's changes are known; a file that changed meanwhile is left alone.
"""

from __future__ import annotations

import difflib
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harbor_author.checks import gitstate
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.errors import CheckError
from harbor_author.integrity.files import reap_siblings, write_atomic
from harbor_author.suite import Task


@dataclass
class Draft:
    """A task's files under repair.

    Attributes:
        files: the task as it lies on disk.
        rules: names of the rules whose repair changed something, by path.
    """

    files: TaskFiles
    contents: dict[str, bytes] = field(default_factory=dict)
    executable: set[str] = field(default_factory=set)
    rules: dict[str, list[str]] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        return self.contents.get(path, self.files.data(path))

    def text(self, path: str) -> str | None:
        """The file's text as it will be; None when it is no UTF-8 or too long to be repaired."""
        if self.files.truncated(path) or not self.files.is_file(path):
            return None
        try:
            return self.read(path).decode("utf-8")
        except UnicodeDecodeError:
            return None

    def write(self, rule: str, path: str, data: bytes | str) -> None:
        data = data.encode("utf-8") if isinstance(data, str) else data
        if data != self.read(path):
            self.contents[path] = data
            self._by(rule, path)

    def make_executable(self, rule: str, path: str) -> None:
        self.executable.add(path)
        self._by(rule, path)

    def _by(self, rule: str, path: str) -> None:
        names = self.rules.setdefault(path, [])
        if rule not in names:
            names.append(rule)


Fixer = Callable[[Draft], None]
_FIXERS: dict[str, Fixer] = {}


def fixer(rule: str) -> Callable[[Fixer], Fixer]:
    """Register the repair of a rule's findings."""

    def register(function: Fixer) -> Fixer:
        if rule in _FIXERS:
            raise TypeError(f"rule {rule!r} has two fixers")
        _FIXERS[rule] = function
        return function

    return register


def fixable() -> frozenset[str]:
    """Names of the rules that have a repair."""
    from harbor_author.checks import fixers  # noqa: F401 - registers them

    return frozenset(_FIXERS)


@dataclass(frozen=True)
class Change:
    """What will be done to one file.

    Attributes:
        task: label of the task; rules: whose findings it repairs.
        before, after: content; equal when only the mode changes.
        executable: the executable bit is set, in the git index too where the file is tracked.
    """

    task: str
    path: Path
    name: str
    rules: tuple[str, ...]
    before: bytes
    after: bytes
    executable: bool

    def diff(self) -> str:
        """Unified diff, and a line for the mode."""
        lines: list[str] = []
        if self.executable:
            lines.append(f"mode of {self.name}: executable\n")
        before = self.before.decode("utf-8", "replace").splitlines(keepends=True)
        after = self.after.decode("utf-8", "replace").splitlines(keepends=True)
        for line in difflib.unified_diff(before, after, f"a/{self.name}", f"b/{self.name}"):
            lines.append(_visible(line))
        return "".join(lines)


def _visible(line: str) -> str:
    """A diff line in which what a fix removes can be seen."""
    marked = line.replace("\r", "␍").replace("\ufeff", "<BOM>")
    return marked if marked.endswith("\n") else marked + "\n\\ no newline at end of file\n"


def plan_fixes(tasks: Sequence[Task], *, rules: Iterable[str] = ()) -> list[Change]:
    """What would be repaired; nothing is written.

    Args:
        rules: only these rules' repairs; default: all.

    Raises:
        CheckError: a rule has no repair.
    """
    known = fixable()
    chosen = list(rules) or list(_FIXERS)
    for name in chosen:
        if name not in known:
            raise CheckError(
                f"rule '{name}' has no automatic fix", hint="fixable: " + ", ".join(sorted(known))
            )
    changes: list[Change] = []
    for task in tasks:
        draft = Draft(TaskFiles(task))
        for name, function in _FIXERS.items():
            if name in chosen:
                function(draft)
        for path in sorted(draft.rules):
            before = draft.files.data(path)
            changes.append(
                Change(
                    task.label,
                    task.path / path,
                    path,
                    tuple(draft.rules[path]),
                    before,
                    draft.contents.get(path, before),
                    path in draft.executable,
                )
            )
    return changes


def apply_fixes(changes: Iterable[Change]) -> None:
    """Write the changes.

    Raises:
        CheckError: a file changed since it was read; changes before it are done.
        IntegrityError: one cannot be written.
    """
    for change in changes:
        try:
            info = change.path.lstat()
            if not stat.S_ISREG(info.st_mode) or change.path.read_bytes() != change.before:
                raise CheckError("changed while it was being repaired", path=change.path, hint="run it again")
            if change.after != change.before:
                reap_siblings(change.path.parent)
                write_atomic(change.path, change.after)
            if change.executable:
                change.path.chmod(stat.S_IMODE(info.st_mode) | 0o111)
        except OSError as error:
            raise CheckError(
                f"cannot be written: {error.strerror}", path=change.path, hint="check its permissions"
            ) from error
        if change.executable:
            _mark_in_index(change.path, change.name)


def _mark_in_index(path: Path, name: str) -> None:
    """Tracked files get the bit in git's index, which file systems without such a bit need."""
    # The checkout that holds the task: one inside it is the task's own affair.
    top = gitstate.toplevel(path.parents[name.count("/")])
    index = gitstate.index(top) if top is not None else None
    if top is None or not index:
        return
    relative = path.relative_to(top).as_posix()
    if index.get(relative) == 0o100644:
        gitstate.run_git(["update-index", "--chmod=+x", "--", relative], cwd=top)
