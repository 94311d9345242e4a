"""Asking an engine which images it has, without its SDK."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harbor_author.sandbox.quick import image_ids

ANSWERS = {
    "here": b'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"Id": "sha256:abc"}',
    "away": b'HTTP/1.0 404 Not Found\r\n\r\n{"message": "No such image"}',
    "broken": b"HTTP/1.0 500 Internal Server Error\r\n\r\n{}",
    "list": b"HTTP/1.0 200 OK\r\n\r\n[]",
    "other": b"SSH-2.0-OpenSSH_9.2\r\n",
    "silent": b"",
}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A socket that answers by the image's name."""
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    name = connection.recv(4096).split(b"/")[2].decode()
                    connection.sendall(ANSWERS[name])

        threading.Thread(target=serve, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        yield
        server.shutdown(socket.SHUT_RDWR)


def test_an_image_has_its_id_and_a_missing_one_none(engine: None) -> None:
    assert image_ids(["here", "away"]) == {"here": "sha256:abc", "away": None}


@pytest.mark.parametrize("name", ["broken", "list", "other", "silent"])
def test_an_answer_that_is_none_says_nothing_of_any_image(engine: None, name: str) -> None:
    assert image_ids(["here", name]) is None


def test_no_engine_says_nothing_of_any_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert image_ids(["here"]) is None
