"""What a person sees while trials run: a live table on a terminal, one line an event elsewhere. Standard error only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Protocol

from harbor_author.output.progress import duration, is_live
from harbor_author.output.tables import cut, display_width, terminal_width
from harbor_author.output.text import printable

if TYPE_CHECKING:
    from rich.text import Text


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
    """A table of what runs now, redrawn in place: of each task its stage and how many trials are done, of each trial
    its stage; and the time of both. The builder's output is folded into one line."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._lock = threading.Lock()
        self._tasks: dict[str, _Row] = {}
        self._trials: dict[tuple[str, str], _Row] = {}
        self._stream = stream if stream is not None else sys.stderr
        console = Console(file=self._stream, force_terminal=True, highlight=False)
        self._live = Live(
            get_renderable=self._text,
            console=console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def _text(self) -> Text:
        from rich.text import Text

        # Asked each time, since a window can be made smaller; some terminals wrap after the last column.
        width = (terminal_width(self._stream) or 80) - 1
        lines = [cut(line, width) for line in self.lines()]
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    def lines(self) -> list[str]:
        """What is shown now, a task's trials below it."""
        shown = []
        now = time.monotonic()
        with self._lock:
            for task, row in self._tasks.items():
                stage = _done(row.done) if row.done and not row.building else row.stage
                shown.append(f"{printable(task)}  {printable(stage)}, {duration(now - row.since)}")
                trials = [(name, trial) for (of, name), trial in self._trials.items() if of == task]
                width = max((display_width(printable(name)) for name, _ in trials), default=0)
                for name, trial in trials:
                    label = printable(name)
                    blanks = " " * (width - display_width(label))
                    shown.append(
                        f"  {label}{blanks}  {printable(trial.stage)}, {duration(now - trial.since)}"
                    )
        return shown

    def stage(self, task: str, trial: str, stage: str) -> None:
        with self._lock:
            row = self._tasks.setdefault(task, _Row())
            row.building = False
            if trial:
                self._trials.setdefault((task, trial), _Row()).stage = stage
                row.stage = "proving"
            else:
                row.stage = stage

    def done(self, task: str, trial: str, outcome: str) -> None:
        with self._lock:
            if trial:
                self._trials.pop((task, trial), None)
                if task in self._tasks:
                    self._tasks[task].done += 1
            else:
                self._tasks.pop(task, None)

    def log(self, task: str, line: str) -> None:
        with self._lock:
            row = self._tasks.get(task)
            if row is not None and line.strip():
                row.stage, row.building = f"build: {line.strip()[:200]}", True

    def close(self) -> None:
        self._live.stop()


def _done(count: int) -> str:
    return "1 trial done" if count == 1 else f"{count} trials done"


@dataclass
class _Row:
    stage: str = ""
    since: float = field(default_factory=time.monotonic)
    done: int = 0
    building: bool = False


def choose(*, quiet: bool, verbose: bool, environ: Mapping[str, str], stream: Any = None) -> Progress:
    """A live table on a terminal that can, plain lines elsewhere, nothing when quiet."""
    stream = stream if stream is not None else sys.stderr
    if quiet:
        return Silent()
    if not verbose and is_live(stream, environ):
        return LiveTable(stream)
    return Lines(stream, verbose=verbose)
