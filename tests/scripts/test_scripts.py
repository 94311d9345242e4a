"""The scripts that a fresh machine meets first."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

SCRIPTS = [path for path in sorted((REPOSITORY / "scripts").iterdir()) if path.is_file()]
LIBRARIES = sorted((REPOSITORY / "scripts" / "lib").glob("*.sh"))
CI = REPOSITORY / ".ci" / "run"


def bash(script: str, *, root: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run bash lines that may use the libraries' functions, for a checkout at `root`."""
    preamble = "set -euo pipefail\n" + "".join(f"source '{path}'\n" for path in LIBRARIES)
    return subprocess.run(
        ["bash", "-c", preamble + "step_dir=$(mktemp -d)\ntrap 'rm -rf \"$step_dir\"' EXIT\n" + script],
        env={**os.environ, "root": str(root), "HARBOR_AUTHOR_STATE": str(root / "state"), **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("script", [*SCRIPTS, CI], ids=lambda path: path.name)
def test_script_is_executable_and_parses(script: Path) -> None:
    assert os.access(script, os.X_OK)
    data = script.read_bytes()
    assert b"\r" not in data
    if data.startswith(b"#!/usr/bin/env bash"):
        done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name)
def test_library_parses(library: Path) -> None:
    done = subprocess.run(["bash", "-n", library], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_option_prints_usage_and_changes_nothing() -> None:
    done = subprocess.run(
        [REPOSITORY / "scripts" / "setup", "--help-me"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--no-engine" in done.stderr
    assert "ok" not in done.stderr


def test_step_stops_at_the_first_failing_command(tmp_path: Path) -> None:
    done = bash(
        'work() { echo before; false; touch "$root/after"; }; step "some work" work; echo went on',
        root=tmp_path,
    )
    assert done.returncode == 2
    assert "some work: failed" in done.stderr
    assert "  | before" in done.stderr
    assert not (tmp_path / "after").exists()
    assert "went on" not in done.stdout


def test_step_prints_one_line_with_its_note(tmp_path: Path) -> None:
    done = bash('work() { echo noise; note "the note"; }; step "some work" work', root=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["setup: some work: ok (the note), 0 s"]
    assert done.stdout == ""


def test_stop_leaves_a_foreign_process_alone(tmp_path: Path) -> None:
    """A process number in an old pid file may be another process by now."""
    engine = tmp_path / "state" / "engine"
    engine.mkdir(parents=True)
    (engine / "docker.pid").write_text(str(os.getpid()), encoding="ascii")
    done = bash('kill() { echo "killed $*"; }; step "container engine" stop_engine', root=tmp_path)
    assert done.returncode == 0
    assert "none that this project started" in done.stderr


def test_environment_is_renewed_when_the_declaration_changes(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    for name in ("python", "author"):
        (scripts / name).write_text("#!/bin/sh\necho 3.11\n", encoding="utf-8")
        (scripts / name).chmod(0o755)
    assert (
        bash('environment_stamp >"$venv/.setup-stamp"; environment_is_current', root=tmp_path).returncode == 0
    )
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'other'\n", encoding="utf-8")
    assert bash("environment_is_current", root=tmp_path).returncode == 1


def test_second_script_waits_for_the_first(tmp_path: Path) -> None:
    """Two set-ups at once: the second says that it waits, and goes on when the first has ended."""
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with subprocess.Popen(
        ["bash", "-c", f"source '{REPOSITORY}/scripts/lib/common.sh'; lock '{tmp_path}'; echo in"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as second:
        assert second.stderr is not None
        assert "waiting for it" in second.stderr.readline()
        os.close(held)
        assert second.communicate(timeout=30)[0] == "in\n"


@pytest.mark.host
def test_demo_runs_the_main_job(tmp_path: Path) -> None:
    """Environment, engine, image; then a fresh task, valid and proved, each command shown before it runs."""
    done = subprocess.run(
        [REPOSITORY / "scripts" / "demo"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    commands = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("$ author ")]
    assert commands == ["init", "new", "validate", "oracle-check"]
    assert "PASS" in done.stdout
    assert list(tmp_path.iterdir()) == []
