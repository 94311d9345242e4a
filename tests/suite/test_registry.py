from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harbor_author.suite import SuiteError, TaskId, find_suite, next_id, reserve_task, resolve_tasks, used_ids
from harbor_author.suite.git import git_environment


def append(root: Path, text: str) -> None:
    with (root / "author.toml").open("a", encoding="utf-8") as stream:
        stream.write(text)


def git(root: Path, *arguments: str) -> None:
    environment = {**git_environment(), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    environment |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, env=environment, stdout=subprocess.DEVNULL
    )


def test_every_place_counts(suite_root: Path) -> None:
    (suite_root / "tasks" / "H25-dir").mkdir()
    append(suite_root, 'retired = { M20 = "leaked" }\n\n[registers]\nreadme = "README.md"\n')
    (suite_root / "README.md").write_text(
        "| ID | x |\n|---|---|\n| [S30](tasks/S30-x) | y |\n| `H26-a` | z |\n"
    )
    suite = find_suite(suite_root)
    used = used_ids(suite)
    assert str(next_id(suite, "H")) == "H27"
    assert str(next_id(suite, "M")) == "M21"
    assert str(next_id(suite, "S")) == "S31"
    assert used[TaskId("H", 26)] == "README.md:4"
    assert used[TaskId("H", 25)] == "tasks/H25-dir"


def test_numbers_on_other_branches_are_in_use(suite_root: Path) -> None:
    git(suite_root, "init", "-q", "-b", "main")
    git(suite_root, "add", ".")
    git(suite_root, "commit", "-qm", "suite")
    git(suite_root, "checkout", "-qb", "other")
    (suite_root / "tasks" / "H40-there").mkdir()
    (suite_root / "tasks" / "H40-there" / "task.toml").write_text("")
    git(suite_root, "add", ".")
    git(suite_root, "commit", "-qm", "task")
    git(suite_root, "checkout", "-q", "main")
    git(suite_root, "update-ref", "refs/remotes/origin/far", "other")
    assert str(next_id(find_suite(suite_root), "H")) == "H41"
    git(suite_root, "branch", "-qD", "other")
    assert str(next_id(find_suite(suite_root), "H")) == "H23"
    assert str(next_id(find_suite(suite_root), "H", remotes=True)) == "H41"


def test_a_reservation_becomes_the_task_or_nothing(suite_root: Path) -> None:
    suite = find_suite(suite_root)
    with reserve_task(suite, "H", "one") as first, reserve_task(suite, "H", "two") as second:
        assert (str(first.name), str(second.name)) == ("H23-one", "H24-two")
        (first.staging / "task.toml").write_text("x")
        assert suite.tasks() == []
    assert [task.name for task in suite.tasks()] == ["H23-one", "H24-two"]
    with pytest.raises(ZeroDivisionError), reserve_task(suite, "H", "three"):
        _ = 1 / 0
    assert [path.name for path in sorted((suite_root / "tasks").iterdir())] == ["H23-one", "H24-two"]


def test_a_reservation_of_a_dead_process_is_reused(suite_root: Path) -> None:
    (suite_root / "tasks" / ".H23.new").mkdir()
    (suite_root / "tasks" / ".H23.new" / "half").write_text("x")
    with reserve_task(find_suite(suite_root), "H", "one") as reservation:
        assert list(reservation.staging.iterdir()) == []
    assert reservation.name.id == "H23"


def test_tasks_by_id_name_and_path(suite_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("H23-a", "H24-b", "odd"):
        (suite_root / "tasks" / name).mkdir()
    suite = find_suite(suite_root)
    monkeypatch.chdir(suite_root / "tasks")
    found = resolve_tasks(["H24", "H23-a", str(suite_root / "tasks" / "H23-a"), "./odd"], suite)
    assert [task.name for task in found] == ["H24-b", "H23-a", "odd"]
    assert all(task.suite is suite for task in found)
    assert [task.name for task in suite.tasks()] == ["H23-a", "H24-b", "odd"]


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("", "empty"),
        ("h23", "'H23'"),
        ("H2", "'H23'"),
        ("H23-b", "'H23-a'"),
        ("zzz", "H23"),
        ("./absent", "does not exist"),
    ],
)
def test_a_task_that_is_not_there(suite_root: Path, argument: str, word: str) -> None:
    (suite_root / "tasks" / "H23-a").mkdir()
    with pytest.raises(SuiteError) as caught:
        resolve_tasks([argument], find_suite(suite_root))
    assert word in str(caught.value)


def test_a_retired_task_is_said_to_be(suite_root: Path) -> None:
    append(suite_root, 'retired = { H4 = "answer leaked" }\n')
    (suite_root / "tasks" / "H23-a").mkdir()
    with pytest.raises(SuiteError, match="it is retired: answer leaked"):
        resolve_tasks(["H4"], find_suite(suite_root))


def test_an_id_used_twice_is_ambiguous(suite_root: Path) -> None:
    (suite_root / "tasks" / "H23-a").mkdir()
    (suite_root / "tasks" / "H23-b").mkdir()
    with pytest.raises(SuiteError, match="H23-a, H23-b"):
        resolve_tasks(["H23"], find_suite(suite_root))
