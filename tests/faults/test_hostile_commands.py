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

#: What reads texts. A manifest and a publication digest every byte, block by block; that takes its time.
HUGE = [
    ["list"],
    ["next-id"],
    ["validate"],
    ["fix", "--dry-run"],
    ["sync", "--check"],
    ["report"],
    ["vendor", "--check"],
]


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


@pytest.fixture(scope="module")
def endless_lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with a line of a gigabyte (most of it a hole) in each of the places, in a task of its own."""
    root = tmp_path_factory.mktemp("lines")
    (root / "references").mkdir()
    (root / "author.toml").write_text('[suite]\nname = "scratch"\n')
    for number, place in enumerate(PLACES, 1):
        task = root / "tasks" / f"H{number}-hostile"
        for name, text in _TASK.items():
            (task / name).parent.mkdir(parents=True, exist_ok=True)
            (task / name).write_text(text)
        with (task / place).open("ab") as stream:
            stream.truncate(1 << 30)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("arguments", HUGE, ids=" ".join)
def test_a_line_of_a_gigabyte_is_not_taken_into_memory(endless_lines: Path, arguments: list[str]) -> None:
    with (endless_lines / "out").open("w+") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "harbor_author", *arguments],
            cwd=endless_lines,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    assert process.returncode in (0, 1, 2), text[-2000:]
    assert "Traceback" not in text
    assert "unforeseen" not in text
    assert usage.ru_maxrss < 300 << 10, "KiB"
    assert usage.ru_utime + usage.ru_stime < 60
    assert len(text) < 100_000


@pytest.mark.engine
def test_a_proof_refuses_them_before_it_reads_anything(suite: Path) -> None:
    with watched(suite.parent / "canary") as events:
        done = run(["oracle-check", "--all"], suite)
    assert events == []
    assert done.returncode == 1, done.stderr[-2000:]
    assert done.stdout.count("which a task may not hold") == len(PLACES) * 3
