"""What a person sees while one piece of work takes more than a second: its stage and the time so far.

Standard error only. On a terminal it is one line, redrawn in place and gone at the end; elsewhere a plain line when the
work takes long, so that the log of a CI job shows life and stays short.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType

from harbor_author.output.tables import cut, terminal_width
from harbor_author.output.text import printable

#: On a terminal: quiet for a second, then a new drawing every quarter of one.
_FIRST_S = 1.0
_AGAIN_S = 0.25
#: In a log: the first line after, and then one every.
_LOG_FIRST_S = 10.0
_LOG_AGAIN_S = 60.0
#: The timer's beat; what is due at a beat is decided by the clock.
_BEAT_S = 0.25


class Work:
    """The stage that work is in. Its methods only take note: they are cheap enough for every item of a loop."""

    def __init__(self, stage: str, *, total: int | None = None) -> None:
        self._stage = stage
        self._count: int | None = None
        self._total = total
        self._unit = ""
        self._started = time.monotonic()

    def stage(self, stage: str, *, total: int | None = None) -> None:
        """Say what is being done now."""
        self._stage, self._count, self._total, self._unit = stage, None, total, ""

    def count(self, number: int, unit: str = "") -> None:
        """Say how far it is: `3` of the total, or `1200 commits`."""
        self._count, self._unit = number, unit

    def restart(self) -> None:
        """Count the time anew."""
        self._started = time.monotonic()

    def line(self) -> str:
        """Such as `reading receipts: 12 of 200, 3 s`."""
        far = ""
        if self._count is not None:
            of = f" of {self._total:,}" if self._total is not None else ""
            far = f"{self._count:,}{of}{' ' if self._unit else ''}{self._unit}, "
        return f"{self._stage}: {far}{self.elapsed()}"

    def elapsed(self) -> str:
        """The time so far, such as `3 s`."""
        return duration(time.monotonic() - self._started)

    def clear(self) -> None:
        """Take the drawing away, before something else is printed."""


def duration(seconds: float) -> str:
    """`7 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def working(stage: str, *, total: int | None = None, inline: bool = False) -> Iterator[Work]:
    """Show progress while the block runs. Before anything else is printed on the terminal, call `clear`.

    Args:
        total: what `count` counts up to.
        inline: the caller prints lines of its own, and the time so far is shown behind the last of them.

    A timer's signal draws, not a thread: rules fork, and a forked process must not hold a thread's locks.
    """
    work = Work(stage, total=total)
    display = _Display(work, inline=inline)
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield work  # somebody else's timer, such as that of a test run
        return
    before = signal.signal(signal.SIGALRM, display.beat)
    signal.setitimer(signal.ITIMER_REAL, _BEAT_S, _BEAT_S)
    try:
        yield work
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        display.clear()


class _Display:
    def __init__(self, work: Work, *, inline: bool) -> None:
        self._work = work
        self._inline = inline
        work.clear = self.clear  # type: ignore[method-assign]
        self._process = os.getpid()
        self._live = is_live(sys.stderr)
        self._next = time.monotonic() + (_FIRST_S if self._live else _LOG_FIRST_S)
        self._drawn = False

    def beat(self, signum: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now < self._next or os.getpid() != self._process:
            return
        self._next = now + (_AGAIN_S if self._live else _LOG_AGAIN_S)
        with suppress(Exception):  # it may come at any moment, and must never end the work
            self._draw()

    def _draw(self) -> None:
        line = printable(self._work.line())
        if not self._live:
            if not self._inline:
                self._write(f"author: {line}\n")
            return
        self._drawn = True
        if self._inline:
            text = self._work.elapsed()
            self._write(f"{text}\x1b[K\x1b[{len(text)}D")
        else:
            self._write(f"\r{cut(line, max((terminal_width(sys.stderr) or 80) - 1, 1))}\x1b[K")

    def clear(self) -> None:
        if self._drawn and os.getpid() == self._process:
            self._write("\x1b[K" if self._inline else "\r\x1b[K")
            self._drawn = False

    def _write(self, text: str) -> None:
        # Past Python's buffer: the signal may come in the middle of a write to it, which must not be entered twice.
        encoding = getattr(sys.stderr, "encoding", None) or "ascii"
        with suppress(OSError, ValueError, AttributeError):
            os.write(sys.stderr.fileno(), text.encode(encoding, "backslashreplace"))


def is_live(stream: object, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether lines may be redrawn on it: a terminal that can do so."""
    try:
        return bool(stream.isatty()) and environ.get("TERM") != "dumb"  # type: ignore[attr-defined]
    except (AttributeError, ValueError):  # no stream, or a closed one
        return False
