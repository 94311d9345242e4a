"""A container engine's socket with faults: it forwards, until it is told to stall or to die."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

ENGINE = "/var/run/docker.sock"


class EngineProxy:
    """A socket at `path`; after a request that holds `trigger` it does what `fault` says: `stall` or `die`.

    An empty trigger: from the first request on.
    """

    def __init__(self, path: Path, *, trigger: bytes, fault: str) -> None:
        self.url = f"unix://{path}"
        self._trigger = trigger
        self._fault = fault
        self.faulty = threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(32)

    def __enter__(self) -> EngineProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self._close()

    def _close(self) -> None:
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(client)
            if self.faulty.is_set() and self._fault == "die":
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            server.connect(ENGINE)
            self._open.append(server)
            threading.Thread(target=self._forward, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._forward, args=(server, client, False), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        try:
            while data := source.recv(65536):
                if is_request and self._trigger in data:
                    self.faulty.set()
                if self.faulty.is_set():
                    if self._fault == "die":
                        self._close()
                        return
                    continue  # swallowed: nobody ever answers
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return
