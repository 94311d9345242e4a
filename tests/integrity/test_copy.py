"""Requirements 65 to 75: how a working copy is made."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from harbor_author.integrity import (
    CopyError,
    IntegrityError,
    copy_tree,
    tally,
    tree_hash,
    with_fixture_copy,
)
from harbor_author.integrity.fixture import PREFIX as DEFAULT_PREFIX
from tests.integrity.support import PREFIX


def test_r65_a_unique_parent_and_a_fixed_child(source: Path, temporary: Path) -> None:
    first = with_fixture_copy(source, lambda path: path)
    second = with_fixture_copy(source, lambda path: path)
    assert first != second
    for workspace in (first, second):
        assert workspace.name == "workspace"
        assert workspace.parent.name.startswith("coding-agent-eval-")
        assert workspace.parent.parent == temporary.resolve()
    assert DEFAULT_PREFIX == "coding-agent-eval-"


def test_r66_nothing_that_exists_is_deleted_beforehand(source: Path, temporary: Path) -> None:
    mine = [temporary / name for name in ("fix-sum", "workspace", PREFIX + "mine", "coding-agent-eval-notes")]
    for folder in mine:
        folder.mkdir()
        (folder / "keep").write_text("keep")
    with_fixture_copy(source, lambda _: None, prefix=PREFIX)
    for folder in mine:
        assert (folder / "keep").read_text() == "keep"
        shutil.rmtree(folder)


def test_r67_r68_what_a_copy_holds(source: Path, tmp_path: Path) -> None:
    (source / "run.sh").chmod(0o4711)
    (source / "src" / "main.py").chmod(0o400)
    old = os.umask(0o077)
    try:
        copied = copy_tree(source, tmp_path / "copy")
    finally:
        os.umask(old)
    found = {
        path.relative_to(tmp_path / "copy").as_posix(): stat.filemode(path.lstat().st_mode)
        for path in (tmp_path / "copy").rglob("*")
    }
    assert found == {
        ".hidden": "-rw-r--r--",
        "empty": "drwxr-xr-x",
        "run.sh": "-rwxr-xr-x",
        "src": "drwxr-xr-x",
        "src/main.py": "-rw-r--r--",
    }
    assert (tmp_path / "copy" / ".hidden").read_bytes() == b"\x00\xff\r\n"
    assert (copied.entries, copied.hash) == (5, tree_hash(source))


def test_r67_hard_links_of_the_source_are_cut(source: Path, tmp_path: Path, temporary: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("outside")
    os.link(outside, source / "hard")
    with_fixture_copy(source, lambda path: (path / "hard").write_text("changed"), prefix=PREFIX)
    assert outside.read_text() == "outside"


def test_r69_the_copy_is_hashed_before_anyone_starts(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fchmod

    def damaging(descriptor: int, mode: int) -> None:
        real(descriptor, mode ^ 0o111)

    monkeypatch.setattr(os, "fchmod", damaging)
    with pytest.raises(CopyError, match="not equal to its source"):
        with_fixture_copy(source, lambda _: pytest.fail("started"), prefix=PREFIX)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_r70_r72_a_failed_write_starts_nothing_and_leaves_nothing(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    real = os.fdopen

    class Full:
        def __init__(self, descriptor: int, mode: str) -> None:
            self.stream = real(descriptor, mode)

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.stream.close()

        def write(self, data: bytes) -> int:
            self.stream.write(data[:1])
            raise OSError(code, os.strerror(code))

    before, count = tree_hash(source), tally()
    monkeypatch.setattr(os, "fdopen", Full)
    with pytest.raises(CopyError, match="could not be written") as caught:
        with_fixture_copy(source, lambda _: pytest.fail("started"), prefix=PREFIX)
    monkeypatch.undo()
    assert isinstance(caught.value.__cause__, OSError)
    assert list(temporary.iterdir()) == []
    assert tree_hash(source) == before
    assert tally().removed == count.removed + 1


def test_r70_the_source_is_still_checked_after_a_failed_copy(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.mkdir

    def failing(self: Path, *arguments: Any, **named: Any) -> None:
        if self.name == "src":
            (source / "run.sh").write_text("changed")
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", failing)
    with pytest.raises(IntegrityError, match="源 fixture 被污染") as caught:
        with_fixture_copy(source, lambda _: pytest.fail("started"), prefix=PREFIX)
    assert isinstance(caught.value.__cause__, CopyError)


def test_r71_a_disk_that_is_too_small_is_told_before_writing(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(temporary)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    written: list[Path] = []
    real = Path.mkdir

    def recording(self: Path, *arguments: Any, **named: Any) -> None:
        written.append(self)
        real(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", recording)
    with pytest.raises(CopyError, match=r"needs [\d,]+ bytes and 1,048,576 are free"):
        with_fixture_copy(source, lambda _: pytest.fail("started"), prefix=PREFIX)
    assert written == []


def test_r73_r75_no_dependencies_and_no_version_control_in_a_copy(source: Path, temporary: Path) -> None:
    (source / ".git" / "config").write_text("[remote]\nurl = https://user:token@example.org\n")
    (source / ".git" / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    names = with_fixture_copy(source, lambda path: {entry.name for entry in path.rglob("*")}, prefix=PREFIX)
    assert names == {".hidden", "empty", "run.sh", "src", "main.py"}
