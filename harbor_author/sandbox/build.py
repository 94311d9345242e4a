"""Building an image from a copy of a folder: by BuildKit where the CLI has it, else the classic builder."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harbor_author.integrity.temporary import temporary_folder
from harbor_author.sandbox.archives import copy_tree, pack_paths
from harbor_author.sandbox.engine import BuildError

_LOG_LINES = 400
_DETECT_TIMEOUT_S = 20


def detect_builder() -> str:
    """`buildx` when `docker buildx version` answers, else `classic`."""
    try:
        done = subprocess.run(
            ["docker", "buildx", "version"], capture_output=True, timeout=_DETECT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return "classic"
    return "buildx" if done.returncode == 0 else "classic"


def by_buildx(
    context: Path,
    *,
    tag: str,
    labels: Mapping[str, str],
    log: Callable[[str], None],
    timeout_s: float | None,
) -> None:
    """Build by `docker buildx build --load`. Raises `BuildError`."""
    command = ["docker", "buildx", "build", "--load", "--progress", "plain", "--tag", tag]
    for key, value in labels.items():
        command += ["--label", f"{key}={value}"]
    with temporary_folder("context") as copy:
        copy_tree(context, copy)
        _run_builder([*command, str(copy)], log, timeout_s)


def _run_builder(command: list[str], log: Callable[[str], None], timeout_s: float | None) -> None:
    tail: deque[str] = deque(maxlen=_LOG_LINES)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    timer = threading.Timer(timeout_s, process.kill) if timeout_s is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            tail.append(line.rstrip())
            log(line.rstrip())
        status = process.wait()
    finally:
        if timer is not None:
            timer.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
    if status == -signal.SIGKILL and timeout_s is not None:
        raise BuildError(f"the build took longer than {timeout_s:.0f} s", log="\n".join(tail))
    if status != 0:
        raise BuildError("the image could not be built", log="\n".join(tail))


def by_client(
    client: Any,
    context: Path,
    *,
    tag: str,
    labels: Mapping[str, str],
    log: Callable[[str], None],
    timeout_s: float | None,
) -> None:
    """Build by the engine's classic builder. Raises `BuildError`, and what the SDK raises."""
    tail: deque[str] = deque(maxlen=_LOG_LINES)
    started = time.monotonic()
    with tempfile.TemporaryFile(prefix="harbor-author-context-") as archive:
        pack_paths(archive, context, _context_paths(context))
        archive.seek(0)
        events = client.build(
            fileobj=archive,
            custom_context=True,
            dockerfile="Dockerfile",
            tag=tag,
            labels=dict(labels),
            rm=True,
            forcerm=True,
            decode=True,
        )
        for event in _refused_as_build_errors(events):
            text = str(event.get("stream") or event.get("status") or "").rstrip()
            if text:
                tail.extend(text.splitlines())
                log(text)
            if "error" in event:
                error = str(event["error"]).strip()
                raise BuildError(f"the image could not be built: {error[:500]}", log="\n".join(tail))
            if timeout_s is not None and time.monotonic() - started > timeout_s:
                raise BuildError(f"the build took longer than {timeout_s:.0f} s", log="\n".join(tail))


def _refused_as_build_errors(events: Iterator[Any]) -> Iterator[Any]:
    """A Dockerfile that does not parse is refused as a bad request: the task's fault, not the engine's."""
    from docker.errors import APIError

    try:
        yield from events
    except APIError as error:
        if error.is_client_error():
            raise BuildError(f"the image could not be built: {error.explanation}", log="") from error
        raise


def _context_paths(context: Path) -> list[str]:
    """What the docker command would send: everything that .dockerignore does not leave out."""
    from docker.utils.build import exclude_paths

    patterns: list[str] = []
    ignore = context / ".dockerignore"
    if ignore.is_file():
        lines = ignore.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return sorted(exclude_paths(str(context), patterns, dockerfile="Dockerfile"))
