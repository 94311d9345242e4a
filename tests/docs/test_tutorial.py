"""The tutorial is run as a reader would, and must show what its commands print."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.lib import pages
from tests.conftest import REPOSITORY

TUTORIAL = REPOSITORY / "docs" / "tutorial.md"


@pytest.fixture
def bin_dir(tmp_path: Path) -> Path:
    """A folder for PATH with the `author` under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "author"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={REPOSITORY} exec {sys.executable} -m harbor_author "$@"\n')
    script.chmod(0o755)
    return folder


def walk(page: Path, tmp_path: Path, bin_dir: Path, *, engine: bool) -> int:
    scratch = tmp_path / "reader"
    scratch.mkdir()
    count = 0
    for step, printed, status in pages.run(page.read_text(encoding="utf-8"), scratch, bin_dir, engine=engine):
        where = f"{page.name}:{step.line}: {step.command}"
        assert status == step.status, f"{where}{printed}"
        if step.kind == "console":
            assert pages.same(step.shown, printed), (
                f"{where}printed:\n{printed}\nscripts/make-tutorial brings the page up to date"
            )
        count += 1
    return count


@pytest.mark.slow
def test_the_tutorial_until_its_first_proof(tmp_path: Path, bin_dir: Path) -> None:
    assert walk(TUTORIAL, tmp_path, bin_dir, engine=False) > 10


@pytest.mark.host
def test_the_whole_tutorial(tmp_path: Path, bin_dir: Path) -> None:
    assert walk(TUTORIAL, tmp_path, bin_dir, engine=True) == len(
        pages.steps(TUTORIAL.read_text(encoding="utf-8"))
    )


def test_a_page_that_shows_something_else_is_told_apart() -> None:
    shown = "M1: PASS\n  untouched      0  ok  (4.8 s, judge 1.5 s)\n"
    assert pages.same(shown, "M1: PASS\n  untouched    0  ok  (12.8 s, judge 0.7 s)\n")
    assert not pages.same(shown, shown.replace("PASS", "FAIL"))
    assert not pages.same(shown, shown.replace("  0  ok", "  5  ok"))
    assert not pages.same(shown, shown + "one line more\n")


def test_outputs_are_written_where_they_stand() -> None:
    page = "a\n```console\n$ one\nold\nolder\n$ two\n```\nb\n```sh\nthree\n```\n```console status=1\n$ four\n```\n"
    found = pages.steps(page)
    assert [(step.command, step.status) for step in found] == [
        ("one\n", 0),
        ("two\n", 0),
        ("three\n", 0),
        ("four\n", 1),
    ]
    new = pages.with_outputs(page, list(zip(found, ["new\n", "", "x\n", "last\n"], strict=True)))
    assert new == page.replace("old\nolder\n", "new\n").replace("$ four\n", "$ four\nlast\n")
