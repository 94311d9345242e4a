"""The tree hash, version 1; docs/tree-hash.md is its specification."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from harbor_author.integrity.tree import Node, walk

VERSION = "th1"
_HEADER = b"harbor-author tree hash 1"


def tree_hash(path: Path) -> str:
    """The hash of everything below the directory `path`: `th1:` and 64 hexadecimal digits.

    Raises:
        IntegrityError: the tree holds what `tree.walk` refuses, or cannot be read.
    """
    return hash_records(record(node, _content_digest(node)) for node in walk(path))


def record(node: Node, content_sha256: str) -> tuple[bytes, bytes]:
    """The sorting key and the encoded record of one node; `content_sha256` is "" for a directory."""
    path = node.path.encode()
    fields = (
        path,
        b"d" if node.is_dir else b"f",
        b"x" if node.executable else b"-",
        content_sha256.encode(),
    )
    return path, b"".join(map(_netstring, fields))


def hash_records(records: Iterable[tuple[bytes, bytes]]) -> str:
    """The tree hash over `record`s given in any order."""
    digest = hashlib.sha256(_netstring(_HEADER))
    for _, encoded in sorted(records):
        digest.update(encoded)
    return f"{VERSION}:{digest.hexdigest()}"


def _content_digest(node: Node) -> str:
    if node.is_dir:
        return ""
    digest = hashlib.sha256()
    for chunk in node.chunks():
        digest.update(chunk)
    return digest.hexdigest()


def _netstring(data: bytes) -> bytes:
    return b"%d:%b," % (len(data), data)
