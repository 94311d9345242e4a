"""Splitting tasks over machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_author.proof.errors import ProofError
from harbor_author.proof.shards import Shard, parse_shard, select
from harbor_author.suite import Task

TASKS = [Task(Path(f"/t/H{number}-x")) for number in range(1, 60)]


def test_every_task_is_in_one_part_and_stays_there() -> None:
    parts = [select(TASKS, Shard(index, 5)) for index in range(1, 6)]
    assert sorted(task.name for part in parts for task in part) == sorted(task.name for task in TASKS)
    assert all(parts)
    assert select(TASKS[:9], Shard(2, 5)) == [task for task in TASKS[:9] if task in parts[1]]


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3\n"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ProofError, match="is no shard"):
        parse_shard(text)
