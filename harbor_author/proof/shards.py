"""Splitting a set of tasks over machines by a stable hash, so that each has its own and none is missed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from harbor_author.proof.errors import ProofError
from harbor_author.suite import Task


@dataclass(frozen=True)
class Shard:
    """Part `index` of `count`, counted from 1."""

    index: int
    count: int


def parse_shard(text: str) -> Shard:
    """Read `3/16`.

    Raises:
        ProofError: it is no such thing.
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ProofError(f"{text!r} is no shard", hint="give it as 3/16: part 3 of 16")
    return Shard(int(match[1]), int(match[2]))


def select(tasks: Sequence[Task], shard: Shard) -> list[Task]:
    """The tasks of one part. A task stays in its part whatever other tasks there are."""
    return [task for task in tasks if _place(task.label) % shard.count == shard.index - 1]


def _place(label: str) -> int:
    return int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "big")
