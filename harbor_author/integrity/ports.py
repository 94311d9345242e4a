"""Ports for services of parallel runs: no two runs of this machine get the same one while both hold it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from harbor_author.integrity.errors import IntegrityError

_HOST = "127.0.0.1"
_ATTEMPTS = 100


class PortAllocator:
    """Maps runs to TCP ports on the loopback interface.

    A port is held, across processes and through crashes, by a bound UDP socket of the same number: the run's service is
    free to take the TCP side.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, list[socket.socket]] = {}

    @contextmanager
    def ports(self, run_id: str, count: int = 1) -> Iterator[tuple[int, ...]]:
        """Hold `count` ports for a run while the block runs.

        Raises:
            IntegrityError: the run already holds some, or no port is free.
        """
        with self._lock:
            if run_id in self._held:
                raise IntegrityError(f"the run {run_id} already holds ports")
            holders: list[socket.socket] = []
            self._held[run_id] = holders
        try:
            for _ in range(count):
                holders.append(_hold_one())
            yield tuple(holder.getsockname()[1] for holder in holders)
        finally:
            with self._lock:
                del self._held[run_id]
            for holder in holders:
                holder.close()

    def held(self) -> dict[str, tuple[int, ...]]:
        """The ports of every run that holds some now."""
        with self._lock:
            return {
                run_id: tuple(holder.getsockname()[1] for holder in holders)
                for run_id, holders in self._held.items()
            }


def _hold_one() -> socket.socket:
    for _ in range(_ATTEMPTS):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as service:
            service.bind((_HOST, 0))
            holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                holder.bind(service.getsockname())
            except OSError:
                holder.close()
                continue
            return holder
    raise IntegrityError(f"no free port was found in {_ATTEMPTS} attempts")
