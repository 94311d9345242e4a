"""What this machine has and lacks for the work of an author, each with its remedy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harbor_author.integrity.temporary import temporary_folder
from harbor_author.proof.config import EnvironmentConfig
from harbor_author.proof.errors import TaskRefusedError
from harbor_author.proof.images import provide_image
from harbor_author.sandbox import Engine, EngineError, EngineUnavailableError, ImageMissingError, connect
from harbor_author.suite import HostSettings

_TIMEOUT_S = 20
_MINIMUM_FREE_MB = 5 * 1024
_MINIMUM_GIT = (2, 25)


@dataclass(frozen=True)
class Diagnosis:
    """One thing looked at: `status` is `ok`, `warning` (works, with a limit) or `missing`."""

    name: str
    status: str
    found: str
    remedy: str = ""


def diagnose(host: HostSettings, *, install_host: bool = False) -> list[Diagnosis]:
    """Look at everything, in an order in which one can put it right.

    Args:
        install_host: also build a small image with the host in it, which may take minutes.
    """
    found = [_git(), _node(), _disk()]
    try:
        engine = connect()
    except EngineUnavailableError as error:
        remedy = error.hint or ""
        later = Diagnosis("base image", "missing", "cannot be looked up without an engine", remedy)
        return [Diagnosis("engine", "missing", error.message, remedy), later, *found]
    return [
        _engine(engine),
        _builder(engine),
        _base_image(engine, host.image),
        _host(engine, host, install_host),
        *found,
    ]


def _engine(engine: Engine) -> Diagnosis:
    info = engine.info()
    text = f"{info.version} at {info.endpoint}, {info.platform}, {info.cpus} processors, {info.memory_mb} MiB"
    return Diagnosis("engine", "ok", text)


def _builder(engine: Engine) -> Diagnosis:
    if engine.builder() == "buildx":
        return Diagnosis("builder", "ok", "BuildKit, by docker buildx")
    return Diagnosis(
        "builder",
        "warning",
        "the classic builder: no RUN --mount, COPY --chmod or here-documents in a Dockerfile",
        "install docker's buildx plug-in (docker-buildx-plugin, or docker-buildx on Debian)",
    )


def _base_image(engine: Engine, name: str) -> Diagnosis:
    image = engine.image(name)
    if image is not None:
        return Diagnosis("base image", "ok", f"{name} is here ({image.id[:19]}, {image.platform})")
    try:
        engine.pull(name)
    except (ImageMissingError, EngineError) as error:
        return Diagnosis(
            "base image",
            "missing",
            error.message,
            f"docker pull {name}, or load it by 'docker load' or 'docker import'",
        )
    return Diagnosis("base image", "ok", f"{name} was pulled just now")


def host_dockerfile(host: HostSettings) -> str:
    """A Dockerfile that installs the host and asks for its version."""
    lines = [f"FROM {host.image}"]
    if host.source == "pypi":
        version = host.dsh.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
        lines += [
            "RUN python3 -m pip --version || (apt-get update -qq && apt-get install -y -qq python3-pip)",
            f"RUN python3 -m pip download -q --no-deps -d /tmp/host deepseek-harness-runtime-bin=={version}",
        ]
    else:
        lines.append(f"RUN npm view --silent @deepseek-ai/dsh@{host.dsh} version | grep -q .")
    return "\n".join(lines) + "\n"


def _host(engine: Engine, host: HostSettings, install: bool) -> Diagnosis:
    what = f"dsh {host.dsh} from {host.source}"
    if not install:
        return Diagnosis("host", "ok", f"{what} (not tried: --host installs it in a container)")
    with temporary_folder("doctor") as folder:
        (folder / "Dockerfile").write_text(host_dockerfile(host))
        try:
            provide_image(engine, folder, EnvironmentConfig(), task="doctor-host", log=lambda _: None)
        except TaskRefusedError as error:
            last = error.log.strip().splitlines()[-1:] or [error.message]
            return Diagnosis(
                "host", "missing", f"{what} cannot be installed: {last[0][:300]}",
                "set [host] dsh and source in author.toml to a version that the registry has",
            )  # fmt: skip
    return Diagnosis("host", "ok", f"{what} can be installed")


def _git() -> Diagnosis:
    text = _version(["git", "--version"])
    if text is None:
        return Diagnosis(
            "git", "missing", "there is no git", "install git: 'author extract' and 'survey' read history"
        )
    match = re.search(r"(\d+)\.(\d+)", text)
    if match and (int(match[1]), int(match[2])) < _MINIMUM_GIT:
        return Diagnosis("git", "warning", text, f"install git {_MINIMUM_GIT[0]}.{_MINIMUM_GIT[1]} or newer")
    return Diagnosis("git", "ok", text)


def _node() -> Diagnosis:
    text = _version(["node", "--version"])
    if text is None:
        return Diagnosis(
            "node",
            "warning",
            "there is no node",
            "install Node.js, so that 'validate' can parse a judge by node --check",
        )
    return Diagnosis("node", "ok", text)


def _version(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _disk() -> Diagnosis:
    try:
        folder = Path(tempfile.gettempdir())
    except OSError as error:
        return Diagnosis(
            "disk", "missing", error.strerror or str(error), "set TMPDIR to a folder that you may write"
        )
    free_mb = shutil.disk_usage(folder).free >> 20
    text = f"{free_mb} MiB free at {folder}"
    if free_mb < _MINIMUM_FREE_MB:
        return Diagnosis("disk", "warning", text, "make room: 'author clean' removes our cached images")
    if not os.access(folder, os.W_OK):
        return Diagnosis("disk", "missing", f"{folder} is not writable", "set TMPDIR to a folder that is")
    return Diagnosis("disk", "ok", text)
