"""Podman's socket in the place of Docker's: a service and a store of our own, where Podman can start containers."""

from __future__ import annotations

import io
import os
import resource
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harbor_author.sandbox import ContainerSpec, Engine, connect

pytestmark = pytest.mark.slow

IMAGE = "localhost/author-podman-test:latest"


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The engine behind `podman system service`; skipped, with Podman's own words, where it starts no container."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    folder = tmp_path_factory.mktemp("podman")
    limits = folder / "containers.conf"
    # Podman asks for higher limits than a machine may let it have, and then starts nothing.
    files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 1024)
    limits.write_text(f'[containers]\ndefault_ulimits = ["nofile={files}:{files}", "nproc=1024:1024"]\n')
    environ = {**os.environ, "CONTAINERS_CONF": str(limits)}
    short = tempfile.mkdtemp(prefix="pm-", dir="/tmp")  # Podman takes no more than 50 characters here
    command = ["podman", "--root", str(folder / "store"), "--runroot", short]
    archive = folder / "image.tar"
    _pack_image(archive)
    imported = _try([*command, "import", str(archive), IMAGE], environ)
    fault = imported or _try([*command, "run", "--rm", "--network", "none", IMAGE, "/bin/true"], environ)
    if fault:
        _remove_store(command, environ, short)
        pytest.skip(f"podman cannot start a container here: {fault}")
    socket = folder / "podman.sock"
    service = subprocess.Popen(
        [*command, "system", "service", "--time", "0", f"unix://{socket}"],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    patch = pytest.MonkeyPatch()
    try:
        deadline = time.monotonic() + 30
        while not socket.is_socket():
            assert service.poll() is None, "podman's service ended"
            assert time.monotonic() < deadline, "podman's service does not listen"
            os.sched_yield()
        patch.setenv("DOCKER_HOST", f"unix://{socket}")
        yield connect()
    finally:
        patch.undo()
        service.terminate()
        service.wait()
        _remove_store(command, environ, short)


def _try(command: list[str], environ: dict[str, str]) -> str:
    """The last words of a command that failed; nothing when it did not."""
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it failed"])[-1]


def _remove_store(command: list[str], environ: dict[str, str], run_root: str) -> None:
    subprocess.run(
        [*command, "rm", "--all", "--force", "--time", "0"], env=environ, capture_output=True, check=False
    )
    subprocess.run([*command, "rmi", "--all", "--force"], env=environ, capture_output=True, check=False)
    store = command[command.index("--root") + 1]
    # Podman leaves its driver's own mounts, one over the other, and nobody can remove the folder then.
    unmount = ["umount", f"{store}/overlay"]
    while subprocess.run(unmount, capture_output=True, check=False).returncode == 0:
        pass
    shutil.rmtree(run_root, ignore_errors=True)


def _pack_image(path: Path) -> None:
    """An image of this machine's bash and a few more, with the libraries that they load."""
    with tarfile.open(path, "w") as archive:
        done: set[str] = set()
        for name in ("bash", "sh", "cat", "sleep", "true"):
            program = os.path.realpath(shutil.which(name) or f"/bin/{name}")
            archive.add(program, f"bin/{name}")
            listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
            for library in {word for word in listed.split() if word.startswith("/")} - done:
                archive.add(os.path.realpath(library), library.lstrip("/"))
                done.add(library)
        for folder in ("tmp", "proc", "dev", "etc"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)


@pytest.mark.parametrize("limited", [False, True])
def test_a_trials_steps_work_as_with_docker(podman: Engine, limited: bool) -> None:
    image = podman.image(IMAGE)
    assert image is not None
    assert podman.image("localhost/no-such-image:latest") is None
    limits = {"cpus": 1.0, "memory_mb": 256, "pids": 100} if limited else {}
    spec = ContainerSpec(image=IMAGE, labels={"author.test": "podman"}, network="none", **limits)  # type: ignore[arg-type]
    container = podman.create(spec)
    try:
        podman.start(container)
        ran = podman.run(
            container, ["bash", "-c", 'echo "$A" in $PWD; exit 3'], env={"A": "b"}, workdir="/tmp"
        )
        assert (ran.exit_code, ran.output) == (3, "b in /tmp\n")
        late = podman.run(container, ["sleep", "100"], timeout_s=1)
        assert late.timed_out
        podman.put(container, "/tmp", _archive("x.txt", b"ok"))
        found = podman.read(container, "/tmp/x.txt", 100)
        assert found is not None
        assert found.data == b"ok"
        assert podman.stat(container, "/tmp/none") is None
        assert ("A", "/tmp/x.txt") in podman.changes(container)
        assert podman.run(container, ["cat"], stdin=io.BytesIO(b"abc"), timeout_s=20).output == "abc"
        assert any("sleep" in command for _, command in podman.processes(container))
        assert (podman.usage(container).pids or 0) >= 1
        assert not podman.oom_killed(container)
        assert [one.id for one in podman.containers("author.test=podman")] == [container]
    finally:
        podman.remove(container)
    assert podman.containers("author.test=podman") == []


def _archive(name: str, data: bytes) -> io.BytesIO:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    stream.seek(0)
    return stream
