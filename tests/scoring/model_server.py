"""A local server that speaks the protocol of the messages API, well and badly."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One scripted reply. `hold` delays it until the event is set; `cut` breaks the connection instead."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    hold: threading.Event | None = None
    cut: str = ""


def message(text: str, *, input_tokens: int | None = 7, output_tokens: int | None = 3) -> Reply:
    """A proper answer."""
    content = [{"type": "text", "text": text}]
    return Reply(body=json.dumps(_message(content, input_tokens, output_tokens)).encode())


def without_text() -> Reply:
    """An answer that holds no text."""
    return Reply(body=json.dumps(_message([], 7, 0)).encode())


def _message(content: list[Any], input_tokens: int | None, output_tokens: int | None) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-x",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
    }


def error(status: int, kind: str, text: str = "no", **headers: str) -> Reply:
    """An error as the API words it."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": text}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass
class ModelServer:
    """The running server: its address and the requests that it has seen."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def environment(self, **more: str) -> dict[str, str]:
        """What points a client here."""
        return {"ANTHROPIC_API_KEY": "key-1", "ANTHROPIC_BASE_URL": self.url, "NO_PROXY": "127.0.0.1", **more}


@contextmanager
def serving(reply: Callable[[dict[str, Any], int], Reply]) -> Iterator[ModelServer]:
    """Serve on a free port. `reply` gets the request's body and its number, from 0."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                number = len(server.requests)
                server.requests.append({"path": self.path, **body})
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
            scripted = reply(body, number)
            if scripted.hold is not None:
                scripted.hold.wait(60)
            if scripted.cut:
                self._cut(scripted)
                return
            self.send_response(scripted.status)
            self.send_header("content-type", scripted.content_type)
            self.send_header("content-length", str(len(scripted.body)))
            for name, value in scripted.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(scripted.body)

        def _cut(self, scripted: Reply) -> None:
            if scripted.cut == "inside the body":
                self.send_response(200)
                self.send_header("content-type", scripted.content_type)
                self.send_header("content-length", str(len(scripted.body) + 100))
                self.end_headers()
                self.wfile.write(scripted.body)
            # Closed with unsent data discarded: the client sees a reset, as from a crashed server.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            """Keep the test's output clean."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = ModelServer(f"http://127.0.0.1:{http.server_address[1]}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
