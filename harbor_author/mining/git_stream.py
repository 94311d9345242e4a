"""What git prints, read as it comes: the log with its changes, and blobs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harbor_author.mining.errors import MiningError

_CHUNK = 1 << 20
#: Requests written ahead of their answers must fit a pipe's 64 KiB, or both sides would wait for ever.
_REQUESTS_AHEAD = 512


@dataclass(frozen=True)
class Change:
    """One changed path of a commit against its first parent; `None` on the side where it does not exist."""

    path: bytes
    old: bytes | None
    new: bytes | None
    old_mode: bytes
    new_mode: bytes


@dataclass(frozen=True)
class Commit:
    """A commit's own data; `time_s` is the committer's, in seconds since 1970."""

    oid: str
    parents: tuple[str, ...]
    time_s: int
    message: str

    @property
    def subject(self) -> str:
        return self.message.strip().split("\n", 1)[0].strip()


@dataclass(frozen=True)
class LoggedCommit:
    """A commit with its changes, as `Repository.log` streams it."""

    commit: Commit
    changes: tuple[Change, ...]


class BlobReader:
    """Blobs by ID through one `git cat-file --batch`; `None` for one that is larger than asked for."""

    def __init__(self, process: subprocess.Popen[bytes], *, path: Path, finish: Callable[[], None]) -> None:
        self._process = process
        self._path = path
        self._finish = finish

    def read(self, oid: str) -> bytes:
        """The bytes of one blob.

        Raises:
            MiningError: the object is missing or damaged.
        """
        content = self.read_many([oid.encode()])[0]
        assert content is not None
        return content

    def read_many(self, oids: Sequence[bytes], *, max_bytes: int | None = None) -> list[bytes | None]:
        """The blobs in the order asked for."""
        return list(self.stream(oids, max_bytes=max_bytes))

    def stream(self, oids: Sequence[bytes], *, max_bytes: int | None = None) -> Iterator[bytes | None]:
        """The same one by one, so that git unpacks the next while the caller looks at this."""
        for start in range(0, len(oids), _REQUESTS_AHEAD):
            asked = oids[start : start + _REQUESTS_AHEAD]
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None
            assert stdout is not None
            try:
                stdin.write(b"".join(oid + b"\n" for oid in asked))
                stdin.flush()
            except BrokenPipeError:
                self._died()
            for oid in asked:
                yield self._answer(stdout, oid, max_bytes)

    def _answer(self, stdout: IO[bytes], oid: bytes, max_bytes: int | None) -> bytes | None:
        head = stdout.readline().split()
        if len(head) != 3:
            if not head:
                self._died()
            raise MiningError(
                f"object {oid.decode()} is missing or damaged",
                path=self._path,
                hint="'git fsck' in the repository tells what is damaged; a partial clone lacks objects by design.",
            )
        size = int(head[2])
        if max_bytes is not None and size > max_bytes:
            left = size + 1
            while left:
                left -= len(stdout.read(min(left, _CHUNK))) or self._died()
            return None
        content = stdout.read(size + 1)
        if len(content) != size + 1:
            self._died()
        return content[:-1]

    def _died(self) -> int:
        self._finish()
        raise MiningError("git cat-file ended early", path=self._path)


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest:
        yield rest


def parse_log(stream: IO[bytes]) -> Iterator[LoggedCommit]:
    """Commits of `git log -z --raw`: four fields, an empty token, then pairs of raw line and path."""
    tokens = _tokens(stream)
    token = next(tokens, None)
    while token is not None and token:
        try:
            oid, parents, time_s, message = token, next(tokens), next(tokens), next(tokens)
            next(tokens)
            changes: list[Change] = []
            token = next(tokens, None)
            while token is not None and token[:2].lstrip(b"\n").startswith(b":"):
                old_mode, new_mode, old, new, _status = token.lstrip(b"\n")[1:].split(b" ")
                changes.append(
                    Change(
                        path=next(tokens),
                        old=None if old_mode == b"000000" else old,
                        new=None if new_mode == b"000000" else new,
                        old_mode=old_mode,
                        new_mode=new_mode,
                    )
                )
                token = next(tokens, None)
        except StopIteration:
            return  # a truncated stream; the caller sees git's exit status
        commit = Commit(
            oid=oid.decode("ascii", "replace"),
            parents=tuple(parents.decode("ascii", "replace").split()),
            time_s=int(time_s or 0),
            message=message.decode("utf-8", "replace"),
        )
        yield LoggedCommit(commit=commit, changes=tuple(changes))
