"""Which engine is talked to: what `docker` would choose, and never another one in its place."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harbor_author.sandbox import EngineUnavailableError, connect
from harbor_author.sandbox.endpoint import Endpoint, endpoint, other_sockets
from tests.conftest import AuthorRunner


def context(folder: Path, name: str, host: object, **more: object) -> None:
    """A context as `docker context create` stores it."""
    key = hashlib.sha256(name.encode()).hexdigest()
    path = folder / "contexts" / "meta" / key / "meta.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host, **more}}}))


def test_docker_host_wins() -> None:
    found = endpoint({"DOCKER_HOST": "tcp://elsewhere:2375", "DOCKER_CONTEXT": "other"})
    assert found == Endpoint("tcp://elsewhere:2375", verify=False)


@pytest.mark.parametrize(
    ("given", "address"), [("far:2375", "tcp://far:2375"), ("/a.sock", "unix:///a.sock")]
)
def test_a_bare_address_is_completed(given: str, address: str) -> None:
    found = endpoint({"DOCKER_HOST": given})
    assert found is not None
    assert found.address == address


def test_without_configuration_it_is_the_default(tmp_path: Path) -> None:
    assert endpoint({"HOME": str(tmp_path)}) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"currentContext": 3}', '{"currentContext": "default"}'])
def test_an_odd_configuration_is_the_default(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    assert endpoint({"DOCKER_CONFIG": str(tmp_path)}) is None


@pytest.mark.parametrize("chosen_by", ["config", "environment"])
def test_a_context_is_read_from_dockers_store(tmp_path: Path, chosen_by: str) -> None:
    context(tmp_path, "far", "unix:///run/user/1000/docker.sock")
    environ = {"DOCKER_CONFIG": str(tmp_path), "PATH": ""}
    if chosen_by == "config":
        (tmp_path / "config.json").write_text(json.dumps({"currentContext": "far"}))
    else:
        environ["DOCKER_CONTEXT"] = "far"
    assert endpoint(environ) == Endpoint("unix:///run/user/1000/docker.sock", "far")


def test_a_contexts_certificates_and_its_trust(tmp_path: Path) -> None:
    context(tmp_path, "sure", "tcp://far:2376")
    context(tmp_path, "careless", "tcp://far:2376", SkipTLSVerify=True)
    tls = tmp_path / "contexts" / "tls" / hashlib.sha256(b"sure").hexdigest() / "docker"
    tls.mkdir(parents=True)
    (tls / "ca.pem").write_text("ca")
    sure = endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "sure"})
    assert sure == Endpoint("tcp://far:2376", "sure", tls, True)
    assert sure.certificate("ca.pem") == str(tls / "ca.pem")
    assert sure.certificate("key.pem") is None
    careless = endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "careless"})
    assert careless is not None
    assert not careless.verify
    assert careless.tls is not None


def test_certificates_of_the_environment(tmp_path: Path) -> None:
    environ = {"DOCKER_HOST": "tcp://far:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}
    assert endpoint(environ) == Endpoint("tcp://far:2376", None, tmp_path, True)


@pytest.mark.parametrize("host", [None, 3, ""])
def test_a_context_that_names_no_engine_is_no_reason_to_take_another(tmp_path: Path, host: object) -> None:
    context(tmp_path, "broken", host)
    for name in ("broken", "unknown"):
        with pytest.raises(EngineUnavailableError, match=f"'{name}' names no engine"):
            endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": name})


@pytest.mark.parametrize(
    ("address", "words"), [("ssh://me@far", "ssh -nNT -L"), ("npipe:////./x", "unix:// or tcp://")]
)
def test_an_address_that_we_cannot_speak_to_is_refused_in_words(address: str, words: str) -> None:
    with pytest.raises(EngineUnavailableError) as caught:
        endpoint({"DOCKER_HOST": address})
    assert words in str(caught.value)
    assert address in str(caught.value)


def test_sockets_that_nobody_chose_are_named(tmp_path: Path) -> None:
    (tmp_path / "podman").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "podman" / "podman.sock"))
        found = other_sockets({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert found[0] == f"unix://{tmp_path}/podman/podman.sock"


def test_the_command_says_which_context_is_at_fault(
    author: AuthorRunner, tmp_path: Path, suite_root: Path
) -> None:
    assert author("new", "--series", "H", "--suite", suite_root).status == 0
    done = author(
        "oracle-check",
        "H23",
        "--suite",
        suite_root,
        env={"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "gone"},
    )
    assert done.status == 2
    assert "the docker context 'gone' names no engine" in done.err


class Forward:
    """A second way to the engine: a socket of our own whose bytes go to its own one."""

    def __init__(self, listening: socket.socket) -> None:
        self.connections = 0
        self._listening = listening
        self._listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except ssl.SSLError:
                continue  # a client that does not trust us, or that we do not trust
            except OSError:
                return
            self.connections += 1
            far = socket.socket(socket.AF_UNIX)
            far.connect("/var/run/docker.sock")
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    @staticmethod
    def _pump(one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def forward(tmp_path: Path) -> Iterator[Forward]:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "second.sock"))
    made = Forward(listening)
    yield made
    made.close()


@pytest.mark.engine
@pytest.mark.skipif(shutil.which("docker") is None, reason="the docker command makes the context")
def test_a_context_that_docker_made_leads_to_its_engine(
    forward: Forward, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    environ = {**os.environ, "DOCKER_CONFIG": str(config)}
    environ.pop("DOCKER_HOST", None)
    subprocess.run(
        ["docker", "context", "create", "second", "--docker", f"host=unix://{tmp_path}/second.sock"],
        env=environ, check=True, capture_output=True,
    )  # fmt: skip
    subprocess.run(["docker", "context", "use", "second"], env=environ, check=True, capture_output=True)
    monkeypatch.setenv("DOCKER_CONFIG", str(config))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
    assert connect().info().endpoint == f"unix://{tmp_path}/second.sock"
    assert forward.connections
    monkeypatch.setenv("DOCKER_HOST", "unix:///var/run/docker.sock")
    assert connect().info().endpoint == "unix:///var/run/docker.sock"


def openssl(*arguments: str, cwd: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A CA, and two certificates of it: `server` for 127.0.0.1, and the client's `cert.pem`."""
    folder = tmp_path / "certificates"
    folder.mkdir()
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem", cwd=folder)
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    (folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")
    for name, key, certificate in (("server", "server.key", "server.pem"), ("client", "key.pem", "cert.pem")):
        openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", key, "-out", "request.pem", cwd=folder)
        openssl(
            "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extfile", f"{name}.ext", "-out", certificate, cwd=folder,
        )  # fmt: skip
    return folder


@pytest.mark.engine
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_an_engine_behind_tls_is_trusted_by_its_certificate_only(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    secure.load_verify_locations(certificates / "ca.pem")
    secure.verify_mode = ssl.CERT_REQUIRED
    plain = socket.create_server(("127.0.0.1", 0))
    port = plain.getsockname()[1]
    forward = Forward(secure.wrap_socket(plain, server_side=True))
    try:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
        monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
        monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
        assert connect().info().endpoint == f"tcp://127.0.0.1:{port}"
        monkeypatch.delenv("DOCKER_HOST")
        config = tmp_path / "config"
        context(config, "secure", f"tcp://127.0.0.1:{port}")
        tls = config / "contexts" / "tls" / hashlib.sha256(b"secure").hexdigest() / "docker"
        shutil.copytree(certificates, tls)
        monkeypatch.setenv("DOCKER_CONFIG", str(config))
        monkeypatch.setenv("DOCKER_CONTEXT", "secure")
        assert connect().info().endpoint == f"tcp://127.0.0.1:{port}"
        (tls / "cert.pem").unlink()
        with pytest.raises(EngineUnavailableError):
            connect()
    finally:
        forward.close()
