"""Reading what an engine streams: the frames of a running command, and single files out of tar archives."""

from __future__ import annotations

import enum
import io
import select
import socket
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from harbor_author.sandbox.engine import EngineError, FileRead, Watcher

_HEADER_BYTES = 8
_TICK_S = 1.0
_CHUNK = 1 << 16
#: A tar archive holds one file in whole blocks after a few headers.
_TAR_OVERHEAD = 1 << 16


class Ending(enum.Enum):
    """Why reading stopped: the stream ended, or time ran out."""

    END = "end"
    TIMEOUT = "timeout"


@contextmanager
def closing_socket(stream: Any) -> Iterator[None]:
    """Close a socket of the SDK, and the response that it keeps alive."""
    try:
        yield
    finally:
        for thing in (stream, getattr(stream, "_response", None)):
            if thing is not None:
                # ValueError: the response's file shares the socket that was just closed.
                with suppress(OSError, ValueError):
                    thing.close()


def send_all(stream: Any, source: IO[bytes]) -> None:
    """Write a whole file to a command's standard input, then end the input.

    A command that ends before it has read everything is no error here: its exit status says what was wrong.
    """
    sock = getattr(stream, "_sock", stream)
    try:
        while chunk := source.read(_CHUNK):
            sock.sendall(chunk)
        sock.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        return


def read_frames(
    stream: Any, *, timeout_s: float | None, limit_bytes: int, watch: Watcher | None
) -> tuple[bytes, Ending | str]:
    """Read a command's multiplexed output until it ends, time runs out, or the watcher says why to stop.

    Returns:
        The first `limit_bytes` of standard output and error as they came, and how it ended.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    buffered = _reader(stream)
    sock = getattr(stream, "_sock", stream)
    sock.setblocking(False)
    pending, output = bytearray(), bytearray()
    next_watch = time.monotonic() + _TICK_S
    first = True
    while True:
        now = time.monotonic()
        if deadline is not None and now >= deadline:
            return bytes(output), Ending.TIMEOUT
        if watch is not None and now >= next_watch:
            reason = watch()
            if reason is not None:
                return bytes(output), reason
            next_watch = time.monotonic() + _TICK_S
        wait_s = _TICK_S if deadline is None else max(0.0, min(_TICK_S, deadline - now))
        # Bytes that came with the response's headers are in the reader's buffer, where select cannot see them.
        readable = first or select.select([sock], [], [], wait_s)[0]
        if not readable:
            continue
        try:
            chunk = buffered.read1(_CHUNK)
        except BlockingIOError:
            chunk = b""
        except OSError:
            return bytes(output), Ending.END
        if not chunk:
            if first:
                first = False
                continue
            return bytes(output), Ending.END
        first = False
        pending += chunk
        _take_frames(pending, output, limit_bytes)


def _take_frames(pending: bytearray, output: bytearray, limit_bytes: int) -> None:
    """Move whole frames' payloads from `pending` to `output`; what is over the limit is dropped."""
    while len(pending) >= _HEADER_BYTES:
        size = int.from_bytes(pending[4:8], "big")
        if len(pending) < _HEADER_BYTES + size:
            return
        room = max(0, limit_bytes - len(output))
        output += pending[_HEADER_BYTES : _HEADER_BYTES + min(size, room)]
        del pending[: _HEADER_BYTES + size]


def _reader(stream: Any) -> Any:
    """The buffered reader below the SDK's socket. The SDK itself reads beside it and may lose its first bytes."""
    with suppress(AttributeError):
        reader = stream._response.raw._fp.fp
        if hasattr(reader, "read1"):
            return reader
    return _Plain(getattr(stream, "_sock", stream))


class _Plain:
    """`read1` over a plain socket."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock

    def read1(self, size: int) -> bytes:
        return bytes(self._sock.recv(size))


class _Chunks(io.RawIOBase):
    """A readable file over an iterator of byte strings."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""
        self.total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            try:
                self._rest = next(self._chunks)
            except StopIteration:
                return 0
        part = self._rest[: len(target)]
        self._rest = self._rest[len(part) :]
        target[: len(part)] = part
        self.total += len(part)
        return len(part)


def single_file(chunks: Any, limit_bytes: int) -> FileRead | None:
    """The regular file that an archive holds as its first member, cut to `limit_bytes`; else None.

    Nothing is unpacked, so no member can land anywhere. A file longer than the limit is not read to its end.
    """
    try:
        with tarfile.open(fileobj=io.BufferedReader(_Chunks(chunks), _TAR_OVERHEAD), mode="r|") as archive:
            member = archive.next()
            if member is None or not member.isreg():
                return None
            content = archive.extractfile(member)
            assert content is not None
            return FileRead(content.read(limit_bytes), member.size)
    except (tarfile.TarError, OSError) as error:
        raise EngineError(f"the engine sent a broken archive ({error})") from error
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
