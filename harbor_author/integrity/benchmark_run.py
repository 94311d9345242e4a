"""Running many tasks of the general form: one report each, and none after a contamination."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from harbor_author.integrity.benchmark_task import BenchmarkTask
from harbor_author.integrity.environment import toolchain
from harbor_author.integrity.errors import ContaminationError
from harbor_author.integrity.fixture import PREFIX, Evidence, with_fixture_copy

T = TypeVar("T")


@dataclass(frozen=True)
class TaskReport(Generic[T]):
    """One task's result: its version, the copy's evidence, and the operation's value or error.

    `evidence` is None when no copy was begun, `value` when `state` is not "done".
    """

    task: str
    version: str
    offline: bool
    state: Literal["done", "failed", "not-started"]
    evidence: Evidence | None
    value: T | None
    error: BaseException | None


@dataclass(frozen=True)
class RunReport(Generic[T]):
    """All tasks' reports and the tools' versions. `contamination` ended the run where it is not None."""

    tasks: tuple[TaskReport[T], ...]
    tools: dict[str, str]
    contamination: ContaminationError | None

    def offline_tasks(self) -> tuple[TaskReport[T], ...]:
        """The tasks of the main rate: those that need no public network."""
        return tuple(report for report in self.tasks if report.offline)


def run_tasks(
    tasks: Sequence[BenchmarkTask],
    operation: Callable[[BenchmarkTask, Path], T],
    *,
    prefix: str = PREFIX,
) -> RunReport[T]:
    """Run `operation` on a fresh copy of each task's fixture, in the given order; go on after an ordinary failure.

    A contaminated source stops the run: what is left is reported as not started. Interrupts pass through.
    """
    reports: list[TaskReport[T]] = []
    contamination: ContaminationError | None = None
    for task in tasks:
        if contamination is not None:
            reports.append(_report(task, "not-started"))
            continue
        seen: list[Evidence] = []

        def on_workspace(workspace: Path, task: BenchmarkTask = task) -> T:
            return operation(task, workspace)

        try:
            value = with_fixture_copy(
                task.fixture, on_workspace, prefix=prefix, task=task.id, evidence=seen.append
            )
        except Exception as error:
            if isinstance(error, ContaminationError):
                contamination = error
            reports.append(_report(task, "failed", evidence=seen[0] if seen else None, error=error))
        else:
            reports.append(_report(task, "done", evidence=seen[0], value=value))
    return RunReport(tuple(reports), toolchain(), contamination)


def comparable(first: BenchmarkTask, second: BenchmarkTask) -> bool:
    """Whether results of the two may be compared: the same task in the same version, fixture and definition."""
    return first.id == second.id and first.version == second.version


def _report(
    task: BenchmarkTask, state: Literal["done", "failed", "not-started"], **known: Any
) -> TaskReport[T]:
    empty: dict[str, Any] = {"evidence": None, "value": None, "error": None}
    return TaskReport(
        task=task.id, version=task.version, offline=task.network == "none", state=state, **empty | known
    )
