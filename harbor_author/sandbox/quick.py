"""One question to the engine without loading its SDK: which images are here. For receipts, which are read often."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterable
from urllib.parse import quote

from harbor_author.sandbox.endpoint import DEFAULT_SOCKET, endpoint
from harbor_author.sandbox.engine import EngineUnavailableError

_TIMEOUT_S = 2.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_TIMEOUT_S)
        self.sock.connect(self._path)


def image_ids(names: Iterable[str]) -> dict[str, str | None] | None:
    """The local ID of each image by name (None: not here); None as a whole when that cannot be asked quickly."""
    try:
        chosen = endpoint()
    except EngineUnavailableError:
        return None  # whoever runs something says so
    address = chosen.address if chosen else DEFAULT_SOCKET
    if not address.startswith("unix://"):
        return None
    found: dict[str, str | None] = {}
    connection = _UnixConnection(address.removeprefix("unix://"))
    try:
        for name in names:
            connection.request("GET", f"/images/{quote(name, safe='/:@')}/json")
            response = connection.getresponse()
            body = response.read()
            if response.status == 200:
                found[name] = str(json.loads(body)["Id"])
            elif response.status == 404:
                found[name] = None
            else:
                return None
    except (OSError, http.client.HTTPException, ValueError, KeyError):
        return None
    finally:
        connection.close()
    return found
