"""What `author validate PATH` means: a task, or a directory of tasks of which none is passed over in silence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harbor_author.checks.errors import CheckError
from harbor_author.suite import FILE_NAME, Suite, SuiteError, Task, find_suite, resolve_tasks

#: What only a task's directory holds.
_MARKS = ("task.toml", "instruction.md", "environment", "tests", "solution", "steps")


def find_tasks(arguments: Sequence[str], suite: Suite | None) -> list[Task]:
    """The tasks that a person named; without arguments those of the suite.

    A directory that holds none of a task's files is a dataset: each of its child directories is a task, whether it
    looks like one or not, for the one that does not is the one that Harbor drops without a word.

    Raises:
        CheckError: there is no task.
        SuiteError: an argument names nothing, or there is neither an argument nor a suite.
    """
    if not arguments:
        if suite is None:
            raise SuiteError("no task named, and no suite here", hint="name a task directory or a dataset")
        tasks = suite.tasks()
        if not tasks:
            raise CheckError("the suite has no task", path=suite.tasks_dir, hint="'author new' makes one")
        return tasks
    found: dict[Path, Task] = {}
    suites = {suite.root: suite} if suite is not None else {}
    for argument in arguments:
        for task in _expand(argument, suite):
            # One object a suite, so that its cards are read once.
            owner = suites.setdefault(task.suite.root, task.suite) if task.suite is not None else None
            found.setdefault(task.path, Task(task.path, owner))
    return list(found.values())


def _expand(argument: str, suite: Suite | None) -> list[Task]:
    (task,) = resolve_tasks([argument], suite)
    if (task.path / FILE_NAME).is_file():
        return find_tasks((), find_suite(task.path))
    if task.suite is not None or _looks_like_task(task.path):
        return [task]
    try:
        children = sorted(
            child for child in task.path.iterdir() if child.is_dir() and not child.name.startswith(".")
        )
    except OSError as error:
        raise CheckError(
            f"cannot be listed: {error.strerror}", path=task.path, hint="check its permissions"
        ) from error
    if not children:
        raise CheckError("holds no task", path=task.path, hint="a task is a directory with a task.toml")
    # All children of one directory lie in the same suite, or in none.
    (first,) = resolve_tasks([f"{task.path}/{children[0].name}"], suite)
    return [Task(child.resolve(), first.suite) for child in children]


def _looks_like_task(path: Path) -> bool:
    """It holds what only a task holds, or cannot be looked into, which the check of it will say."""
    try:
        return any((path / mark).exists() for mark in _MARKS)
    except OSError:
        return True
