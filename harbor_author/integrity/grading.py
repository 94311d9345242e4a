"""Running a task's declared grader in a working copy: fixed command and directory, no network, bounded output."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harbor_author.integrity.benchmark_task import BenchmarkTask
from harbor_author.integrity.environment import workspace_environment
from harbor_author.integrity.errors import IntegrityError
from harbor_author.integrity.redaction import redact, truncate

MAX_OUTPUT_CHARS = 16_000
#: An endless printer is stopped when its output file has this size.
_MAX_OUTPUT_BYTES = 8 << 20
_POLL_S = 0.02


@dataclass(frozen=True)
class Grade:
    """What the grader said. `passed` is None when it could not judge: killed, over time, or over its output limit."""

    passed: bool | None
    exit_status: int
    cause: str
    output: str
    duration_s: float


def run_grader(task: BenchmarkTask, workspace: Path) -> Grade:
    """Run `task`'s own grader command in `workspace`; what the agent's tests say plays no part.

    The command, its time limit and its variables come from the task's definition alone.

    Raises:
        IntegrityError: the task has no command to run here, the command does not exist, or the network cannot be
            switched off although the task does not ask for it.
    """
    if not task.grader.command:
        raise IntegrityError(f"the grader of {task.id} has no command to run")
    command = [*(_no_network() if task.network == "none" else ()), *task.grader.command]
    environment = workspace_environment(
        workspace, variables=task.variables, clock_s=task.conditions.clock_s, seed=task.conditions.seed
    )
    started = time.monotonic()
    with tempfile.TemporaryFile(dir=workspace.parent) as output:
        try:
            process = subprocess.Popen(
                command,
                cwd=workspace,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise IntegrityError(f"the grader of {task.id} cannot be started ({error.strerror})") from error
        try:
            cause = _watch(process, output.fileno(), started + task.grader.timeout_s)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace")
    status = process.returncode
    if not cause and status < 0:
        cause = f"ended by signal {-status}"
    return Grade(
        passed=None if cause else status == 0,
        exit_status=status,
        cause=cause,
        output=truncate(redact(text, paths={workspace: "<workspace>", Path.home(): "~"}), MAX_OUTPUT_CHARS),
        duration_s=time.monotonic() - started,
    )


def _watch(process: subprocess.Popen[bytes], output: int, deadline: float) -> str:
    """Wait for the grader; why it must be stopped, or "" when it ended by itself."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            return ""
        if time.monotonic() > deadline:
            return "over its time limit"
        if os.fstat(output).st_size > _MAX_OUTPUT_BYTES:
            return "over its output limit"


@lru_cache(maxsize=1)
def _no_network() -> tuple[str, ...]:
    for prefix in (("unshare", "--net"), ("unshare", "--user", "--map-root-user", "--net")):
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*prefix, "true"], check=True, capture_output=True, timeout=10)
            return prefix
    raise IntegrityError(
        "the network cannot be switched off for the grader on this machine",
        hint='allow user namespaces, run it in a container, or declare "network": "public" in task.json',
    )
