"""Which tasks a proof is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import AuthorRunner


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "is a shell variable unset"),
        (["/"], "is no task's directory"),
        ([], "name at least one task"),
        (["--all", "H1"], "either tasks or --all"),
        (["/etc", "--shard", "3/2"], "is no shard"),
    ],
)
def test_what_names_no_task_is_refused(
    author: AuthorRunner, tmp_path: Path, arguments: list[str], message: str
) -> None:
    ran = author("oracle-check", *arguments)
    assert ran.status == 2
    assert message in ran.err


def test_a_suite_without_tasks_is_no_green_gate(author: AuthorRunner, suite_root: Path) -> None:
    ran = author("oracle-check", "--all", cwd=suite_root, env={"DOCKER_HOST": "unix:///nowhere.sock"})
    assert (ran.status, ran.out) == (2, "")
    assert "holds no task" in ran.err
