"""Numbers and nesting that a parser of Python's gives up on are a fault of the file, in a sentence."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harbor_author.cli.main import main
from tests.faults.commands import make_suite

DIGITS = "9" * 1_000_000
DEEP = "[" * 100_000
PLACES = {
    "author.toml": (["list"], f"\n[x]\nz = {DIGITS}\n", "too long"),
    "tasks/H23-first/task.toml": (["list"], f"\n[metadata.x]\nz = {DIGITS}\n", ""),
    "tasks/H23-first/proof.json": (["proof", "show", "H23"], f'{{"x": {DIGITS}}}', ""),
    "manifest.json": (["manifest", "--check"], f'{{"schema": "author/manifest/1", "x": {DIGITS}}}', "manifest"),
    "truth.json": (["score", "README.md", "--truth", "truth.json"], f'{{"x": {DIGITS}}}', "too long"),
    "deep.json": (["score", "README.md", "--truth", "deep.json"], DEEP, "nested too deeply"),
    "deep/author.toml": (["list", "--suite", "deep"], f"a = {DEEP}", "nested too deeply"),
}  # fmt: skip


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("numbers") / "suite"
    make_suite(root)
    return root


@pytest.mark.parametrize("place", PLACES)
def test_a_number_without_end_is_no_fault_of_ours(
    suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
) -> None:
    arguments, text, said = PLACES[place]
    root = tmp_path / "suite"
    shutil.copytree(suite, root)
    (root / place).parent.mkdir(exist_ok=True)
    with (root / place).open("a") as stream:
        stream.write(text)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["author", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert "unforeseen" not in shown.err
    assert said in shown.err
    assert len(shown.out + shown.err) < 5000
    assert ended.value.code == 2 or not said
