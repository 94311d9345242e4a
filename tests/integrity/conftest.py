"""Each test has a folder for temporary files of its own, which must be empty of working copies when it ends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which working copies are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert [path.name for path in folder.iterdir()] == [], "a working copy was left behind"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small fixture with a hidden file, an executable, an empty directory and what copies leave out."""
    folder = tmp_path / "source"
    (folder / "src").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "src" / "main.py").write_text("print('original')\n")
    (folder / "run.sh").write_text("#!/bin/sh\necho run\n")
    (folder / "run.sh").chmod(0o755)
    (folder / ".hidden").write_bytes(b"\x00\xff\r\n")
    for ignored in (".git/hooks", "node_modules/left-pad", "src/__pycache__"):
        (folder / ignored).mkdir(parents=True)
        (folder / ignored / "file").write_text("not part of it")
    return folder
