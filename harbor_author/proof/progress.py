"""What a person sees while trials run: a live table on a terminal, one line an event elsewhere. Standard error only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Protocol

from harbor_author.output.text import printable

if TYPE_CHECKING:
    from rich.table import Table


class Progress(Protocol):
    """Told of what happens, from any thread. `trial` is empty for what concerns the task as a whole."""

    def stage(self, task: str, trial: str, stage: str) -> None: ...

    def done(self, task: str, trial: str, outcome: str) -> None: ...

    def log(self, task: str, line: str) -> None: ...

    def close(self) -> None: ...


class Silent:
    """Says nothing."""

    def stage(self, task: str, trial: str, stage: str) -> None:
        pass

    def done(self, task: str, trial: str, outcome: str) -> None:
        pass

    def log(self, task: str, line: str) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """One plain line an event; `verbose` adds stages and the builder's output."""

    def __init__(self, stream: IO[str] | None = None, *, verbose: bool = False) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._verbose = verbose
        self._lock = threading.Lock()

    def _say(self, text: str) -> None:
        with self._lock:
            print(printable(text), file=self._stream, flush=True)

    def stage(self, task: str, trial: str, stage: str) -> None:
        if self._verbose or not trial:
            self._say(f"{task}{' ' + trial if trial else ''}: {stage}")

    def done(self, task: str, trial: str, outcome: str) -> None:
        if trial:
            self._say(f"{task} {trial}: {outcome}")

    def log(self, task: str, line: str) -> None:
        if self._verbose:
            self._say(f"{task} | {line}")

    def close(self) -> None:
        pass


class LiveTable:
    """A table of what runs now, redrawn in place: stage and seconds of each trial."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._lock = threading.Lock()
        self._rows: dict[tuple[str, str], tuple[str, float]] = {}
        self._live = Live(
            get_renderable=self._table, console=Console(stderr=True), refresh_per_second=4, transient=True
        )
        self._live.start()

    def _table(self) -> Table:
        from rich.table import Table

        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        now = time.monotonic()
        with self._lock:
            for (task, trial), (stage, since) in self._rows.items():
                table.add_row(_clean(task), _clean(trial), _clean(stage), f"{now - since:.0f} s")
        return table

    def stage(self, task: str, trial: str, stage: str) -> None:
        with self._lock:
            old = self._rows.get((task, trial))
            self._rows[task, trial] = (stage, old[1] if old else time.monotonic())

    def done(self, task: str, trial: str, outcome: str) -> None:
        with self._lock:
            self._rows.pop((task, trial), None)

    def log(self, task: str, line: str) -> None:
        with self._lock:
            row = self._rows.get((task, ""))
            if row is not None and line.strip():
                self._rows[task, ""] = (f"build: {line.strip()[:60]}", row[1])

    def close(self) -> None:
        self._live.stop()


def choose(*, quiet: bool, verbose: bool, environ: Mapping[str, str], stream: Any = None) -> Progress:
    """A live table on a terminal that can, plain lines elsewhere, nothing when quiet."""
    stream = stream if stream is not None else sys.stderr
    if quiet:
        return Silent()
    if stream.isatty() and not verbose and environ.get("TERM") != "dumb" and "NO_COLOR" not in environ:
        return LiveTable()
    return Lines(stream, verbose=verbose)


def _clean(text: str) -> str:
    """Without what a terminal would obey, and what rich would take for markup."""
    return printable(text).replace("[", r"\[")
