"""Docker (or Podman's compatible socket) behind the `Engine` protocol, by the low-level client of docker's SDK."""

from __future__ import annotations

import base64
import json
import os
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import docker
from docker.errors import APIError, DockerException, NotFound
from docker.utils import parse_repository_tag
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from harbor_author.sandbox import build, streams
from harbor_author.sandbox.endpoint import DEFAULT_SOCKET, Endpoint, endpoint, other_sockets
from harbor_author.sandbox.engine import (
    ContainerInfo,
    ContainerSpec,
    EngineError,
    EngineInfo,
    EngineUnavailableError,
    ExecResult,
    FileRead,
    FileStat,
    ImageInfo,
    ImageMissingError,
    Usage,
    Watcher,
)

_REQUEST_TIMEOUT_S = 60
#: The engine answers a start only when the process runs, and may wait for a slow disk.
_FIRST_TIMEOUT_S = 10
_LOG_LINES = 40
_MIB = 1 << 20
#: Of control groups version 2 and 1.
_OOM_COUNTS = "/sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control"
#: How the engine begins when it, and not the command, gave the exit status 126 or 127.
_NEVER_STARTED = ("OCI runtime exec failed", "unable to find user", "unable to find group")

NO_ENGINE_HINT = "start Docker (or set DOCKER_HOST); 'author doctor' tells what else is missing"


class _Client(docker.APIClient):
    """The SDK's client, which trusts the CA that it was given.

    requests would rather take REQUESTS_CA_BUNDLE, as it is set behind some companies' proxies.
    """

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
        verify = self.verify if verify is None else verify
        return super().merge_environment_settings(url, proxies, stream, verify, cert)


class DockerEngine:
    """One engine; clients are per thread, since a client's connections are not shared safely.

    Raises:
        EngineUnavailableError: it does not answer.
    """

    def __init__(self) -> None:
        self._endpoint = endpoint()
        self._address = self._endpoint.address if self._endpoint else DEFAULT_SOCKET
        self._local = threading.local()
        self._version = "auto"
        try:
            client = self._connect(timeout_s=_FIRST_TIMEOUT_S)
            self._version = client.api_version
            client.close()
        except (DockerException, RequestException, OSError, ValueError) as error:
            raise EngineUnavailableError(
                f"no container engine answers at {self._address} ({_reason(error)})",
                hint=_no_engine_hint(self._endpoint, _reason(error)),
            ) from error
        self._builder: str | None = None

    def _connect(self, timeout_s: int = _REQUEST_TIMEOUT_S) -> docker.APIClient:
        return _Client(
            self._address, version=self._version, timeout=timeout_s, tls=_tls(self._endpoint) or False
        )

    @property
    def _client(self) -> Any:
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = self._connect()
        return client

    # --- the engine and its images

    def info(self) -> EngineInfo:
        with _errors("be asked about itself"):
            info = self._client.info()
            version = self._client.version()
        return EngineInfo(
            version=info.get("ServerVersion", "?"),
            platform=f"{version.get('Os', 'linux')}/{version.get('Arch', '?')}",
            cpus=int(info.get("NCPU", 1)),
            memory_mb=int(info.get("MemTotal", 0)) // _MIB,
            endpoint=self._address,
        )

    def image(self, name: str) -> ImageInfo | None:
        try:
            with _errors(f"look up the image {name}"):
                document = self._client.inspect_image(name)
        except EngineError as error:
            if error.status in (404, 400):  # 400: not a valid name, so certainly no image
                return None
            raise
        config = document.get("Config") or {}
        test = (config.get("Healthcheck") or {}).get("Test") or []
        digests = document.get("RepoDigests") or []
        return ImageInfo(
            id=document["Id"],
            digest=digests[0].rpartition("@")[2] if digests else None,
            has_healthcheck=bool(test) and test[0] != "NONE",
            platform=f"{document.get('Os', 'linux')}/{document.get('Architecture', '?')}",
            size_bytes=int(document.get("Size", 0)),
            workdir=config.get("WorkingDir") or "/",
            user=config.get("User") or "",
        )

    def pull(self, name: str) -> ImageInfo:
        repository, tag = parse_repository_tag(name)
        try:
            with _errors(f"pull the image {name}"):
                for event in self._client.pull(repository, tag=tag or "latest", stream=True, decode=True):
                    if "error" in event:
                        raise EngineError(str(event["error"]).strip())
        except EngineError as error:
            raise ImageMissingError(
                f"the image {name} is not here and could not be pulled: {error.message}",
                hint="check its name and the network, or load it by 'docker load' or 'docker build -t'",
            ) from error
        image = self.image(name)
        if image is None:
            raise ImageMissingError(f"the image {name} was pulled but is not here")
        return image

    def builder(self) -> str:
        if self._builder is None:
            self._builder = build.detect_builder()
        return self._builder

    def build(
        self,
        context: Path,
        *,
        tag: str,
        labels: Mapping[str, str],
        log: Callable[[str], None],
        timeout_s: float | None = None,
    ) -> ImageInfo:
        if self.builder() == "buildx":
            # docker chooses the engine as we did, and knows a context's certificates.
            build.by_buildx(context, tag=tag, labels=labels, log=log, timeout_s=timeout_s)
        else:
            with _errors("build an image"):
                build.by_client(self._client, context, tag=tag, labels=labels, log=log, timeout_s=timeout_s)
        image = self.image(tag)
        if image is None:
            raise EngineError(f"the image {tag} was built but is not here")
        return image

    def images(self, label: str) -> list[tuple[str, str]]:
        with _errors("list images"):
            listed = self._client.images(filters={"label": label})
        return [
            (image["Id"], next((t for t in image.get("RepoTags") or [] if t != "<none>:<none>"), ""))
            for image in listed
        ]

    def remove_image(self, name: str) -> None:
        with _errors(f"remove the image {name}"):
            self._client.remove_image(name)

    # --- containers

    def create(self, spec: ContainerSpec) -> str:
        client = self._client
        limits: dict[str, Any] = {}
        if spec.cpus is not None:
            limits["nano_cpus"] = int(spec.cpus * 1e9)
        if spec.memory_mb is not None:
            limits["mem_limit"] = spec.memory_mb * _MIB
        if spec.pids is not None:
            limits["pids_limit"] = spec.pids
        if not spec.new_privileges:
            limits["security_opt"] = ["no-new-privileges"]
        with _errors(f"create a container of {spec.image}"):
            created = client.create_container(
                spec.image,
                # Harbor's own first process; the image's entrypoint stays in front of it there as here.
                command=["sh", "-c", "sleep infinity"],
                environment=dict(spec.env),
                labels=dict(spec.labels),
                host_config=client.create_host_config(network_mode=spec.network, **limits),
            )
        return str(created["Id"])

    def start(self, container: str) -> None:
        with _errors("start a container"):
            self._client.start(container)

    def wait_healthy(self, container: str, timeout_s: float) -> str | None:
        deadline = time.monotonic() + timeout_s
        while True:
            state = self._state(container)
            health = state.get("Health") or {}
            if health.get("Status") == "healthy":
                return None
            if not state.get("Running"):
                return f"the container stopped with exit status {state.get('ExitCode')}"
            if health.get("Status") == "unhealthy":
                last = (health.get("Log") or [{}])[-1].get("Output", "")
                return f"the image's health check failed: {last.strip()[:500]}"
            if time.monotonic() > deadline:
                return f"the image's health check was not green within {timeout_s:.0f} s"
            time.sleep(0.2)

    def _state(self, container: str) -> dict[str, Any]:
        with _errors("inspect a container"):
            state: dict[str, Any] = self._client.inspect_container(container)["State"]
        return state

    def put(self, container: str, path: str, archive: IO[bytes]) -> None:
        with _errors(f"copy files to {path} of a container"):
            self._client.put_archive(container, path, archive)

    def read(self, container: str, path: str, limit_bytes: int) -> FileRead | None:
        found = self._open_archive(container, path)
        if found is None:
            return None
        chunks, _ = found
        return streams.single_file(chunks, limit_bytes)

    def stat(self, container: str, path: str) -> FileStat | None:
        client = self._client
        with _errors(f"look at {path} of a container"):
            response = client.head(
                client._url("/containers/{0}/archive", container),
                params={"path": path},
                timeout=_REQUEST_TIMEOUT_S,
            )
        header = response.headers.get("X-Docker-Container-Path-Stat")
        if response.status_code == 404 or not header:
            return None
        document = json.loads(base64.b64decode(header))
        return FileStat(_kind(int(document.get("mode", 0))), int(document.get("size", 0)))

    def archive(self, container: str, path: str, limit_bytes: int, sink: IO[bytes]) -> bool:
        found = self._open_archive(container, path)
        if found is None:
            return False
        total = 0
        with _errors(f"read {path} of a container"):
            for chunk in found[0]:
                total += len(chunk)
                if total > limit_bytes:
                    raise EngineError(f"{path} is larger than {limit_bytes // _MIB} MiB")
                sink.write(chunk)
        return True

    def _open_archive(self, container: str, path: str) -> tuple[Any, dict[str, Any]] | None:
        try:
            with _errors(f"read {path} of a container"):
                chunks, stat = self._client.get_archive(container, path, chunk_size=_MIB)
        except EngineError as error:
            if error.status == 404 and "no such container" not in error.message.lower():
                return None
            raise
        return chunks, stat

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
        client = self._client
        try:
            with _errors("run a command in a container"):
                created = client.exec_create(
                    container,
                    command,
                    user=user or "",
                    workdir=workdir,
                    environment=dict(env) if env else None,
                    stdin=stdin is not None,
                )
                stream = client.exec_start(created["Id"], socket=True)
        except EngineError as error:
            # The CLI, and so Harbor, reports a command that cannot start (no such user, no such working directory,
            # no such program) as 126 or 127; the same request fails here.
            if error.status in (400, 404, 500) and "no such container" not in error.message.lower():
                return ExecResult(exit_code=126, failure=error.message)
            raise
        with streams.closing_socket(stream):
            if stdin is not None:
                with _errors("give a command its input"):
                    streams.send_all(stream, stdin)
            output, ending = streams.read_frames(
                stream, timeout_s=timeout_s, limit_bytes=output_limit_bytes, watch=watch
            )
        text = output.decode(errors="replace")
        if ending is streams.Ending.TIMEOUT:
            return ExecResult(None, text, timed_out=True)
        if isinstance(ending, str):
            return ExecResult(None, text, stopped=ending)
        return self._finished(created["Id"], text)

    def _finished(self, exec_id: str, output: str) -> ExecResult:
        # The stream may end a moment before the engine has recorded the exit status.
        for _ in range(100):
            with _errors("ask how a command ended"):
                document = self._client.exec_inspect(exec_id)
            if not document.get("Running") and document.get("ExitCode") is not None:
                code = int(document["ExitCode"])
                failure = None
                if code in (126, 127) and output.startswith(_NEVER_STARTED):
                    failure = output.strip()
                return ExecResult(code, output, failure=failure)
            time.sleep(0.02)
        raise EngineError("the engine lost track of a command in a container")

    @property
    def streams_stdin(self) -> bool:
        # The end of the input is a half-closed connection, which TLS and tunnels do not have.
        return self._address.startswith("unix://")

    def changes(self, container: str) -> list[tuple[str, str]]:
        with _errors("list what changed in a container"):
            listed = self._client.diff(container) or []
        return [("CAD"[int(item["Kind"])], str(item["Path"])) for item in listed]

    def processes(self, container: str) -> list[tuple[int, str]]:
        with _errors("list the processes of a container"):
            try:
                document = self._client.top(container)
            except ValueError:
                # Podman runs the `ps` of the container, and answers with nothing where it has none; asked in its own
                # words, it looks for itself.
                document = self._client.top(container, "hpid,args")
        titles = document.get("Titles") or []
        pid, command = titles.index("PID" if "PID" in titles else "HPID"), len(titles) - 1
        return [(int(row[pid]), row[command]) for row in document.get("Processes") or []]

    def usage(self, container: str, *, disk: bool = False) -> Usage:
        client = self._client
        with _errors("ask what a container uses"):
            # one-shot: without it the engine samples for a second before it answers
            response = client._get(
                client._url("/containers/{0}/stats", container), params={"stream": False, "one-shot": True}
            )
            stats = client._result(response, json=True)
            size = None
            if disk:
                listed = client.containers(all=True, size=True, filters={"id": container})
                size = listed[0].get("SizeRw") if listed else None
        memory = (stats.get("memory_stats") or {}).get("usage")
        return Usage(
            pids=(stats.get("pids_stats") or {}).get("current"),
            memory_mb=None if memory is None else int(memory) // _MIB,
            disk_mb=None if size is None else int(size) // _MIB,
        )

    def oom_killed(self, container: str) -> bool:
        state = self._state(container)
        if state.get("OOMKilled") or not state.get("Running"):
            return bool(state.get("OOMKilled"))
        # The engine tells only of the first process; the kernel counts for all.
        counts = self.run(container, ["sh", "-c", f"cat {_OOM_COUNTS} 2>/dev/null"], timeout_s=10.0).output
        return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in counts.splitlines())

    def logs(self, container: str) -> str:
        with _errors("read a container's output"):
            data: bytes = self._client.logs(container, tail=_LOG_LINES)
        return data[-8192:].decode(errors="replace")

    def set_network(self, container: str, *, connected: bool) -> None:
        with _errors("switch a container's network"):
            if connected:
                self._client.connect_container_to_network(container, "bridge")
            else:
                self._client.disconnect_container_from_network(container, "bridge", force=True)

    def remove(self, container: str) -> None:
        try:
            with _errors("remove a container"):
                self._client.remove_container(container, v=True, force=True)
        except EngineError as error:
            # 409: somebody else (our own sweep after an interrupt) is removing it already.
            if error.status not in (404, 409):
                raise

    def containers(self, label: str) -> list[ContainerInfo]:
        with _errors("list containers"):
            listed = self._client.containers(all=True, filters={"label": label})
        return [
            ContainerInfo(
                id=item["Id"],
                name=(item.get("Names") or ["/" + item["Id"][:12]])[0].lstrip("/"),
                state=item.get("State", ""),
                labels=item.get("Labels") or {},
                created_s=float(item.get("Created", 0)),
            )
            for item in listed
        ]


def _kind(mode: int) -> str:
    """The type in a Go file mode: bit 31 is a directory, 27 a link, 26 to 19 are the special kinds."""
    if mode >> 31 & 1:
        return "directory"
    if mode >> 27 & 1:
        return "link"
    return "special" if mode >> 19 & 0b11100101 else "file"


@contextmanager
def _errors(doing: str) -> Iterator[None]:
    """Turn what the SDK raises into `EngineError`, with the engine's own words."""
    try:
        yield
    except NotFound as error:
        raise EngineError(f"the engine could not {doing}: {_reason(error)}", status=404) from error
    except APIError as error:
        status = error.response.status_code if error.response is not None else 0
        raise EngineError(f"the engine could not {doing}: {_reason(error)}", status=int(status)) from error
    except (DockerException, RequestException, HTTPError, OSError, tarfile.TarError) as error:
        # HTTPError: what a stream that breaks midway raises, as of a build or a pull.
        raise EngineError(
            f"the engine could not {doing}: {_reason(error)}", hint="see whether the engine still runs"
        ) from error


def _tls(found: Endpoint | None) -> docker.tls.TLSConfig | None:
    """How to speak to a TCP port, from the certificates of a context or of DOCKER_CERT_PATH."""
    if found is None or found.tls is None or not found.address.startswith(("tcp://", "https://")):
        return None
    certificate, key = found.certificate("cert.pem"), found.certificate("key.pem")
    return docker.tls.TLSConfig(
        client_cert=(certificate, key) if certificate and key else None,
        ca_cert=found.certificate("ca.pem") if found.verify else None,
        verify=found.verify,
    )


def _no_engine_hint(found: Endpoint | None, reason: str) -> str:
    if reason == "permission denied":
        return "join the group that owns the socket ('sudo usermod -aG docker $USER', then log in again)"
    others = [address for address in other_sockets() if found is None or address != found.address]
    if others:
        return f"there is one at {others[0]}: export DOCKER_HOST={others[0]}"
    if found is not None and found.context:
        return f"the docker context '{found.context}' names it: start it, or choose another by 'docker context use'"
    if os.environ.get("DOCKER_HOST"):
        return "DOCKER_HOST names it: start that engine, or correct or unset DOCKER_HOST"
    return NO_ENGINE_HINT


def _reason(error: BaseException) -> str:
    explanation = getattr(error, "explanation", None)
    if explanation:
        text = explanation.decode(errors="replace") if isinstance(explanation, bytes) else str(explanation)
        with suppress(ValueError, KeyError, TypeError):
            return str(json.loads(text)["message"]).strip()
        return text.strip()
    text = str(error)
    for words, short in (
        ("No such file or directory", "no such socket"),
        ("Permission denied", "permission denied"),
        ("Connection refused", "connection refused"),
        ("timed out", "it does not answer in time"),
    ):
        if words in text:
            return short
    return text.strip().splitlines()[0][:300] if text.strip() else type(error).__name__
