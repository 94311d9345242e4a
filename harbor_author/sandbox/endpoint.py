"""Where the engine listens: what the `docker` command would choose, read from its own files without starting it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.sandbox.engine import EngineUnavailableError

DEFAULT_SOCKET = "unix:///var/run/docker.sock"
_TLS_FILES = ("ca.pem", "cert.pem", "key.pem")


@dataclass(frozen=True)
class Endpoint:
    """An engine's address, and how to trust it when that is a TCP port.

    Attributes:
        context: the docker context that names it, or None.
        tls: a folder with ca.pem, cert.pem and key.pem (those that there are), or None for no TLS.
        verify: whether the engine's certificate must be one of that CA.
    """

    address: str
    context: str | None = None
    tls: Path | None = None
    verify: bool = True

    def certificate(self, name: str) -> str | None:
        """The path of one of the TLS files, when it is there."""
        path = self.tls / name if self.tls is not None else None
        return str(path) if path is not None and path.is_file() else None


def endpoint(environ: Mapping[str, str] | None = None) -> Endpoint | None:
    """The engine that DOCKER_HOST or the docker context in use names, or None for the default socket.

    As `docker` has it: DOCKER_HOST, then DOCKER_CONTEXT, then `currentContext` of its config.json. Contexts are read
    from its store, `contexts/meta/<sha256 of the name>/meta.json`, of which the SDK knows nothing.

    Raises:
        EngineUnavailableError: the context cannot be used. Another engine than the chosen one is never taken instead.
    """
    environ = os.environ if environ is None else environ
    folder = _config_folder(environ)
    if environ.get("DOCKER_HOST"):
        return _reachable(_from_environment(environ, folder))
    context = environ.get("DOCKER_CONTEXT") or _configured_context(folder)
    if not context or context == "default":
        return None
    return _reachable(_from_context(context, folder))


def other_sockets(environ: Mapping[str, str] | None = None) -> list[str]:
    """Sockets of engines that are there but chosen by nobody: rootless Docker's, Podman's."""
    environ = os.environ if environ is None else environ
    runtime = environ.get("XDG_RUNTIME_DIR")
    places = [Path(runtime) / "docker.sock", Path(runtime) / "podman" / "podman.sock"] if runtime else []
    return [f"unix://{path}" for path in [*places, Path("/run/podman/podman.sock")] if path.is_socket()]


def _config_folder(environ: Mapping[str, str]) -> Path:
    given = environ.get("DOCKER_CONFIG")
    return Path(given) if given else Path(environ.get("HOME", "~")).expanduser() / ".docker"


def _configured_context(folder: Path) -> str | None:
    context = _json(folder / "config.json").get("currentContext")
    return context if isinstance(context, str) else None


def _from_environment(environ: Mapping[str, str], folder: Path) -> Endpoint:
    address = environ["DOCKER_HOST"]
    if "://" not in address:
        # docker takes a bare HOST:PORT for TCP, and a bare path for nothing.
        address = f"unix://{address}" if address.startswith("/") else f"tcp://{address}"
    certificates = environ.get("DOCKER_CERT_PATH")
    verify = bool(environ.get("DOCKER_TLS_VERIFY"))
    with_tls = verify or bool(environ.get("DOCKER_TLS"))
    return Endpoint(
        address, None, (Path(certificates) if certificates else folder) if with_tls else None, verify
    )


def _from_context(context: str, folder: Path) -> Endpoint:
    store = folder / "contexts"
    key = hashlib.sha256(context.encode()).hexdigest()
    path = store / "meta" / key / "meta.json"
    ends = _json(path).get("Endpoints")
    end = ends.get("docker") if isinstance(ends, dict) else None
    address = end.get("Host") if isinstance(end, dict) else None
    if not isinstance(end, dict) or not isinstance(address, str) or not address:
        raise EngineUnavailableError(
            f"the docker context '{context}' names no engine (looked in {path})",
            hint="'docker context ls' lists them; choose one by 'docker context use', DOCKER_CONTEXT or DOCKER_HOST",
        )
    tls = store / "tls" / key / "docker"
    has_tls = any((tls / name).is_file() for name in _TLS_FILES)
    skip = end.get("SkipTLSVerify") is True
    return Endpoint(address, context, tls if has_tls or skip else None, not skip)


def _reachable(found: Endpoint) -> Endpoint:
    scheme = found.address.partition("://")[0]
    if scheme == "ssh":
        far = found.address.removeprefix("ssh://")
        raise EngineUnavailableError(
            f"the engine {found.address} is reached by ssh, which author does not speak",
            hint=f"forward its socket and use that: ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock {far} & "
            "export DOCKER_HOST=unix:///tmp/engine.sock",
        )
    if scheme not in ("unix", "tcp", "http", "https"):
        raise EngineUnavailableError(
            f"the engine's address {found.address} is of no known kind", hint="use unix:// or tcp://"
        )
    return found


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
