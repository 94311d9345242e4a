"""Running the trials of all tasks side by side: one queue, so many at once, and no more memory than there is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from harbor_author.proof.session import Cancellation

_WAIT_S = 0.2


@dataclass(frozen=True)
class Job:
    """Something to run; `memory_mb` is what its container may take, `rank` its place (lower first)."""

    run: Callable[[], None]
    memory_mb: int = 0
    rank: int = 0


class Pool:
    """Daemon threads over one queue. A job may add others; `run` returns when all are done.

    Trials go before the preparation of further tasks, so that a task's verdict comes as early as it can. A job that
    raises stops the pool, and `run` raises the same.
    """

    def __init__(self, *, jobs: int, memory_mb: int, cancellation: Cancellation) -> None:
        self._jobs = jobs
        self._memory_mb = memory_mb
        self._cancellation = cancellation
        self._changed = threading.Condition()
        self._queue: list[Job] = []
        self._running = 0
        self._taken_mb = 0
        self._error: BaseException | None = None
        self._stopped = False

    def add(self, job: Job) -> None:
        with self._changed:
            self._queue.append(job)
            self._queue.sort(key=lambda queued: queued.rank)
            self._changed.notify_all()

    def run(self) -> None:
        """Work until the queue is empty and nothing runs.

        On an interrupt of the calling thread the cancellation is set, and the running jobs are waited for briefly:
        they end by themselves once their containers are gone, which is the caller's to do.
        """
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._jobs)]
        for thread in threads:
            thread.start()
        with self._changed:
            while (self._queue or self._running) and self._error is None:
                # A wait without a time-out would keep Python from seeing a signal on some systems.
                self._changed.wait(_WAIT_S)
            self._stopped = True
            self._changed.notify_all()
        if self._error is not None:
            raise self._error

    def drain(self, timeout_s: float) -> bool:
        """After an interrupt: stop taking jobs and wait for the running ones; False when some still run."""
        with self._changed:
            self._queue.clear()
            self._stopped = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._running == 0, timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                job = self._take()
                while job is None and not self._stopped:
                    self._changed.wait(_WAIT_S)
                    job = self._take()
                if job is None or self._stopped:
                    return
                self._queue.remove(job)
                self._running += 1
                self._taken_mb += job.memory_mb
            error: BaseException | None = None
            try:
                job.run()
            except BaseException as raised:  # handed to the thread that waits
                error = raised
            with self._changed:
                self._running -= 1
                self._taken_mb -= job.memory_mb
                self._error = self._error or error
                # At once, for this thread may come to the queue again before the waiting one does.
                self._stopped = self._stopped or error is not None
                self._changed.notify_all()

    def _take(self) -> Job | None:
        """The first job whose memory is free; one that alone is too large runs alone."""
        for job in self._queue:
            if self._running == 0 or self._taken_mb + job.memory_mb <= self._memory_mb:
                return job
        return None
