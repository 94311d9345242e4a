"""Running a command of ours with a fault at its n-th change of the file system."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_CHANGES = frozenset(
    {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
#: Fault -> what it is:
#: - ENOSPC: the change is refused, once;
#: - DISKFULL: from there on nothing can be written into a file, though files can still be made (a real limit);
#: - NOMEM: from there on the process gets no more memory (a real limit);
#: - CLOCK: from there on the time of day is two days earlier.
FAULTS = ("SIGKILL", "SIGTERM", "SIGINT", "ENOSPC", "DISKFULL", "NOMEM", "CLOCK")


@dataclass(frozen=True)
class Ended:
    """How a run ended: exit status (negative: a signal), changes of the file system it began, and what it said."""

    status: int
    changes: int
    err: str


def run(arguments: Sequence[str], cwd: Path, *, fault: str = "", at: int = 0, timeout_s: float = 60) -> Ended:
    """Run `author` in a forked process; at its `at`-th change below `cwd` the fault happens. 0: no fault.

    Its temporary files are made in `cwd.parent / "tmp"`.
    """
    (cwd.parent / "tmp").mkdir(exist_ok=True)
    # Pipes, since a process without room for files still talks through them.
    (read_changes, changes), (read_errors, errors) = os.pipe(), os.pipe()
    import fcntl

    for descriptor in (changes, errors):
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
    pid = os.fork()
    if pid == 0:
        _child(list(arguments), cwd, fault, at, changes, errors)
    os.close(changes)
    os.close(errors)
    deadline = time.monotonic() + timeout_s
    try:
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
            os.waitstatus_to_exitcode(status), len(_drain(read_changes)), _drain(read_errors).decode()
        )
    finally:
        os.close(read_changes)
        os.close(read_errors)


def _drain(descriptor: int) -> bytes:
    """What is in a pipe now; a grandchild may still hold its other end."""
    os.set_blocking(descriptor, False)
    data = b""
    try:
        while chunk := os.read(descriptor, _PIPE_BYTES):
            data += chunk
    except BlockingIOError:
        pass
    return data


def _happen(fault: str) -> None:
    if fault == "ENOSPC":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if fault == "DISKFULL":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    elif fault == "NOMEM":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    elif fault == "CLOCK":
        real: Callable[[], float] = time.time
        time.time = lambda: real() - 2 * 24 * 3600
    else:
        os.kill(os.getpid(), getattr(signal, fault))


#: Event -> where among its arguments the directory stands that a relative path begins at.
_DIR_FD = {
    "os.mkdir": 2,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.chmod": 2,
    "os.link": 2,
    "os.symlink": 2,
}


def _place(event: str, args: tuple[object, ...]) -> Path:
    """The absolute path of what an event changes."""
    place = _DIR_FD.get(event)
    directory = args[place] if place is not None and len(args) > place else -1
    base = Path.cwd() if directory == -1 else Path(f"/proc/self/fd/{directory}").readlink()
    return base / str(args[0])


def _finalizers() -> list[weakref.finalize[..., object]]:
    return list(vars(weakref.finalize)["_registry"])


def _child(arguments: list[str], cwd: Path, fault: str, at: int, changes: int, errors: int) -> None:
    """What the forked process does; it never returns."""
    status = 99
    inherited = set(_finalizers())
    try:
        os.chdir(cwd)
        os.environ["TMPDIR"] = str(cwd.parent / "tmp")
        os.environ["XDG_CACHE_HOME"] = str(cwd.parent / "cache")
        import tempfile

        tempfile.tempdir = None
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor, target in ((null, 0), (null, 1), (errors, 2)):
            os.dup2(descriptor, target)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        root = str(cwd)
        seen = 0

        def hook(event: str, args: tuple[object, ...]) -> None:
            nonlocal seen
            if event == "open":
                if not (isinstance(args[2], int) and args[2] & _WRITING):
                    return
            elif event not in _CHANGES:
                return
            if isinstance(args[0], str | os.PathLike) and str(_place(event, args)).startswith(root):
                seen += 1
                os.write(changes, b".")
                if seen == at:
                    _happen(fault)

        from harbor_author.cli.main import main

        sys.argv = ["author", *arguments]
        sys.addaudithook(hook)
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        sys.stderr.flush()
        # What the interpreter does at its end, which `_exit` leaves out: only for what this process has made.
        for finalizer in _finalizers():
            if finalizer not in inherited:
                finalizer()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)
