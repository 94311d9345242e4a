"""Frames of a running command, and single files out of archives."""

from __future__ import annotations

import io
import socket
import tarfile

import pytest

from harbor_author.sandbox.engine import EngineError
from harbor_author.sandbox.streams import Ending, read_frames, single_file


def frame(payload: bytes, kind: int = 1) -> bytes:
    return bytes([kind, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


def read(sent: bytes, *, close: bool = True, timeout_s: float | None = 0.5, limit: int = 1000, watch=None):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        if close:
            theirs.close()
        return read_frames(ours, timeout_s=timeout_s, limit_bytes=limit, watch=watch)


def test_frames_of_both_streams_are_joined_in_order() -> None:
    assert read(frame(b"out") + frame(b"err", 2)) == (b"outerr", Ending.END)


def test_output_over_the_limit_is_dropped_but_read() -> None:
    assert read(frame(b"a" * 600) + frame(b"b" * 600), limit=700) == (b"a" * 600 + b"b" * 100, Ending.END)


def test_a_command_that_does_not_end_times_out_with_its_output() -> None:
    assert read(frame(b"so far"), close=False, timeout_s=0.2) == (b"so far", Ending.TIMEOUT)


def test_the_watcher_ends_the_waiting() -> None:
    output, ending = read(frame(b"x"), close=False, timeout_s=None, watch=lambda: "pids-limit: too many")
    assert (output, ending) == (b"x", "pids-limit: too many")


def archive_of(member: tarfile.TarInfo, content: bytes = b"") -> list[bytes]:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    data = target.getvalue()
    return [data[at : at + 100] for at in range(0, len(data), 100)]


def test_a_file_is_cut_at_the_limit_and_tells_its_true_size() -> None:
    found = single_file(archive_of(tarfile.TarInfo("reward.txt"), b"0123456789"), 4)
    assert found is not None
    assert (found.data, found.size_bytes) == (b"0123", 10)


def test_a_link_is_no_file() -> None:
    member = tarfile.TarInfo("reward.txt")
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    assert single_file(archive_of(member), 100) is None


def test_a_broken_archive_is_the_engines_error() -> None:
    with pytest.raises(EngineError):
        single_file([b"no archive" * 200], 100)
