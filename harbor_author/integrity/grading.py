"""What a task's own commands say about a working copy: the grader, and the probe of the expected baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harbor_author.integrity.baseline import deviations, observe
from harbor_author.integrity.benchmark_task import BenchmarkTask
from harbor_author.integrity.environment import workspace_environment
from harbor_author.integrity.errors import IntegrityError
from harbor_author.integrity.process import Ended, run_in_copy


@dataclass(frozen=True)
class Grade:
    """What the grader said. `passed` is None when it could not judge, and `cause` tells why."""

    passed: bool | None
    exit_status: int
    cause: str
    output: str
    duration_s: float


def run_grader(task: BenchmarkTask, workspace: Path) -> Grade:
    """Run `task`'s declared grader in `workspace`; what the agent's own tests say plays no part.

    Command, time limit and variables come from the task's definition alone.

    Raises:
        IntegrityError: there is no command, it cannot be started, or the network cannot be switched off.
    """
    ended = _run(task, task.grader.command, workspace, task.grader.timeout_s)
    passed = None if ended.cause else ended.exit_status == 0
    return Grade(passed, ended.exit_status, ended.cause, ended.output, ended.duration_s)


def probe_baseline(task: BenchmarkTask, workspace: Path) -> None:
    """Run the expected baseline's command on the untouched copy, before an agent starts.

    Raises:
        IntegrityError: the fixture does not behave as declared, so an evaluation would mean nothing.
    """
    if task.baseline is None:
        return
    ended = _run(task, task.baseline.command, workspace, task.timeout_s)
    found = deviations(task.baseline, observe(ended.output, ended.exit_status, cause=ended.cause))
    if found:
        raise IntegrityError(
            f"the baseline of {task.id} is not as declared: {'; '.join(found)}",
            hint="mend the fixture, or declare what it gives in expectedBaseline",
        )


def _run(task: BenchmarkTask, command: Sequence[str], workspace: Path, timeout_s: float) -> Ended:
    environment = workspace_environment(
        workspace, variables=task.variables, clock_s=task.conditions.clock_s, seed=task.conditions.seed
    )
    return run_in_copy(command, workspace, environment, timeout_s=timeout_s, network=task.network == "public")
