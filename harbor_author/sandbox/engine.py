"""What a trial asks of a container engine, and the errors that it may answer with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from harbor_author.errors import AuthorError


class SandboxError(AuthorError):
    """Something about images or containers could not be done."""


class EngineUnavailableError(SandboxError):
    """No engine answers: nothing at all can be proved on this machine."""


class EngineError(SandboxError):
    """The engine refused or failed one request; `status` is its HTTP status, 0 when the connection broke."""

    def __init__(self, message: str, *, status: int = 0, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class ImageMissingError(SandboxError):
    """An image is not here and could not be pulled."""


class BuildError(SandboxError):
    """An image could not be built; `log` is the builder's output, oldest line first."""

    def __init__(self, message: str, *, log: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.log = log


@dataclass(frozen=True)
class EngineInfo:
    """The engine: `version` as it says, `platform` such as `linux/amd64`, and what it has to give."""

    version: str
    platform: str
    cpus: int
    memory_mb: int
    endpoint: str


@dataclass(frozen=True)
class ImageInfo:
    """A local image. `id` and `digest` are `sha256:...`; `digest` is None for an image that was never pulled.

    `workdir` and `user` are the image's own; an empty user is root.
    """

    id: str
    digest: str | None
    has_healthcheck: bool = False
    platform: str = ""
    size_bytes: int = 0
    workdir: str = "/"
    user: str = ""


@dataclass(frozen=True)
class ContainerSpec:
    """A container to create. `network` is an engine's network: `bridge` or `none`.

    `new_privileges`: whether a setuid program may have more rights than who calls it.
    """

    image: str
    labels: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=dict)
    network: str = "bridge"
    cpus: float | None = None
    memory_mb: int | None = None
    pids: int | None = None
    new_privileges: bool = False


@dataclass(frozen=True)
class ContainerInfo:
    """A container as listed; `state` is the engine's word (`running`, `exited`, `created` ...)."""

    id: str
    name: str
    state: str
    labels: Mapping[str, str]
    created_s: float = 0.0


@dataclass(frozen=True)
class ExecResult:
    """What a command in a container ended with.

    `exit_code` is None when it was left running (`timed_out`, or `stopped` by the watcher). `failure` is the
    engine's own message when the command never started: Docker reports that as exit status 126.
    """

    exit_code: int | None
    output: str = ""
    timed_out: bool = False
    stopped: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class FileRead:
    """A regular file's content, at most the asked number of bytes; `size_bytes` is its true size."""

    data: bytes
    size_bytes: int


@dataclass(frozen=True)
class FileStat:
    """What stands at a path: `kind` is `file`, `directory`, `link` or `special`."""

    kind: str
    size_bytes: int


@dataclass(frozen=True)
class Usage:
    """What a container uses now; None where the engine does not say."""

    pids: int | None
    memory_mb: int | None
    disk_mb: int | None


#: Called about once a second while a command runs; a text stops the waiting and becomes `ExecResult.stopped`.
Watcher = Callable[[], str | None]


class Engine(Protocol):
    """The engine's verbs. All of them may raise `EngineError`; all may be called from several threads."""

    def info(self) -> EngineInfo: ...

    def image(self, name: str) -> ImageInfo | None:
        """The local image of that name or ID, or None."""

    def pull(self, name: str) -> ImageInfo:
        """Fetch an image. Raises `ImageMissingError`."""

    def build(
        self,
        context: Path,
        *,
        tag: str,
        labels: Mapping[str, str],
        log: Callable[[str], None],
        timeout_s: float | None = None,
    ) -> ImageInfo:
        """Build `context/Dockerfile` from a fresh copy or stream of `context`. Raises `BuildError`."""

    def builder(self) -> str:
        """`buildx` or `classic`."""

    def images(self, label: str) -> list[tuple[str, str]]:
        """(ID, first tag) of the local images that carry a label."""

    def remove_image(self, name: str) -> None: ...

    def create(self, spec: ContainerSpec) -> str:
        """Create a container that sleeps; return its ID."""

    def start(self, container: str) -> None: ...

    def wait_healthy(self, container: str, timeout_s: float) -> str | None:
        """Wait for the image's own health check; None when well, else what was wrong."""

    def put(self, container: str, path: str, archive: IO[bytes]) -> None:
        """Unpack a tar archive below `path`, which exists."""

    def read(self, container: str, path: str, limit_bytes: int) -> FileRead | None:
        """A regular file's first bytes; None when there is none, or it is no regular file."""

    def stat(self, container: str, path: str) -> FileStat | None:
        """What stands at a path (a link is not followed), or None."""

    def archive(self, container: str, path: str, limit_bytes: int, sink: IO[bytes]) -> bool:
        """Write a path as a tar archive into `sink`; False when it does not exist.

        Raises `EngineError` when it is larger than the limit.
        """

    def run(
        self,
        container: str,
        command: list[str],
        *,
        user: str | None = None,
        workdir: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        output_limit_bytes: int = 1 << 20,
        watch: Watcher | None = None,
        stdin: IO[bytes] | None = None,
    ) -> ExecResult:
        """Run a command in a running container. A command that runs out of time is left running, as Harbor does.

        `stdin` is given to it whole; only where `streams_stdin` holds.
        """

    @property
    def streams_stdin(self) -> bool:
        """Whether a command can be given its standard input."""

    def changes(self, container: str) -> list[tuple[str, str]]:
        """What differs from the image: (`A`, `C` or `D`, path)."""

    def processes(self, container: str) -> list[tuple[int, str]]:
        """Live processes as (process ID, command line)."""

    def usage(self, container: str, *, disk: bool = False) -> Usage: ...

    def oom_killed(self, container: str) -> bool: ...

    def logs(self, container: str) -> str:
        """The tail of what the container's first process printed."""

    def set_network(self, container: str, *, connected: bool) -> None:
        """Connect a container of network `bridge` to it, or disconnect it."""

    def remove(self, container: str) -> None:
        """Kill and remove a container and its anonymous volumes; well when it is already gone."""

    def containers(self, label: str) -> list[ContainerInfo]:
        """All containers that carry a label."""
