"""Telling whether anyone, in any process, opened, read or changed what must not be touched (Linux inotify)."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_IN_ACCESS, _IN_MODIFY, _IN_ATTRIB, _IN_OPEN, _IN_CREATE, _IN_DELETE = 0x1, 0x2, 0x4, 0x20, 0x100, 0x200
_MASK = _IN_ACCESS | _IN_MODIFY | _IN_ATTRIB | _IN_OPEN | _IN_CREATE | _IN_DELETE
_EVENT = struct.Struct("iIII")


@contextmanager
def watched(folder: Path) -> Iterator[list[str]]:
    """What happens to `folder` and all below it while the block runs; the list is filled at its end."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    for place, _, _ in list(os.walk(folder)):
        if descriptor < 0 or libc.inotify_add_watch(descriptor, os.fsencode(place), _MASK) < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
    seen: list[str] = []
    try:
        yield seen
    finally:
        try:
            while data := os.read(descriptor, 1 << 20):
                at = 0
                while at < len(data):
                    _, mask, _, length = _EVENT.unpack_from(data, at)
                    name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0").decode()
                    seen.append(f"{name or '.'}: {mask & 0xFFF:#x}")
                    at += _EVENT.size + length
        except BlockingIOError:
            pass
        os.close(descriptor)
