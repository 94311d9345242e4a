"""`pytest` in a suite runs `author validate` on each task as a test, and with `--oracle` its proof as another.

Registered as a pytest plugin by the package's entry point; outside a suite it collects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harbor_author.suite import Suite, Task


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("author", "Harbor benchmark tasks")
    group.addoption(
        "--oracle", action="store_true", help="prove each task in containers, too (author oracle-check)"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "author_validate: a task against every rule of author validate")
    config.addinivalue_line("markers", "author_oracle: the proof of a task in containers")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A suite's `tasks/<task>/task.toml` is a file of tests."""
    if file_path.name != "task.toml" or _suite(file_path.parent.parent) is None:
        return None
    return TaskFile.from_parent(parent, path=file_path)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """What lies deeper in a task runs in its container; it is no test of the suite."""
    for folder in (collection_path.parent, *collection_path.parent.parents):
        if (folder / "task.toml").is_file():
            if folder == collection_path.parent and collection_path.name == "task.toml":
                return None
            return True if _suite(folder.parent) is not None else None
    return None


@lru_cache
def _suite(tasks_dir: Path) -> Suite | None:
    if tasks_dir.name != "tasks" or not (tasks_dir.parent / "author.toml").is_file():
        return None
    from harbor_author.suite import find_suite

    return find_suite(tasks_dir.parent)


class TaskFile(pytest.File):
    """One task of a suite."""

    def collect(self) -> Iterator[pytest.Item]:
        from harbor_author.suite import Task

        task = Task(self.path.parent, _suite(self.path.parent.parent))
        yield ValidateItem.from_parent(self, name="validate", task=task)
        if self.config.getoption("--oracle"):
            yield OracleItem.from_parent(self, name="oracle-check", task=task)


class _TaskItem(pytest.Item):
    def __init__(self, *, task: Task, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.task = task

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.task.label}: {self.name}"

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | object:
        if isinstance(excinfo.value, FallsShort):
            return str(excinfo.value)
        from harbor_author.errors import AuthorError

        return str(excinfo.value) if isinstance(excinfo.value, AuthorError) else super().repr_failure(excinfo)


class FallsShort(Exception):  # noqa: N818 - it says that a task falls short, not that something broke
    """A task has findings or its proof failed; the text is what the command would print."""


class ValidateItem(_TaskItem):
    """Fails on a finding of severity error."""

    def __init__(self, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.add_marker("author_validate")

    def runtest(self) -> None:
        from harbor_author.checks import validate
        from harbor_author.output.findings_text import render

        report = validate([self.task], suite=self.task.suite)
        if not report.ok:
            raise FallsShort(render(report, base=Path.cwd(), colour=False))


class OracleItem(_TaskItem):
    """Fails when the proof fails or cannot be made; a current receipt is enough."""

    def __init__(self, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.add_marker("author_oracle")

    def runtest(self) -> None:
        from harbor_author.proof import Options, oracle_check, report

        results = oracle_check([self.task], Options())
        if report.exit_status(results) != 0:
            raise FallsShort(report.text(results, verbose=False, keep=False))
