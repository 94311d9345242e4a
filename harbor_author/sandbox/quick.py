"""One question to the engine without loading its SDK: which images are here. For receipts, which are read often.

Nor is `http.client` loaded, which takes longer than the questions: HTTP/1.0 over the socket is a line each way.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from urllib.parse import quote

from harbor_author.sandbox.endpoint import DEFAULT_SOCKET, endpoint
from harbor_author.sandbox.engine import EngineUnavailableError

_TIMEOUT_S = 2.0


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
    try:
        for name in names:
            status, body = _get(address.removeprefix("unix://"), f"/images/{quote(name, safe='/:@')}/json")
            if status == 200:
                found[name] = str(json.loads(body)["Id"])
            elif status == 404:
                found[name] = None
            else:
                return None
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return found


def _get(path: str, url: str) -> tuple[int, bytes]:
    """Status and body. Raises OSError, or ValueError or LookupError for what is no HTTP."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_TIMEOUT_S)
        connection.connect(path)
        connection.sendall(f"GET {url} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(maxsplit=2)[1]), body
