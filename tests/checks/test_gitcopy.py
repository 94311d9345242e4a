"""git on a repository inside a task: its data are read, its configuration leads nowhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harbor_author.checks.gitcopy import repository_copy
from harbor_author.checks.gitstate import history, index, look_anew, toplevel
from tests.faults.canary import watched
from tests.faults.hostile import make_canary


def git(where: Path, *arguments: str) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    subprocess.run(command, cwd=where, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit, and a later one on another branch."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a").write_text("a")
    git(root, "add", "a")
    git(root, "commit", "-qm", "first")
    git(root, "checkout", "-qb", "fix")
    (root / "a").write_text("b")
    git(root, "commit", "-qam", "the answer")
    git(root, "checkout", "-q", "main")
    return root


def test_a_hostile_configuration_is_not_followed_and_the_history_is_read(
    repository: Path, tmp_path: Path
) -> None:
    canary = make_canary(tmp_path)
    pwned = tmp_path / "pwned"
    with (repository / ".git" / "config").open("a") as config:
        config.write(
            f"[include]\n\tpath = {canary / 'file'}\n[core]\n\tworktree = {canary}\n\tfsmonitor = touch {pwned}\n"
        )
        config.write(f"\tattributesFile = {canary / 'file'}\n\texcludesFile = {canary / 'file'}\n")
    (repository / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "objects" / "info" / "alternates").write_text(f"{canary}\n")
    index.cache_clear()
    with watched(canary) as events:
        found = history(repository / ".git")
        listed = index(repository)
    assert events == []
    assert not pwned.exists()
    assert found is not None
    assert (found.ancestors, found.later, found.names) == (0, 1, ("refs/heads/fix",))
    assert listed == {"a": 0o100644}


@pytest.mark.parametrize("name", ["objects", "refs", "index", "HEAD"])
def test_a_repository_with_links_is_not_read(repository: Path, tmp_path: Path, name: str) -> None:
    (repository / ".git" / name).rename(tmp_path / "moved")
    (repository / ".git" / name).symlink_to(tmp_path / "moved")
    with repository_copy(repository / ".git") as copy:
        assert copy is None
    assert history(repository / ".git") is None


def test_the_copy_is_gone_afterwards(repository: Path) -> None:
    with repository_copy(repository / ".git") as copy:
        assert copy is not None
        assert (copy / "objects").is_dir()
    assert not copy.exists()


def test_a_git_file_of_the_tasks_own_points_nowhere(tmp_path: Path) -> None:
    task = tmp_path / "suite" / "task"
    task.mkdir(parents=True)
    (tmp_path / "suite" / ".git").mkdir()
    (task / ".git").write_text("gitdir: ../../elsewhere\n")
    assert toplevel(task) == tmp_path / "suite"


def test_a_worktree_is_a_checkout(repository: Path, tmp_path: Path) -> None:
    """Its `.git` is a file that names the folder with its index; so is a submodule's."""
    git(repository, "worktree", "add", "-q", str(tmp_path / "work"), "HEAD")
    task = tmp_path / "work/tasks/one"
    task.mkdir(parents=True)
    assert toplevel(task) == tmp_path / "work"
    assert index(tmp_path / "work") == index(repository)
    (tmp_path / "work/.git").write_text("gitdir: /nowhere\n")
    look_anew()
    assert toplevel(task) != tmp_path / "work"
