"""Repositories that would have git run something or lead it elsewhere, before the commands that read a history."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.faults.hostile import CANARY_TEXT, GIT_KINDS, make_astray, make_canary

COMMANDS = {
    "survey": ["survey", "<repository>"],
    "extract": ["extract", "<repository>", "HEAD", "--series", "M", "--slug", "astray"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", GIT_KINDS)
def test_a_repository_has_nothing_run_and_nothing_changed(tmp_path: Path, kind: str, command: str) -> None:
    canary = make_canary(tmp_path)
    before = {path: path.lstat().st_mtime_ns for path in canary.rglob("*")}
    suite = tmp_path / "suite"
    (suite / "tasks").mkdir(parents=True)
    (suite / "references").mkdir()
    (suite / "author.toml").write_text('[suite]\nname = "scratch"\n')
    repository = tmp_path / "plugin"
    repository.mkdir()
    make_astray(repository, canary, random.Random(1), kind)
    done = subprocess.run(
        [sys.executable, "-m", "harbor_author"]
        + [str(repository) if word == "<repository>" else word for word in COMMANDS[command]],
        cwd=suite,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert "unforeseen" not in done.stderr, done.stderr[-2000:]
    assert not (tmp_path / "pwned").exists()
    assert {path: path.lstat().st_mtime_ns for path in canary.rglob("*")} == before
    made = [path.read_bytes() for path in suite.rglob("*") if path.is_file()]
    assert CANARY_TEXT not in done.stdout + done.stderr
    assert not any(CANARY_TEXT.encode() in data for data in made)


def test_the_settings_do_run_something_where_git_is_asked_without_care(tmp_path: Path) -> None:
    canary = make_canary(tmp_path)
    for seed in range(8):
        repository = tmp_path / f"plugin-{seed}"
        repository.mkdir()
        make_astray(repository, canary, random.Random(seed), "settings")
        (repository / "index.js").write_text("changed\n")
        for arguments in (["status"], ["diff"], ["log", "-p", "-1"]):
            subprocess.run(["git", *arguments], cwd=repository, capture_output=True, check=False)
    assert (tmp_path / "pwned").exists()
