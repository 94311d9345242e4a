"""A container engine of a test's own: it may be killed, restarted and filled up, and the shared one does not notice."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

IMAGE = "own-mini:1"
_READY_S = 90
#: What Harbor's contract and our sessions run in a container.
_PROGRAMS = (
    "bash", "sh", "sleep", "cat", "mkdir", "rmdir", "rm", "mv", "cp", "tar", "find", "chmod", "chown", "ln", "ls",
    "touch", "id", "head", "tail", "seq", "env", "true", "false", "date", "stat", "dd", "yes", "kill", "wc", "tee",
    "truncate", "mknod", "mkfifo", "tr", "readlink",
)  # fmt: skip


def missing() -> str:
    """Why no engine can be started here; "" when it can."""
    if os.geteuid() != 0:
        return "only root starts an engine"
    return "" if shutil.which("dockerd") and shutil.which("unshare") else "there is no dockerd"


class OwnEngine:
    """`dockerd` with all its data below `folder`, without networks; DOCKER_HOST is `url`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = f"unix://{folder}/s"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        folder = self._folder
        with (folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    # In a network of its own: an engine without a bridge removes docker0, which is the machine's.
                    *("unshare", "--net"),
                    *("dockerd", "-H", self.url, "--data-root", str(folder / "data")),
                    *("--exec-root", str(folder / "exec"), "--pidfile", str(folder / "pid")),
                    *("--bridge", "none", "--iptables=false", "--ip6tables=false", "--shutdown-timeout", "5"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + _READY_S
        while self.docker("version", check=False).returncode != 0:
            assert self._process.poll() is None, (folder / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, "the engine does not come up"
            time.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL; what runs in containers goes on without it."""
        assert self._process is not None
        # With its containerd, which is of its group; the containers' own shims are not.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        (self._folder / "pid").unlink(missing_ok=True)
        (self._folder / "exec" / "containerd" / "containerd.pid").unlink(missing_ok=True)

    def docker(
        self, *arguments: str, check: bool = True, data: bytes = b""
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["docker", "-H", self.url, *arguments], input=data, capture_output=True, timeout=120, check=False
        )
        text = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode().strip(), done.stderr.decode()
        )
        assert not check or text.returncode == 0, text.stderr
        return text

    def containers(self, task: str) -> list[str]:
        """The containers of our trials of a task."""
        return self.docker("ps", "-aq", "--filter", f"label=harbor-author.task={task}").stdout.split()

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _READY_S
        while not condition():
            assert time.monotonic() < deadline, f"{what} did not happen"
            time.sleep(0.05)

    def stop(self) -> None:
        """End everything of it."""
        if self._process is None:
            return
        if self._process.poll() is None:
            ids = self.docker("ps", "-aq", check=False).stdout.split()
            if ids:
                self.docker("rm", "-f", *ids, check=False)
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._end_shims()
        for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
            mount = line.split()[4]
            if mount.startswith(f"{self._folder}/"):
                subprocess.run(["umount", "-l", mount], check=False, capture_output=True)

    def _end_shims(self) -> None:
        """What watches over containers outlives an engine that could not end them, and so do their processes."""
        mark = f"{self._folder}/".encode()
        parents = {}
        shims = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                parents[int(folder.name)] = int(fields[1])
                command = (folder / "cmdline").read_bytes()
                if command.startswith(b"/usr/bin/containerd-shim") and mark in command:
                    shims.add(int(folder.name))
        for pid in [*(pid for pid, parent in parents.items() if parent in shims), *shims]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def own_engine(folder: Path, *, size_mb: int | None = None) -> Iterator[OwnEngine]:
    """A running engine that has the image `IMAGE`.

    Args:
        size_mb: of a file system of its own that holds all its data.
    """
    if size_mb is not None:
        (folder / "data").mkdir()
        size = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "own-engine", str(folder / "data")]
        subprocess.run(size, check=True, capture_output=True)
    engine = OwnEngine(folder)
    try:
        engine.start()
        engine.docker("import", "-c", "ENV PATH=/bin", "-", IMAGE, data=_root_file_system())
        yield engine
    finally:
        engine.stop()
        if size_mb is not None:
            subprocess.run(["umount", "-l", str(folder / "data")], check=False, capture_output=True)


def _root_file_system() -> bytes:
    """A root file system of some of this machine's programs, as a tar archive."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for folder in ("tmp", "root", "etc", "logs", "app"):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o777
            archive.addfile(member)
        passwd = tarfile.TarInfo("etc/passwd")
        text = b"root:x:0:0:root:/root:/bin/bash\n"
        passwd.size = len(text)
        archive.addfile(passwd, io.BytesIO(text))
        libraries: set[str] = set()
        for name in _PROGRAMS:
            path = shutil.which(name)
            if path is None:
                continue
            archive.add(Path(path).resolve(), f"bin/{name}")
            listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
            libraries |= set(re.findall(r"(/\S+) \(0x", listed))
        for library in sorted(libraries):
            archive.add(Path(library).resolve(), library.lstrip("/"))
    return target.getvalue()
