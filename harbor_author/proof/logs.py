"""Reading what a trial wrote below /logs: in one request where it is little, file by file where it is much."""

from __future__ import annotations

import io
import posixpath
import tarfile
import tempfile
from collections.abc import Collection, Iterable
from typing import IO

from harbor_author.proof.session import Session
from harbor_author.sandbox import EngineError

ROOT = "/logs"
_BULK_BYTES = 4 << 20


def read_logs(session: Session, paths: Iterable[str]) -> dict[str, bytes]:
    """The regular files among `paths` (below /logs) with their content, cut at the session's output limit.

    Nothing is unpacked and no link is followed, so a link in a reward's place is no reward.
    """
    wanted = list(paths)
    found = _in_one(session, wanted)
    if found is None:
        limit = session.limits.output_mb << 20
        reads = {path: session.engine.read(session.container, path, limit) for path in wanted}
        found = {path: read.data for path, read in reads.items() if read is not None}
    return found


def _in_one(session: Session, wanted: list[str]) -> dict[str, bytes] | None:
    with tempfile.SpooledTemporaryFile(_BULK_BYTES) as archive:
        try:
            if not session.engine.archive(session.container, ROOT, _BULK_BYTES, archive):
                return None
        except EngineError as error:
            if "larger than" in error.message:
                return None
            raise
        archive.seek(0)
        return _files(archive, wanted)


def unpack_logs(archive: bytes, paths: Iterable[str]) -> dict[str, bytes] | None:
    """The same from an archive of /logs; None when it is none, or not whole."""
    whole = len(archive) % tarfile.BLOCKSIZE == 0 and archive.endswith(bytes(2 * tarfile.BLOCKSIZE))
    return _files(io.BytesIO(archive), list(paths)) if whole else None


def _files(archive: IO[bytes], wanted: Collection[str]) -> dict[str, bytes] | None:
    found = {}
    try:
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                path = posixpath.join("/", member.name)
                content = tar.extractfile(member) if member.isreg() and path in wanted else None
                if content is not None:
                    found[path] = content.read()
    except tarfile.TarError:
        return None
    return found
