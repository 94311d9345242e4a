"""The Python judge library, as a judge uses it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

LIBRARY = REPOSITORY / "templates" / "library"


class Bench:
    """A fixture with its baseline, and a judge over it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("fixture", "baseline"):
            (root / name).mkdir()
            (root / name / "sum.py").write_text("print(1)\n")
        (root / "work").mkdir()

    def judge(self, body: str, **spec: Any) -> dict[str, Any]:
        """Run a judge whose `grade` has this body; its standard output is the one line."""
        known = {
            "task": "H1-x",
            "mode": "mutable",
            "checks": {"a": 40, "b": 60},
            "steps": {"one": 20, "two": 20},
            "fixture": str(self.root / "fixture"),
            "baseline": str(self.root / "baseline"),
            "work_root": str(self.root / "work"),
        } | spec
        lines = "\n".join(f"    {line}" for line in body.split("\n"))
        script = self.root / "judge.py"
        script.write_text(
            f"import os, signal, sys, time\nfrom judge_utils import *\nroot = {str(self.root)!r}\n"
            f"def grade(judge):\n{lines}\nJudge(**{known!r}).run(grade)\n"
        )
        env = {**os.environ, "PYTHONPATH": str(LIBRARY), "NODE_OPTIONS": "--bad", "SECRET": "x"}
        done = subprocess.run(
            [sys.executable, script], env=env, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\n") == 1, done.stdout
        assert list((self.root / "work").iterdir()) == []
        result = json.loads(done.stdout)
        assert result["max"] == 100
        assert ("error" in result) == any(
            reason.startswith("evaluator error") for reason in result["reasons"]
        )
        return result  # type: ignore[no-any-return]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_points_bands_and_caps(bench: Bench) -> None:
    result = bench.judge(
        'judge.award("a", 40, "full")\njudge.band("b", [(False, 60, "x"), (True, 20, "half")], "none")'
    )
    assert result["score"] == 60
    assert result["checks"][1] == {"id": "b", "points": 60, "earned": 20, "reason": "half"}
    assert result["reasons"] == ["b: half"]
    capped = bench.judge('judge.award("a", 40, "f")\njudge.award("b", 60, "f")\njudge.cap(30, "trap")')
    assert capped["score"] == 30
    assert capped["reasons"] == ["capped at 30: trap"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('boom')", "boom"),
        ("sys.exit(0)", "SystemExit"),
        ("judge.award('zzz', 1, '')", "zzz is not declared"),
        ("judge.award('a', 41, '')", "not within 0 to 40"),
        ("judge.award('a', float('nan'), '')", "not within"),
        ("judge.exec('one', ['/absent'])", "cannot run /absent"),
        ("judge.exec('three', ['/bin/true'])", "not declared"),
        ("judge.exec('one', ['/bin/true']); judge.exec('one', ['/bin/true'])", "more often"),
        ("judge.must_exit(judge.exec('one', ['/bin/sh', '-c', 'kill -9 $$']))", "killed by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(30)", "SIGTERM"),
    ],
)
def test_what_stops_the_judge_is_an_error_and_no_score(bench: Bench, body: str, words: str) -> None:
    result = bench.judge("judge.award('a', 40, 'x')\n" + body)
    assert result["score"] == 0
    assert words in result["error"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"checks": {"a": 40}}, "add up to 40"),
        ({"steps": {"one": 590}}, "exceeds"),
        ({"mode": "odd"}, "unknown mode"),
    ],
)
def test_a_judge_that_cannot_be_right_says_so(bench: Bench, spec: dict[str, Any], words: str) -> None:
    assert words in bench.judge("pass", **spec)["error"]


def test_a_step_over_its_budget_is_killed_with_its_children(bench: Bench) -> None:
    began = time.monotonic()
    body = (
        "r = judge.exec('one', ['/bin/sh', '-c', 'sleep 300 & setsid sleep 300 & wait'])\n"
        "judge.note(f'{r.timed_out} {r.exit_code}')\njudge.must_exit(r)"
    )
    result = bench.judge(body, steps={"one": 1})
    assert time.monotonic() - began < 30
    assert "True None" in result["reasons"]
    assert "killed after its budget" in result["error"]
    left = [
        process.name
        for process in Path("/proc").iterdir()
        if process.name.isdigit()
        and b"sleep\x00300" in _read(process / "cmdline")
        and str(bench.root).encode() in _read(process / "environ")
    ]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_step_sees_nothing_of_our_environment(bench: Bench) -> None:
    result = bench.judge("judge.note(judge.exec('one', ['/usr/bin/env']).output)")
    seen = {line.partition("=")[0] for line in result["reasons"][0].splitlines()}
    assert not seen & {"NODE_OPTIONS", "SECRET", "PYTHONPATH"}
    assert {"PATH", "HOME", "TMPDIR"} <= seen


@pytest.mark.parametrize(
    ("mode", "change", "score", "words"),
    [
        ("mutable", "", 0, "unchanged"),
        ("mutable", "echo 2 > sum.py", 100, ""),
        ("mutable", "chmod +x sum.py", 100, ""),
        ("mutable", "mkdir .git; touch .git/x", 0, "unchanged"),
        ("readonly", "", 100, ""),
        ("readonly", "touch new", 0, "added new"),
        ("readonly", "rm sum.py", 0, "removed sum.py"),
        ("readonly", "rm sum.py; ln -s ../baseline/sum.py sum.py", 0, "retyped sum.py"),
        ("readonly", "mkdir .git; touch .git/x", 0, "added .git"),
        ("build-artifacts-only", "mkdir lib; touch lib/x", 100, ""),
        ("build-artifacts-only", "echo 2 > sum.py", 0, "sum.py"),
        ("mutable", "cd ..; rm -r fixture", 0, "not a directory"),
    ],
)
def test_the_gate(bench: Bench, mode: str, change: str, score: int, words: str) -> None:
    subprocess.run(["bash", "-c", change], cwd=bench.root / "fixture", check=True)
    result = bench.judge("judge.gate()\njudge.award('a', 40, '')\njudge.award('b', 60, '')", mode=mode)
    assert result["score"] == score, result
    assert "error" not in result
    assert any(words in reason for reason in result["reasons"]) or not words


def test_odd_things_are_named_and_never_fatal(bench: Bench) -> None:
    fixture = bench.root / "fixture"
    (fixture / "dangling").symlink_to("nowhere")
    (fixture / "folder").mkdir()
    os.mkfifo(fixture / "fifo")
    (fixture / "big").write_bytes(b"x" * 2000)
    body = (
        "for name in ('dangling', 'folder', 'fifo', 'big', 'absent', 'sum.py'):\n"
        "    judge.note(f'{name}: {read_text(root + chr(47) + \"fixture\" + chr(47) + name, 1000)[1]}')\n"
        "judge.note(str(read_tree(root + '/fixture')[1]))"
    )
    reasons = bench.judge(body)["reasons"]
    for part, words in zip(
        reasons[:6],
        ["symbolic link", "a directory", "a FIFO", "2000 bytes", "does not exist", "None"],
        strict=True,
    ):
        assert words in part
    assert "dangling" in reasons[6]
    assert "fifo" in reasons[6]


@pytest.mark.parametrize(
    ("output", "reward"),
    [
        ('{"score": 100, "max": 100}\n', "1"),
        ('{"score": 40.5, "max": 100}\n\n', "0.405"),
        ('{"score": 100, "max": 100}\nlater words\n', None),
        ('{"score": 0, "max": 100, "error": "no host"}\n', None),
        ('{"score": 101, "max": 100}\n', None),
        ('{"score": true, "max": 100}\n', None),
        ('{"score": 1, "max": 1}\n', None),
        ("[]\n", None),
        ("", None),
    ],
)
def test_only_the_last_line_is_a_reward(tmp_path: Path, output: str, reward: str | None) -> None:
    path = tmp_path / "output"
    path.write_text(output)
    command = [sys.executable, LIBRARY / "judge_utils.py", "reward", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == ((0, reward) if reward else (3, ""))
    if reward is None:
        assert done.stderr.startswith("[test] ")
        assert done.stderr.count("\n") == 1
