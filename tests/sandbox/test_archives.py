"""Archives into containers, and the copy that an image is built from."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from harbor_author.sandbox.archives import Archive, copy_tree
from harbor_author.sandbox.engine import SandboxError


def test_a_tree_keeps_modes_and_makes_only_the_script_executable(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name, mode in (("solve.sh", 0o644), ("lib/tool", 0o755), ("data", 0o600)):
        (tmp_path / name).write_text(name)
        (tmp_path / name).chmod(mode)
    archive = Archive().tree(tmp_path, ["data", "lib/tool", "solve.sh"], "/solution", frozenset(["solve.sh"]))
    with tarfile.open(fileobj=archive.finish()) as read:
        modes = {member.name: member.mode for member in read if member.isreg()}
        assert {member.uid for member in read} == {0}
    assert modes == {"solution/data": 0o600, "solution/lib/tool": 0o755, "solution/solve.sh": 0o755}


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/passwd"), lambda path: os.mkfifo(path)])
def test_links_and_special_files_are_refused_without_being_opened(tmp_path: Path, make) -> None:
    make(tmp_path / "odd")
    with pytest.raises(SandboxError, match="link or a special file"):
        Archive().tree(tmp_path, ["odd"], "/tests")
    (tmp_path / "copy").mkdir()
    source = tmp_path / "source"
    source.mkdir()
    make(source / "odd")
    with pytest.raises(SandboxError, match="may not hold"):
        copy_tree(source, tmp_path / "copy")
