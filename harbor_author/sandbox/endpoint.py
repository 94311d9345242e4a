"""Where the engine listens: what the `docker` command would choose, without starting it unless it must."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

DEFAULT_SOCKET = "unix:///var/run/docker.sock"


def endpoint(environ: Mapping[str, str] | None = None) -> str | None:
    """The engine's address from DOCKER_HOST or the docker context in use, or None for the default socket.

    The SDK knows nothing of contexts. A context is looked up by `docker context inspect`, and only when the
    configuration names one other than `default`.
    """
    environ = os.environ if environ is None else environ
    if environ.get("DOCKER_HOST"):
        return environ["DOCKER_HOST"]
    context = environ.get("DOCKER_CONTEXT") or _configured_context(environ)
    if not context or context == "default":
        return None
    try:
        done = subprocess.run(
            ["docker", "context", "inspect", context, "--format", "{{.Endpoints.docker.Host}}"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _configured_context(environ: Mapping[str, str]) -> str | None:
    folder = environ.get("DOCKER_CONFIG") or str(Path(environ.get("HOME", "~")).expanduser() / ".docker")
    try:
        document = json.loads((Path(folder) / "config.json").read_bytes())
    except (OSError, ValueError):
        return None
    context = document.get("currentContext") if isinstance(document, dict) else None
    return context if isinstance(context, str) else None
