"""Who made a temporary thing: a process, told from every other one that ever had its number."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

#: What nobody can be asked about (another process namespace, no /proc) is left alone for so long.
UNKNOWN_TTL_S = 24 * 3600.0
#: A dead owner's thing is left alone for so long, unless it is older than this very process.
DEAD_TTL_S = 60.0

_started_s = time.time()


def _start_again() -> None:
    """A forked process begins at its fork: what its parent's time left behind is older than it."""
    global _started_s
    _started_s = time.time()


os.register_at_fork(after_in_child=_start_again)


@dataclass(frozen=True)
class Owner:
    """A process: its number, start in clock ticks since boot, the boot, and the process namespace."""

    pid: int
    start_ticks: int
    boot: str
    namespace: int

    def __str__(self) -> str:
        return f"{self.pid}-{self.start_ticks}-{self.boot}-{self.namespace}"


def owner_token() -> str:
    """This process as `pid-start-boot-namespace`: digits, letters and hyphens, fit for names and labels."""
    # Not cached by process: after a fork the child is another owner.
    return str(Owner(os.getpid(), _start_ticks(os.getpid()) or 0, _boot(), _namespace()))


def parse_owner(token: str) -> Owner | None:
    """The owner that a token names, or None when it is not a token."""
    parts = token.split("-")
    if len(parts) != 4 or not all(part.isascii() and part.isalnum() for part in parts):
        return None
    pid, start, boot, namespace = parts
    if not (pid.isdigit() and start.isdigit() and namespace.isdigit()):
        return None
    return Owner(int(pid), int(start), boot, int(namespace))


def owner_state(token: str) -> str:
    """`alive`, `dead` or `unknown`: not a token, or of a process namespace that is not ours."""
    owner = parse_owner(token)
    if owner is None or not _boot():
        return "unknown"
    if owner.boot != _boot():
        return "dead"
    if owner.namespace != _namespace():
        return "unknown"
    return "alive" if _start_ticks(owner.pid) == owner.start_ticks else "dead"


def owner_alive(token: str) -> bool:
    """Whether the token's process may still run; True when that cannot be told."""
    return owner_state(token) != "dead"


def is_orphan(token: str, modified_s: float, *, ttl_s: float = DEAD_TTL_S) -> bool:
    """Whether a thing of `token`, last changed at `modified_s` (seconds since the epoch), is to be removed.

    Its owner must be dead and it must be old: older than `ttl_s`, or than this process, or dated in the
    future (the clock was set back). Where the owner cannot be asked, it must be older than `UNKNOWN_TTL_S`.
    """
    now = time.time()
    age_s = now - modified_s
    match owner_state(token):
        case "alive":
            return False
        case "dead":
            return age_s > ttl_s or modified_s < _started_s or modified_s > now + 1
        case _:
            return age_s > max(ttl_s, UNKNOWN_TTL_S)


def _start_ticks(pid: int) -> int | None:
    """The start of a process (field 22 of /proc/PID/stat); None when it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The command name, in brackets, may itself hold spaces and brackets.
    fields = text.rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):  # a zombie has done all that it will ever do
        return None
    return int(fields[19])


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:12]
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _namespace() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0
