"""Commands on a suite whose tasks have a link, a FIFO or an endless device in the place of a file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.faults.canary import watched
from tests.faults.hostile import _TASK, CANARY_TEXT, make_canary

PLACES = [
    "task.toml",
    "tests/test.sh",
    "tests/judge.mjs",
    "instruction.md",
    "environment/Dockerfile",
    "proof.json",
]
PLACES += [
    "solution/solve.sh",
    "solution/SOLUTION.md",
    "CHANGES.md",
    "README.md",
    "tests/ground-truth.json",
    ".gitignore",
]
COMMANDS = [
    ["list"], ["next-id"], ["validate"], ["fix", "--dry-run"], ["sync", "--check"], ["manifest", "--check"], ["report"],
    ["proof", "check"], ["publish", "H1"], ["vendor", "--check"], ["rename", "H1", "H900-x", "--dry-run"],
]  # fmt: skip


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile") / "suite"
    (root / "tasks").mkdir(parents=True)
    (root / "references").mkdir()
    canary = make_canary(root.parent)
    registers = '[registers]\nreadme = "README.md"\nscoring = "scoring.md"\n'
    (root / "author.toml").write_text(f'[suite]\nname = "scratch"\n{registers}')
    for name in ("README.md", "scoring.md"):
        (root / name).write_text("<!-- author:tasks:begin -->\n<!-- author:tasks:end -->\n")
    number = 0
    for place in PLACES:
        for kind in ("fifo", "link", "endless"):
            number += 1
            task = root / "tasks" / f"H{number}-hostile"
            for name, text in _TASK.items():
                (task / name).parent.mkdir(parents=True, exist_ok=True)
                (task / name).write_text(text)
            (task / place).unlink(missing_ok=True)
            if kind == "fifo":
                os.mkfifo(task / place)
            else:
                (task / place).symlink_to(canary / "file" if kind == "link" else "/dev/zero")
    return root


def run(arguments: list[str], suite: Path) -> subprocess.CompletedProcess[str]:
    limit = 4 << 30
    return subprocess.run(
        [sys.executable, "-m", "harbor_author", *arguments],
        cwd=suite,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_command_reads_through_them(suite: Path, arguments: list[str]) -> None:
    with watched(suite.parent / "canary") as events:
        done = run(arguments, suite)
    assert events == []
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert "unforeseen" not in done.stderr, done.stderr[-2000:]
    assert CANARY_TEXT not in done.stdout + done.stderr


@pytest.mark.engine
def test_a_proof_refuses_them_before_it_reads_anything(suite: Path) -> None:
    with watched(suite.parent / "canary") as events:
        done = run(["oracle-check", "--all"], suite)
    assert events == []
    assert done.returncode == 1, done.stderr[-2000:]
    assert done.stdout.count("which a task may not hold") == len(PLACES) * 3
