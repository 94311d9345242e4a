"""A real terminal for a command: a pty, and what a person would see on it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pyte

from tests.conftest import REPOSITORY

DEADLINE_S = 60


class Terminal:
    """A command on a pty of some width; `raw` is all that it wrote."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int,
        lines: int = 50,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        attributes = termios.tcgetattr(slave)
        attributes[3] &= ~termios.ECHO  # what a test types is no output of the command
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        environment = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")
        }
        environment |= {
            "TERM": "xterm-256color",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONUTF8": "1",
            **(env or {}),
        }
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=environment, start_new_session=True
        )
        os.close(slave)

    def until(self, holds: Callable[[Terminal], bool]) -> None:
        """Read until something holds; fails when it never does."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds(self):
            assert time.monotonic() < deadline, self.text
            if not self._read(0.2):
                assert holds(self), self.text
                return

    def finish(self) -> int:
        """Read until the command ends; its exit status."""
        deadline = time.monotonic() + DEADLINE_S
        while self._read(0.5):
            assert time.monotonic() < deadline, self.text
        return self._process.wait(DEADLINE_S)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    @property
    def text(self) -> str:
        """The screen as lines without blanks at their ends."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._master)

    def _read(self, wait_s: float) -> bool:
        """False at the end."""
        if not select.select([self._master], [], [], wait_s)[0]:
            return True
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # Linux says so when the last one closed its end
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def screen_of(command: Sequence[str], **options: object) -> tuple[int, str, bytes]:
    """Run a command to its end: status, screen, everything that it wrote."""
    with Terminal(command, **options) as terminal:  # type: ignore[arg-type]
        status = terminal.finish()
        return status, terminal.text, terminal.raw
