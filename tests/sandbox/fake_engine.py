"""An engine of dictionaries, for tests of what is made of an engine's answers."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from harbor_author.sandbox import (
    ContainerInfo,
    ContainerSpec,
    EngineError,
    EngineInfo,
    ExecResult,
    FileRead,
    FileStat,
    ImageInfo,
    ImageMissingError,
    Usage,
)


@dataclass
class FakeContainer:
    spec: ContainerSpec
    files: dict[str, bytes] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    running: bool = False


#: What a command does: given the container and the shell text, change files and say how it ended.
Shell = Callable[[FakeContainer, str], ExecResult]


class FakeEngine:
    """Containers whose commands are a Python function."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.local: dict[str, ImageInfo] = {"base": ImageInfo("sha256:base", None)}
        self.labels: dict[str, Mapping[str, str]] = {}
        self.live: dict[str, FakeContainer] = {}
        self.made: list[FakeContainer] = []
        self.builds: list[str] = []
        self.left_processes: list[tuple[int, str]] = []
        self.puts = 0
        self.with_files = 0

    def info(self) -> EngineInfo:
        return EngineInfo("fake", "linux/amd64", 2, 4096, "fake:")

    def image(self, name: str) -> ImageInfo | None:
        return self.local.get(name)

    def pull(self, name: str) -> ImageInfo:
        raise ImageMissingError(f"the image {name} is not here and could not be pulled")

    def builder(self) -> str:
        return "classic"

    def build(self, context: Path, *, tag: str, labels, log, timeout_s=None) -> ImageInfo:
        self.builds.append(tag)
        self.local[tag] = ImageInfo(f"sha256:{len(self.builds)}", None)
        self.labels[tag] = labels
        return self.local[tag]

    def images(self, label: str) -> list[tuple[str, str]]:
        key, _, value = label.partition("=")
        return [
            (self.local[tag].id, tag)
            for tag, labels in self.labels.items()
            if key in labels and value in ("", labels[key]) and tag in self.local
        ]

    def remove_image(self, name: str) -> None:
        del self.local[name]

    def create(self, spec: ContainerSpec) -> str:
        name = f"c{len(self.made)}"
        container = FakeContainer(spec)
        self.made.append(container)
        self.live[name] = container
        return name

    def start(self, container: str) -> None:
        self.live[container].running = True

    def wait_healthy(self, container: str, timeout_s: float) -> str | None:
        return None

    def put(self, container: str, path: str, archive: IO[bytes]) -> None:
        self.puts += 1
        self._unpack(self.live[container], path, archive)

    def read(self, container: str, path: str, limit_bytes: int) -> FileRead | None:
        data = self._container(container).files.get(path)
        return None if data is None else FileRead(data[:limit_bytes], len(data))

    def stat(self, container: str, path: str) -> FileStat | None:
        data = self._container(container).files.get(path)
        return None if data is None else FileStat("file", len(data))

    def archive(self, container: str, path: str, limit_bytes: int, sink: IO[bytes]) -> bool:
        return False

    #: Whether commands take files on their standard input, and whether their container has a tar to unpack them.
    streams_stdin = False
    has_tar = True

    def run(self, container: str, command: list[str], **options: object) -> ExecResult:
        target = self._container(container)
        stdin = options.get("stdin")
        text = command[2]
        if stdin is not None:
            if not self.has_tar or command[1] == "-s":
                return ExecResult(125, "harbor-author: not unpacked\n")
            self.with_files += 1
            self._unpack(target, "/", stdin)  # type: ignore[arg-type]
            text = command[3]
        target.commands.append(text)
        return self.shell(target, text)

    @staticmethod
    def _unpack(container: FakeContainer, path: str, archive: IO[bytes]) -> None:
        with tarfile.open(fileobj=archive) as read:
            for member in read:
                if member.isreg():
                    content = read.extractfile(member)
                    assert content is not None
                    container.files[f"{path.rstrip('/')}/{member.name}"] = content.read()

    def changes(self, container: str) -> list[tuple[str, str]]:
        return []

    def processes(self, container: str) -> list[tuple[int, str]]:
        return [(1, "sh -c sleep infinity"), *self.left_processes]

    def usage(self, container: str, *, disk: bool = False) -> Usage:
        return Usage(None, None, None)

    def oom_killed(self, container: str) -> bool:
        return False

    def logs(self, container: str) -> str:
        return ""

    def set_network(self, container: str, *, connected: bool) -> None:
        pass

    def remove(self, container: str) -> None:
        self.live.pop(container, None)

    def containers(self, label: str) -> list[ContainerInfo]:
        key, _, value = label.partition("=")
        return [
            ContainerInfo(name, name, "running", container.spec.labels)
            for name, container in self.live.items()
            if key in container.spec.labels and value in ("", container.spec.labels[key])
        ]

    def _container(self, name: str) -> FakeContainer:
        if name not in self.live:
            raise EngineError(f"no such container: {name}", status=404)
        return self.live[name]
