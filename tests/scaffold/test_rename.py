from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from harbor_author.scaffold import ScaffoldError, rename_task
from harbor_author.suite import SuiteError, find_suite, resolve_tasks


@pytest.fixture
def task_dir(suite_root: Path) -> Path:
    task = suite_root / "tasks" / "H23-old-one"
    files = {
        "task.toml": '[task]\nname = "scratch/h23"\n',
        "instruction.md": "# H23: upgrade\n",
        "tests/judge.mjs": "const PROFILE = 'bench-h23-old-one'; // H23-old-one, not H230 or xH23\n",
        "tests/test.sh": "#!/bin/bash\n",
        "environment/fixture/package.json": '{"name": "h23-old-one-plugin"}\n',
        "provenance/SOURCE.md": "H23-old-one\n",
        "proof.json": "{}\n",
    }
    for name, text in files.items():
        path = task / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (task / "tests" / "test.sh").chmod(0o755)
    (task / "environment" / "fixture" / "blob.bin").write_bytes(b"\0H23-old-one")
    return task


def rename(suite_root: Path, target: str, **options: bool):  # type: ignore[no-untyped-def]
    suite = find_suite(suite_root)
    return rename_task(suite, resolve_tasks(["H23"], suite)[0], target, **options)


def test_another_id_reaches_every_mention(suite_root: Path, task_dir: Path) -> None:
    result = rename(suite_root, "M15-new-one")
    new = suite_root / "tasks" / "M15-new-one"
    assert result.path == new
    assert not task_dir.exists()
    assert (new / "task.toml").read_text() == '[task]\nname = "scratch/m15"\n'
    assert (new / "instruction.md").read_text() == "# M15: upgrade\n"
    assert (new / "tests/judge.mjs").read_text() == (
        "const PROFILE = 'bench-m15-new-one'; // M15-new-one, not H230 or xH23\n"
    )
    assert (new / "environment/fixture/package.json").read_text() == '{"name": "m15-new-one-plugin"}\n'
    assert (new / "environment/fixture/blob.bin").read_bytes() == b"\0H23-old-one"
    assert (new / "provenance/SOURCE.md").read_text() == "H23-old-one\n"
    assert (new / "tests/test.sh").stat().st_mode & 0o777 == 0o755
    assert not (new / "proof.json").exists()
    assert result.receipt
    assert result.mentions == {
        "environment/fixture/package.json": 1,
        "instruction.md": 1,
        "task.toml": 1,
        "tests/judge.mjs": 2,
    }


def test_another_slug_keeps_the_id(suite_root: Path, task_dir: Path) -> None:
    rename(suite_root, "new-one")
    new = suite_root / "tasks" / "H23-new-one"
    assert (new / "instruction.md").read_text() == "# H23: upgrade\n"
    assert "bench-h23-new-one" in (new / "tests/judge.mjs").read_text()


def test_a_file_too_long_to_be_written_by_hand_is_not_read(suite_root: Path, task_dir: Path) -> None:
    data = task_dir / "environment/fixture/data.txt"
    data.write_text("H23-old-one\n")
    os.truncate(data, 1 << 40)  # nobody has the memory for it
    assert "environment/fixture/data.txt" not in rename(suite_root, "new-one", dry_run=True).mentions


def test_a_dry_run_changes_nothing(suite_root: Path, task_dir: Path) -> None:
    before = {path: path.read_bytes() for path in task_dir.rglob("*") if path.is_file()}
    result = rename(suite_root, "new-one", dry_run=True)
    assert result.mentions
    assert {path: path.read_bytes() for path in task_dir.rglob("*") if path.is_file()} == before
    assert [path.name for path in (suite_root / "tasks").iterdir()] == ["H23-old-one"]


def test_a_task_that_another_process_is_making_is_not_touched(suite_root: Path, task_dir: Path) -> None:
    theirs = suite_root / "tasks" / ".H23.new"
    theirs.mkdir()
    (theirs / "task.toml").write_text("of another process\n")
    held = os.open(theirs, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ScaffoldError):
            rename(suite_root, "new-one")
    finally:
        os.close(held)
    assert (theirs / "task.toml").read_text() == "of another process\n"
    assert task_dir.is_dir()


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("H22-x", "in use"),
        ("old-one", "already"),
        ("X9-x", "series"),
        ("Bad Slug", "--slug bad-slug"),
        ("H23-old-one", "exists"),
    ],
)
def test_targets_that_cannot_be(suite_root: Path, task_dir: Path, target: str, word: str) -> None:
    with pytest.raises((ScaffoldError, SuiteError)) as caught:
        rename(suite_root, target)
    assert word in str(caught.value)
    assert task_dir.is_dir()


def test_a_task_with_a_pipe_is_not_renamed(suite_root: Path, task_dir: Path) -> None:
    os.mkfifo(task_dir / "tests" / "pipe")
    with pytest.raises(ScaffoldError, match="tests/pipe: is no regular file"):
        rename(suite_root, "new-one", dry_run=True)


def test_a_task_with_a_link_is_not_renamed(suite_root: Path, task_dir: Path) -> None:
    (task_dir / "link").symlink_to("/etc/passwd")
    with pytest.raises(ScaffoldError, match="symbolic link"):
        rename(suite_root, "new-one")
    assert task_dir.is_dir()
