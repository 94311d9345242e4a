"""Running a command of ours with a fault at its n-th change of the file system: killed, interrupted, or a full disk."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CHANGES = frozenset(
    {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
FAULTS = ("SIGKILL", "SIGTERM", "SIGINT", "ENOSPC")


@dataclass(frozen=True)
class Ended:
    """How a run ended: exit status (negative: a signal), changes of the file system it began, and what it said."""

    status: int
    changes: int
    err: str


def run(arguments: Sequence[str], cwd: Path, *, fault: str = "", at: int = 0, timeout_s: float = 60) -> Ended:
    """Run `author` in a forked process; at its `at`-th change below `cwd` the fault happens. 0: no fault."""
    report, errors = cwd.parent / "changes", cwd.parent / "errors"
    for path in (report, errors):
        path.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        _child(list(arguments), cwd, fault, at, report, errors)
    deadline = time.monotonic() + timeout_s
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError(f"author {' '.join(arguments)} hangs after {fault} at {at}")
        time.sleep(0.005)
    return Ended(
        os.waitstatus_to_exitcode(status),
        report.stat().st_size if report.exists() else 0,
        errors.read_text() if errors.exists() else "",
    )


def _child(arguments: list[str], cwd: Path, fault: str, at: int, report: Path, errors: Path) -> None:
    """What the forked process does; it never returns."""
    status = 99
    try:
        os.chdir(cwd)
        null = os.open(os.devnull, os.O_RDWR)
        error_file = os.open(errors, os.O_WRONLY | os.O_CREAT, 0o600)
        for descriptor, target in ((null, 0), (null, 1), (error_file, 2)):
            os.dup2(descriptor, target)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        counter = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        root = str(cwd)
        seen = 0

        def hook(event: str, args: tuple[object, ...]) -> None:
            nonlocal seen
            if event == "open":
                if not (isinstance(args[2], int) and args[2] & _WRITING):
                    return
            elif event not in _CHANGES:
                return
            if isinstance(args[0], str | os.PathLike) and str(Path(args[0]).absolute()).startswith(root):
                seen += 1
                os.write(counter, b".")
                if seen == at:
                    if fault == "ENOSPC":
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    os.kill(os.getpid(), getattr(signal, fault))

        from harbor_author.cli.main import main

        sys.argv = ["author", *arguments]
        sys.addaudithook(hook)
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        sys.stderr.flush()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)
