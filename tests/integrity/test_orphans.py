"""Requirements 86 to 90: what crashed runs leave, and who may remove it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harbor_author.integrity import (
    IntegrityError,
    fixture,
    owner_alive,
    owner_token,
    reap_orphans,
    remove_tree,
    tally,
    with_fixture_copy,
    workspace_environment,
)
from harbor_author.integrity.owner import UNKNOWN_TTL_S, Owner, is_orphan, parse_owner
from tests.integrity.support import PREFIX

DAY_S = 24 * 3600.0


def dead_token() -> str:
    """The token of a process that has ended."""
    code = "from harbor_author.integrity import owner_token; print(owner_token())"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def dead() -> str:
    return dead_token()


def orphan(folder: Path, token: str, *, age_s: float = 0, prefix: str = PREFIX) -> Path:
    path = folder / f"{prefix}{token}.abc"
    (path / "workspace").mkdir(parents=True)
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


def test_owner_tokens_tell_processes_apart(dead: str) -> None:
    own = parse_owner(owner_token())
    assert own is not None
    assert owner_alive(owner_token())
    assert not owner_alive(dead)
    assert not owner_alive(str(Owner(own.pid, own.start_ticks + 1, own.boot, own.namespace))), (
        "a reused number"
    )
    assert not owner_alive(str(Owner(own.pid, own.start_ticks, "0123456789ab", own.namespace))), (
        "another boot"
    )
    assert owner_alive(str(Owner(own.pid, 1, own.boot, own.namespace + 1))), (
        "another namespace cannot be asked"
    )
    for text in ("", "x", "1-2-3", "1-2-3-4-5", "-1-2-a-3", "a-b-c-d", "1-2-../..-4"):
        assert parse_owner(text) is None
        assert owner_alive(text)


def test_a_zombie_owns_nothing() -> None:
    code = "from harbor_author.integrity import owner_token; print(owner_token(), flush=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    token = process.stdout.readline().strip()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not owner_alive(token)
    process.communicate()


def test_r86_directories_are_counted(source: Path, temporary: Path) -> None:
    before = tally()
    for _ in range(3):
        with_fixture_copy(source, lambda _: None, prefix=PREFIX)
    after = tally()
    assert (after.created - before.created, after.removed - before.removed, after.failed - before.failed) == (
        3,
        3,
        0,
    )


def test_r87_prefix_age_and_a_dead_owner(temporary: Path, dead: str) -> None:
    ours = orphan(temporary, dead, age_s=3600)
    keep = [
        orphan(temporary, owner_token(), age_s=10 * DAY_S),  # alive
        orphan(temporary, dead, age_s=10 * DAY_S, prefix="someone-elses-"),
        orphan(temporary, "notes", age_s=UNKNOWN_TTL_S - 60),  # nobody can be asked
    ]
    (temporary / f"{PREFIX}{dead}.file").write_text("a file, not a copy")
    (temporary / f"{PREFIX}{dead}.link").symlink_to(keep[1])
    for name in ("file", "link"):
        os.utime(temporary / f"{PREFIX}{dead}.{name}", (0, 0), follow_symlinks=False)
    assert reap_orphans(PREFIX).removed == (ours.name,)
    assert not ours.exists()
    assert all(path.exists() for path in keep)
    assert {f"{PREFIX}{dead}.{name}" for name in ("file", "link")} <= {
        path.name for path in temporary.iterdir()
    }
    stale = orphan(temporary, "stale", age_s=UNKNOWN_TTL_S + 60)
    assert reap_orphans(PREFIX).removed == (stale.name,)
    for path in list(temporary.iterdir()):
        remove_tree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def test_r87_what_is_younger_than_the_limit_and_than_this_run_stays(dead: str) -> None:
    now = time.time()
    assert not is_orphan(dead, now, ttl_s=60)
    assert is_orphan(dead, now - 61, ttl_s=60)
    assert is_orphan(dead, now - DAY_S, ttl_s=10 * DAY_S), "older than this process"
    assert is_orphan(dead, now + 7 * DAY_S), "the clock was set back"
    assert not is_orphan(owner_token(), now - 100 * DAY_S)


@pytest.mark.parametrize(
    "prefix",
    ["", "a", "tmp", "../x-long-enough-", "/tmp/long-enough-", "*-long-enough-", "noend", "UPPER-CASE-"],
)
def test_r87_a_prefix_that_could_match_anything_is_refused(
    temporary: Path, source: Path, prefix: str
) -> None:
    with pytest.raises(IntegrityError, match="prefix"):
        reap_orphans(prefix)
    with pytest.raises(IntegrityError, match="prefix"):
        with_fixture_copy(source, lambda _: None, prefix=prefix)


def test_r88_processes_of_a_copy_end_before_it_is_removed(source: Path, temporary: Path) -> None:
    processes = []

    def operation(workspace: Path) -> None:
        loop = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
        inside = subprocess.Popen(loop, cwd=workspace, stdout=subprocess.PIPE)
        marked = subprocess.Popen(
            loop,
            cwd="/",
            env=workspace_environment(workspace),
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for process in (inside, marked):
            assert process.stdout is not None
            process.stdout.readline()
            processes.append(process)

    bystander = subprocess.Popen(["sleep", "600"], cwd=temporary)
    try:
        with_fixture_copy(source, operation, prefix=PREFIX)
        assert [process.wait(10) for process in processes] == [-9, -9]
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
        for process in processes:
            process.communicate()


def test_r89_removal_is_tried_again_a_bounded_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t" / "a").mkdir(parents=True)
    real, calls = os.rmdir, []

    def flaky(path: str, **named: int) -> None:
        calls.append(path)
        if len(calls) < 2:
            raise OSError(39, "Directory not empty")
        real(path, **named)

    monkeypatch.setattr(os, "rmdir", flaky)
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "t").exists()

    def busy(*_: object, **__: object) -> None:
        calls.append("busy")
        raise OSError(16, "Device or resource busy")

    (tmp_path / "t").mkdir()
    calls.clear()
    monkeypatch.setattr(Path, "rmdir", busy)
    with pytest.raises(OSError, match="busy"):
        remove_tree(tmp_path / "t")
    assert calls == ["busy"] * 3


def test_r89_deep_locked_and_crowded_trees_are_removed(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    here = Path.cwd()
    try:
        os.chdir(root)
        for _ in range(3000):  # far deeper than a path may be long, or a recursion go
            Path("d").mkdir()
            os.chdir("d")
        Path("file").touch()
    finally:
        os.chdir(here)
    (root / "locked" / "inner").mkdir(parents=True)
    (root / "locked" / "inner" / "file").touch()
    (root / "locked" / "inner").chmod(0)
    (root / "locked").chmod(0)
    os.mkfifo(root / "fifo")
    root.chmod(0o500)
    remove_tree(root)
    assert not root.exists()
    remove_tree(root)  # what is gone is gone


def test_r90_tests_have_a_prefix_and_a_net_of_their_own(temporary: Path) -> None:
    assert PREFIX != fixture.PREFIX
    assert not PREFIX.startswith(fixture.PREFIX)
