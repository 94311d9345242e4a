"""Running a task's own command in a working copy: no network unless declared, bounded in time and output."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.redaction import redact, truncate

MAX_OUTPUT_CHARS = 16_000
#: An endless printer is stopped when its output has this size.
_MAX_OUTPUT_BYTES = 2 << 20
_POLL_S = 0.02


@dataclass(frozen=True)
class Ended:
    """A command's end. `cause` is "" when it ended by itself, else why it was stopped or which signal ended it."""

    exit_status: int
    cause: str
    output: str
    duration_s: float


def run_in_copy(
    command: Sequence[str],
    workspace: Path,
    environment: Mapping[str, str],
    *,
    timeout_s: float,
    network: bool = False,
) -> Ended:
    """Run `command` in `workspace` with exactly `environment`; its whole process group ends with it.

    Output (both streams) is redacted and cut to `MAX_OUTPUT_CHARS`.

    Raises:
        IntegrityError: it cannot be started, or the network cannot be switched off here.
    """
    if not command:
        raise IntegrityError("there is no command to run")
    started = time.monotonic()
    with tempfile.TemporaryFile(dir=workspace.parent) as output:
        try:
            process = subprocess.Popen(
                [*(() if network else _no_network()), *command],
                cwd=workspace,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise IntegrityError(f"{printable(command[0])} cannot be started ({error.strerror})") from error
        try:
            cause = _watch(process, output.fileno(), started + timeout_s)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace")
    status = process.returncode
    if not cause and status < 0:
        cause = f"ended by signal {-status}"
    text = redact(text, paths={workspace: "<workspace>", workspace.parent: "<run>", Path.home(): "~"})
    return Ended(status, cause, truncate(text, MAX_OUTPUT_CHARS), time.monotonic() - started)


def _watch(process: subprocess.Popen[bytes], output: int, deadline: float) -> str:
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
        "the network cannot be switched off for a command on this machine",
        hint='allow user namespaces, run it in a container, or declare "network": "public" in task.json',
    )
