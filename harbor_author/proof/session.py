"""One container of a trial: brought up as Harbor does it, watched for its limits, and removed whatever happens."""

from __future__ import annotations

import base64
import io
import shlex
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO, Any

from harbor_author.proof.config import EnvironmentConfig, Healthcheck, resolve_env
from harbor_author.proof.errors import says_no_room
from harbor_author.sandbox import ContainerSpec, Engine, EngineError, ExecResult, ImageInfo
from harbor_author.sandbox.archives import Archive
from harbor_author.sandbox.ownership import owner_labels

_ROOT = ("", "0", "root", "0:0", "root:root")
_NOT_UNPACKED = 125
_NOT_UNPACKED_WORD = "harbor-author: not unpacked\n"
#: What is still being sent is read to its end: a stream that breaks loses what was printed.
_GIVE_UP = f"{{ echo '{_NOT_UNPACKED_WORD.strip()}'; command -p cat >/dev/null; exit {_NOT_UNPACKED}; }}"
_UNPACK_AND_RUN = f'tar -xf - -C / 2>/dev/null || {_GIVE_UP}; exec bash -c "$0" </dev/null'
#: Less room than this is none: a script that fills the disk may leave what is too little for its next block.
_ROOM_MB = 16
#: A container that has written more, where there is no room, has used it up itself.
_OWN_WRITING_MB = 64
#: What is read along with a command's end: more of it is read by requests of its own.
_READ_BYTES = 1 << 20
LOG_DIRS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")


@dataclass(frozen=True)
class Limits:
    """What a container may take, whatever its task.toml says. `disk_mb` is what it may write.

    A process limit stops a fork bomb; a compiler or a test runner stays far below it.
    """

    pids: int = 4096
    disk_mb: int = 16384
    output_mb: int = 64


DEFAULT_LIMITS = Limits()


class TrialAbortedError(Exception):
    """The trial cannot go on; `cause` is from `causes.CAUSES`, `log` the tail of what tells why."""

    def __init__(self, cause: str, message: str, log: str = "") -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.log = log


@dataclass(frozen=True)
class Around:
    """A command that was run in one request with what comes before and after it.

    `probed` is what the probe printed, `archive` a tar archive of the folder that was asked for. Both are None where
    they did not come through, such as after a command that killed every process, or left too much to read.
    """

    result: ExecResult
    probed: str | None = None
    archive: bytes | None = None


class Cancellation:
    """Set once, by an interrupt; every wait of every trial looks at it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        if self._event.is_set():
            raise TrialAbortedError("interrupted", "interrupted")

    def sleep(self, seconds: float) -> None:
        self._event.wait(seconds)
        self.check()


class Session:
    """A running container; commands go through `bash -c`, in Harbor's order, user and working directory.

    Files that nothing can look at before the next command are collected and sent with it in one archive.
    """

    def __init__(
        self,
        engine: Engine,
        container: str,
        config: EnvironmentConfig,
        cancellation: Cancellation,
        limits: Limits,
        *,
        image_user: str = "",
    ) -> None:
        self.engine = engine
        self.container = container
        self.config = config
        self.cancellation = cancellation
        self.limits = limits
        self._image_user = image_user
        self._has_run = False
        self._pending: Archive | None = None
        self._connected = config.network_mode != "no-network"
        self._last_disk_look = time.monotonic()

    @property
    def pending(self) -> Archive:
        """The archive that goes to `/` before the next command."""
        if self._pending is None:
            self._pending = Archive()
        return self._pending

    def flush(self, *, may_wait: bool = False) -> None:
        """Send what is pending; `may_wait`: unless it may still go with the first command."""
        if self._pending is not None and (self._has_run or not may_wait):
            archive, self._pending = self._pending, None
            self.engine.put(self.container, "/", archive.finish())

    def exec(
        self,
        command: str,
        *,
        user: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        output_file: str | None = None,
    ) -> ExecResult:
        """Run a shell command; `output_file` is where it prints to, watched for its size.

        Raises:
            TrialAbortedError: a limit was reached, the proof was interrupted, or the container cannot run bash.
        """
        self.cancellation.check()
        result = self._run_with_files(
            command, user=user, env=env, timeout_s=timeout_s, output_file=output_file
        )
        if result is None:
            self.flush()
            result = self._run(
                ["bash", "-c", command], user=user, env=env, timeout_s=timeout_s, output_file=output_file
            )
        return self._ended(result)

    def _ended(self, result: ExecResult) -> ExecResult:
        self.cancellation.check()
        if result.stopped is not None:
            cause, _, message = result.stopped.partition(": ")
            raise TrialAbortedError(cause, message)
        if result.failure is not None:
            self._explain(result.failure)
        return result

    def exec_around(
        self,
        command: str,
        *,
        remove: Sequence[str],
        probe: str,
        read: str,
        user: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        output_file: str | None = None,
    ) -> Around | None:
        """Run a command, in one request with what `exec` has others for: files removed and unpacked before it, a probe
        and the reading of a folder after it.

        That is the container's own work, done by its own tar: only for containers in which nothing ran that is there
        to deceive. The command itself is run as by `exec`, by a shell of its own; the words of the others are in no
        process's command line, where a judge that looks for processes could find them.

        Returns:
            None where it cannot be done so, and nothing was run: no root, no tar, a file that cannot be removed.

        Raises:
            TrialAbortedError: as `exec`.
        """
        if not self._is_root(user) or not self.engine.streams_stdin:
            return None
        self.cancellation.check()
        archive = self.pending.finish()
        self._pending = None
        mark = uuid.uuid4().hex
        script = (
            f"{{ rm -f -- {shlex.join(remove)} && command -p tar -xf - -C / 2>/dev/null || {_GIVE_UP}; "
            "unset SHLVL; "
            f'bash -c "$1" </dev/null; c=$?; echo; echo {mark}; {probe.strip()}\necho; echo {mark}; '
            f"command -p tar -cf - -C / {shlex.quote(read.strip('/'))} 2>/dev/null | "
            f"command -p head -c {_READ_BYTES} | command -p base64; exit $c; }}\n"
        )
        sent = io.BytesIO(script.encode() + archive.read())
        result = self._run(
            ["bash", "-s", "--", command],
            user=user,
            env=env,
            timeout_s=timeout_s,
            output_file=output_file,
            stdin=sent,
            output_limit_bytes=3 * _READ_BYTES,
        )
        if result.exit_code == _NOT_UNPACKED and mark not in result.output:
            archive.seek(0)
            self.engine.put(self.container, "/", archive)
            return None
        output, *rest = result.output.split(f"\n{mark}\n")
        result = self._ended(replace(result, output=output))
        if len(rest) != 2:
            return Around(result)
        try:
            return Around(result, rest[0], base64.b64decode(rest[1]))
        except ValueError:
            return Around(result, rest[0])

    def _is_root(self, user: str | None) -> bool:
        return (self._image_user if user is None else user) in _ROOT

    def _run_with_files(self, command: str, *, user: str | None, **options: Any) -> ExecResult | None:
        """Unpack what is pending and run a command in one request; None where that cannot be done.

        Unpacking is the container's own work then, so it is done only before anything else has run there: a
        submission must have no hand in what comes after it. In the end nothing tells the command from one that was
        run alone: the shell that unpacked is replaced by Harbor's.
        """
        if self._has_run or self._pending is None or not self._is_root(user) or not self.engine.streams_stdin:
            return None
        archive = self._pending.finish()
        result = self._run(["bash", "-c", _UNPACK_AND_RUN, command], user=user, stdin=archive, **options)
        if result.exit_code != _NOT_UNPACKED or not result.output.endswith(_NOT_UNPACKED_WORD):
            self._pending = None
            return result
        archive.seek(0)
        self.engine.put(self.container, "/", archive)
        self._pending = None
        return None

    def _run(
        self,
        argv: list[str],
        *,
        user: str | None,
        env: Mapping[str, str] | None,
        timeout_s: float | None,
        output_file: str | None,
        stdin: IO[bytes] | None = None,
        output_limit_bytes: int = 1 << 20,
    ) -> ExecResult:
        self._has_run = True
        try:
            return self.engine.run(
                self.container,
                argv,
                user=user,
                workdir=self.config.workdir,
                env=env,
                timeout_s=timeout_s,
                watch=lambda: self._watch(output_file),
                stdin=stdin,
                output_limit_bytes=output_limit_bytes,
            )
        except EngineError as error:
            self.cancellation.check()
            raise self._broken(error) from error

    def _watch(self, output_file: str | None) -> str | None:
        if self.cancellation.cancelled:
            return "interrupted: interrupted"
        try:
            if output_file is not None:
                found = self.engine.stat(self.container, output_file)
                if found is not None and found.size_bytes > self.limits.output_mb << 20:
                    return f"output-limit: {output_file} grew over {self.limits.output_mb} MiB"
            # The size of what was written is a walk through all of it: the more seldom the longer it takes.
            disk = time.monotonic() - self._last_disk_look > 10
            started = time.monotonic()
            usage = self.engine.usage(self.container, disk=disk)
            if disk:
                self._last_disk_look = time.monotonic() + 10 * (time.monotonic() - started)
        except EngineError as error:
            # An engine that refuses shows in the command's own end; one that does not answer would hold up the
            # trial until the command's time is over, and be taken for the judge's fault.
            return None if error.status else f"engine-failed: {error.message}"
        if usage.pids is not None and usage.pids >= self.limits.pids - 1:
            return f"pids-limit: the container reached {self.limits.pids} processes"
        if usage.disk_mb is not None and usage.disk_mb > self.limits.disk_mb:
            return f"disk-limit: the container wrote more than {self.limits.disk_mb} MiB"
        return None

    def no_room(self, seen: str) -> tuple[str, str] | None:
        """Cause and message when there is no room for more files here; None when there is.

        Args:
            seen: what a script, or the engine, had to say: its words for it count, too. A script that fills the disk
                has no room for these words.
        """
        wrote_mb, free_mb = None, None
        with suppress(EngineError, ValueError):
            wrote_mb = self.engine.usage(self.container, disk=True).disk_mb
        with suppress(EngineError, ValueError):
            ask = ["stat", "-f", "-c", "%a %S", "/"]
            blocks, size = self.engine.run(self.container, ask, timeout_s=10.0).output.split()
            free_mb = int(blocks) * int(size) >> 20
        is_full = free_mb is not None and free_mb < _ROOM_MB
        if not is_full and not says_no_room(seen):
            return None
        wrote = "an unknown amount" if wrote_mb is None else f"{wrote_mb} MiB"
        if wrote_mb is not None and wrote_mb > _OWN_WRITING_MB:
            limit = f"before its limit of {self.limits.disk_mb} MiB"
            return "disk-limit", f"no space was left when the container had written {wrote}, {limit}"
        if is_full:
            return "disk-full", f"no space is left on the engine's disk; the container has written {wrote}"
        small = (
            "a file system of its own (such as /dev/shm, of 64 MiB) was full, or what filled the disk is gone"
        )
        return "disk-limit", f"no space was left for a script, though there is room: {small}"

    def _explain(self, failure: str) -> None:
        """Raise when a command could not start for a reason that Harbor would have met earlier, or for lack of room."""
        full = self.no_room(failure) if says_no_room(failure) else None
        if full is not None:
            raise TrialAbortedError(*full, failure)
        if '"bash"' in failure and "executable file not found" in failure:
            raise TrialAbortedError(
                "environment-failed", "the image has no bash, which Harbor needs", failure
            )
        if "chdir to cwd" in failure:
            raise TrialAbortedError(
                "environment-failed", f"the working directory {self.config.workdir} does not exist", failure
            )

    def _broken(self, error: EngineError) -> TrialAbortedError:
        logs, oom = "", False
        with suppress(EngineError):
            logs = self.engine.logs(self.container)
            oom = self.engine.oom_killed(self.container)
        full = self.no_room(error.message) if says_no_room(error.message) else None
        if full is not None:
            return TrialAbortedError(*full, logs)
        if oom:
            return TrialAbortedError("memory-limit", "the container ran out of memory", logs)
        if "is not running" in error.message:
            return TrialAbortedError(
                "environment-failed", "the container stopped: its entrypoint does not keep it running", logs
            )
        return TrialAbortedError("engine-failed", error.message, logs)

    def out_of_memory(self) -> bool:
        """Whether the kernel killed something here for lack of memory."""
        with suppress(EngineError):
            return self.engine.oom_killed(self.container)
        return False

    def phase_network(self, mode: str | None) -> None:
        """Switch to a phase's network (None: the environment's own)."""
        connected = (mode or self.config.network_mode) != "no-network"
        if connected != self._connected:
            self.engine.set_network(self.container, connected=connected)
            self._connected = connected

    def healthcheck(self, check: Healthcheck | None) -> None:
        """Harbor's health check, with its grace period and its count of consecutive failures."""
        if check is None:
            return
        grace_until = time.monotonic() + check.start_period_s
        failures = 0
        while True:
            in_grace = time.monotonic() < grace_until
            result = self.exec(check.command, timeout_s=float(int(check.timeout_s)))
            if result.exit_code == 0:
                return
            if in_grace:
                self.cancellation.sleep(check.start_interval_s)
                continue
            failures += 1
            if failures >= check.retries:
                raise TrialAbortedError(
                    "healthcheck-failed",
                    f"{check.command!r} failed {failures} times in a row",
                    result.output[-4000:],
                )
            self.cancellation.sleep(check.interval_s)


@contextmanager
def open_session(
    engine: Engine,
    image: ImageInfo,
    config: EnvironmentConfig,
    *,
    task: str,
    phases: tuple[str | None, ...],
    cancellation: Cancellation,
    limits: Limits = DEFAULT_LIMITS,
    keep: bool = False,
    remove: Callable[[str], None] | None = None,
) -> Iterator[Session]:
    """Create and start a container of `image`; remove it at the end, unless `keep`.

    Args:
        remove: who removes it; None: the engine, and at once.
        phases: the network modes that the agent and the verifier ask for, so that a container that must be
            reachable in one of them is created with a network that can be switched.

    Raises:
        TrialAbortedError: it does not come up.
    """
    cancellation.check()
    switched = any((mode or config.network_mode) != "no-network" for mode in phases)
    container = engine.create(
        ContainerSpec(
            image=image.id,
            labels=owner_labels(task, kept=keep),
            env=resolve_env(config.env, "[environment.env]"),
            network="bridge" if switched or config.network_mode != "no-network" else "none",
            cpus=config.cpus,
            memory_mb=config.memory_mb,
            pids=limits.pids,
            new_privileges=config.new_privileges,
        )
    )
    try:
        cancellation.check()
        session = Session(engine, container, config, cancellation, limits, image_user=image.user)
        try:
            engine.start(container)
        except EngineError as error:
            # The runtime tells what is wrong with the image; a network or a disk that fails is the machine's fault.
            if "OCI runtime" not in error.message or says_no_room(error.message):
                raise
            raise TrialAbortedError("environment-failed", error.message, engine.logs(container)) from error
        if config.network_mode == "no-network" and switched:
            session._connected = True
            session.phase_network(None)
        if image.has_healthcheck:
            wrong = engine.wait_healthy(container, config.build_timeout_s)
            if wrong is not None:
                raise TrialAbortedError("environment-failed", wrong, engine.logs(container))
        for directory in LOG_DIRS:
            session.pending.directory(directory, 0o777)
        try:
            yield session
        except EngineError as error:
            full = session.no_room(error.message) if says_no_room(error.message) else None
            if full is None:
                raise
            raise TrialAbortedError(*full, error.message) from error
    finally:
        if not keep or cancellation.cancelled:
            (remove or engine.remove)(container)
