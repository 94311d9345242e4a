"""Removing containers beside the work: the engine takes its time over each, in which it uses little of the machine."""

from __future__ import annotations

import threading
from collections import deque

from harbor_author.sandbox.engine import Engine, EngineError

_THREADS = 2
#: So many may wait; then whoever hands in one more waits itself, lest dead containers fill the memory.
_WAITING = 8


class Removals:
    """Removes what it is handed, at once and in threads of its own. `finish` waits until all is gone.

    What the engine would not remove is left to the caller's own sweep, and is told by `failed`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._running = 0
        self._threads = 0
        self.failed = 0

    def remove(self, container: str) -> None:
        """Have a container removed; returns before it is."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < _WAITING)
            self._waiting.append(container)
            if self._threads < _THREADS:
                self._threads += 1
                threading.Thread(target=self._work, daemon=True).start()

    def finish(self, timeout_s: float | None = None) -> bool:
        """Wait until everything handed in is gone; False when time ran out first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._running, timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._threads -= 1
                    return
                container = self._waiting.popleft()
                self._running += 1
                self._changed.notify_all()
            failed = 0
            try:
                self._engine.remove(container)
            except EngineError:
                failed = 1
            finally:
                with self._changed:
                    self.failed += failed
                    self._running -= 1
                    self._changed.notify_all()
