"""A suite and its tasks as they lie on disk, and how a person names them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from harbor_author.suite.cards import CardSet, load_cards
from harbor_author.suite.errors import SuiteError
from harbor_author.suite.ids import TaskId, TaskName, parse_ranges, parse_task_name
from harbor_author.suite.settings import FILE_NAME, MODES, Settings, load_settings


@dataclass(frozen=True)
class Task:
    """One Harbor task directory, inside a suite or anywhere else (`suite` is None)."""

    path: Path
    suite: Suite | None = None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def task_name(self) -> TaskName | None:
        """The name as series, number and slug; None for a directory that is not named so."""
        return parse_task_name(self.name)

    @property
    def id(self) -> str | None:
        parsed = self.task_name
        return parsed.id if parsed else None

    @property
    def label(self) -> str:
        """What messages call the task: its ID inside a suite, else its directory's name."""
        return (self.id if self.suite else None) or self.name or str(self.path)


class Suite:
    """A folder with `author.toml`, `tasks/` and `references/`."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.settings = settings

    @property
    def tasks_dir(self) -> Path:
        return self.root / "tasks"

    @property
    def reference_dirs(self) -> list[Path]:
        return [self.root / directory for directory in self.settings.references]

    def tasks(self, *, retired: bool = False) -> list[Task]:
        """Every directory under `tasks/`, named ones by series and number, then the others by name.

        Hidden directories are tasks in the making and not listed; retired tasks leave every new run and are listed
        only with `retired`.
        """
        gone = set() if retired else parse_ranges(self.settings.retired)
        try:
            entries = [
                entry
                for entry in self.tasks_dir.iterdir()
                if not entry.name.startswith(".") and entry.is_dir() and not _is_one_of(gone, entry.name)
            ]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SuiteError(
                f"cannot be listed: {error.strerror}", path=self.tasks_dir, hint="check its permissions"
            ) from error

        def order(path: Path) -> tuple[bool, str, int, str]:
            name = parse_task_name(path.name)
            return (name is None, name.series if name else "", name.number if name else 0, path.name)

        return [Task(path, self) for path in sorted(entries, key=order)]

    @cached_property
    def _cards(self) -> CardSet:
        return load_cards(self.reference_dirs)

    def cards(self) -> CardSet:
        """The suite's cards, read once."""
        return self._cards


def _is_one_of(ids: set[TaskId], directory: str) -> bool:
    name = parse_task_name(directory)
    return name is not None and name.task_id in ids


def find_suite_or_none(start: Path | None = None) -> Suite | None:
    """The suite that holds `start` (default: the working directory), or None when there is no author.toml above it.

    Raises:
        SuiteError: an author.toml is there and wrong.
    """
    directory = (start or Path.cwd()).resolve()
    for candidate in (directory, *directory.parents):
        path = candidate / FILE_NAME
        if os.path.lexists(path):
            return Suite(candidate, load_settings(_regular(path)))
    return None


def find_suite(root: Path | None = None) -> Suite:
    """The suite at `root`, or, without `root`, the one that holds the working directory.

    Raises:
        SuiteError: there is none, or its author.toml is wrong.
    """
    if root is None:
        suite = find_suite_or_none()
        if suite is None:
            raise SuiteError(
                f"no {FILE_NAME} in {Path.cwd()} or any folder above it",
                hint="run 'author init' to make this folder a suite, or name one with --suite DIR",
            )
        return suite
    directory = root.parent if root.name == FILE_NAME and root.is_file() else root
    path = directory / FILE_NAME
    if not os.path.lexists(path):
        what = "is no suite: it has no author.toml" if directory.is_dir() else "does not exist"
        raise SuiteError(what, path=directory, hint=f"run 'author init {directory}' to make it one")
    return Suite(directory.resolve(), load_settings(_regular(path)))


def _regular(path: Path) -> Path:
    """`path` itself when it is a file; what else bears that name must not be passed over for another suite above."""
    if not path.is_file():
        raise SuiteError("is no regular file", path=path, hint="put the suite's settings there, or remove it")
    return path


def resolve_tasks(arguments: Sequence[str], suite: Suite | None) -> list[Task]:
    """The tasks that a person named by ID, directory name or path, in that order, each once.

    A path outside the suite's `tasks/` gives a task without a suite unless an author.toml lies above it.

    Raises:
        SuiteError: one does not exist (the nearest name is suggested) or an ID is used twice.
    """
    found: dict[Path, Task] = {}
    for argument in arguments:
        task = _resolve(argument, suite)
        found.setdefault(task.path, task)
    return list(found.values())


def _resolve(argument: str, suite: Suite | None) -> Task:
    if not argument.strip():
        raise SuiteError(
            "an empty word names no task", hint="is a variable of the shell unset? name a task by its ID"
        )
    path = Path(argument)
    looks_like_path = "/" in argument or argument in (".", "..")
    if suite is not None and not looks_like_path:
        matches = [task for task in suite.tasks() if argument in (task.name, task.id)]
        if len(matches) > 1:
            raise SuiteError(
                f"{argument} is the ID of {len(matches)} tasks: {', '.join(task.name for task in matches)}",
                path=suite.tasks_dir,
                hint=f"renumber one with 'author rename {matches[-1].name} <new name>'",
            )
        if matches:
            return matches[0]
    if path.is_dir():
        resolved = path.resolve()
        return Task(resolved, _owner(resolved, suite))
    if looks_like_path or suite is None:
        what = "is not a directory" if path.exists() else "does not exist"
        raise SuiteError(
            what, path=argument, hint="name a task directory, or run inside a suite to name it by ID"
        )
    raise SuiteError(f"there is no task '{argument}' in {suite.tasks_dir}", hint=_suggestion(argument, suite))


def _owner(path: Path, suite: Suite | None) -> Suite | None:
    if suite is not None and path.parent == suite.tasks_dir:
        return suite
    near = find_suite_or_none(path)
    return near if near is not None and path.parent == near.tasks_dir else None


def _suggestion(argument: str, suite: Suite) -> str:
    named = parse_task_name(argument)
    retired = suite.settings.retired.get(named.id if named else argument)
    if retired:
        return f"it is retired: {retired}"
    tasks = suite.tasks()
    if not tasks:
        return "the suite has no tasks yet: 'author new --series H' makes one"
    wanted = parse_task_name(argument)
    names = {name: task for task in tasks for name in (task.id, task.name) if name}
    upper = argument.upper()
    if upper in names:
        return f"did you mean '{upper}'?"
    if wanted and wanted.id in names:
        return f"did you mean '{names[wanted.id].name}'?"
    near = get_close_matches(argument, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{near[0]}'?"
    known = ", ".join(task.label for task in tasks[:8])
    return f"the suite has {known}" + (", ..." if len(tasks) > 8 else "")


def task_mode(task: Task, document: Mapping[str, Any]) -> str:
    """What an agent may change: `[metadata] mode` of the task's document, else `[modes]` of author.toml, else its
    series' default, else `mutable`.

    Args:
        document: the parsed task.toml; an unknown mode in it counts as none.
    """
    metadata = document.get("metadata")
    mode = metadata.get("mode") if isinstance(metadata, dict) else None
    if mode in MODES:
        return str(mode)
    name = task.task_name
    if task.suite is not None and name is not None:
        settings = task.suite.settings
        if name.id in settings.modes:
            return settings.modes[name.id]
        if name.series in settings.series:
            return settings.series[name.series].mode
    return "mutable"
