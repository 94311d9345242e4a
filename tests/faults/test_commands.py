"""Commands that write, with a fault at each of their changes: nothing half-written, nothing left after the next run."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.commands import WRITERS, Writer, make_suite
from tests.faults.injection import FAULTS, run

#: A fault at every change would take minutes: this many, spread over the run. scripts/bench-faults takes more.
POINTS = int(os.environ.get("HARBOR_AUTHOR_FAULT_POINTS", "1"))
#: What the message of a refused change must speak of.
SAID = {"ENOSPC": "space", "DISKFULL": "large", "NOMEM": "memory"}


def is_quick(command: str, fault: str) -> bool:
    """Whether a cell runs with the quick tests: each command with some faults, and each fault with some commands."""
    place = list(WRITERS).index(command) + 2 * FAULTS.index(fault)
    return not WRITERS[command].slow and (fault == "SIGKILL" or place % 5 == 0)


def cells() -> list[object]:
    return [
        pytest.param(command, fault, marks=() if is_quick(command, fault) else pytest.mark.slow)
        for command in WRITERS
        for fault in FAULTS
    ]


@dataclass(frozen=True)
class Clean:
    """A run without a fault: the suite that it was made in, and what was there before and after."""

    start: Path
    before: dict[str, bytes]
    after: dict[str, bytes]
    changes: int


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Clean]:
    """The run of a command without a fault, made once."""
    prepared = tmp_path_factory.mktemp("faults") / "suite"
    make_suite(prepared)
    done: dict[str, Clean] = {}

    def get(command: str) -> Clean:
        if command not in done:
            writer = WRITERS[command]
            start = prepared.parent / command / "suite"
            shutil.copytree(prepared, start)
            writer.prepare(start)
            root = prepared.parent / f"{command}-clean" / "suite"
            shutil.copytree(start, root)
            before = content(root)
            ended = run(writer.words(prepared.parent / "repository"), root)
            assert ended.status == writer.status, ended.err
            done[command] = Clean(start, before, content(root), ended.changes)
            assert before != done[command].after
            assert ended.changes > 0
            assert list((root.parent / "tmp").iterdir()) == []
        return done[command]

    return get


def content(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def temporary(names: Sequence[str]) -> list[str]:
    return [name for name in names if ".author-tmp-" in name or ".new/" in name or name.endswith(".new")]


def same(name: str, data: bytes, *versions: bytes | None) -> bool:
    """Whether a file is one of some versions; a page that tells its own age may differ in that."""
    return data in versions or (name == "author-report.html" and data.rstrip().endswith(b"</html>"))


@pytest.mark.parametrize(("command", "fault"), cells())
def test_a_fault_at_any_change_leaves_old_or_new(
    clean: Callable[[str], Clean], tmp_path: Path, command: str, fault: str
) -> None:
    known, writer = clean(command), WRITERS[command]
    words = writer.words(known.start.parent.parent / "repository")
    for at in sorted({1 + round((step + 0.5) * (known.changes - 1) / POINTS) for step in range(POINTS)}):
        root = tmp_path / f"{at}" / "suite"
        shutil.copytree(known.start, root)
        hit = run(words, root, fault=fault, at=at)
        _check(known, writer, root, hit.status, hit.err, fault, at)
        _check_next_run(known, writer, root, words, fault, at)


def _check(known: Clean, writer: Writer, root: Path, status: int, err: str, fault: str, at: int) -> None:
    assert "Traceback" not in err, err
    assert "unforeseen" not in err, err
    if fault in SAID:
        # A command may do without a change, such as a cache; else it says what was wrong.
        assert status in (writer.status, 2), err
        assert status == writer.status or (SAID[fault] in err and "fix:" in err), err
    if fault == "CLOCK":
        assert status == writer.status, err
    now = content(root)
    kept = {name: data for name, data in now.items() if not temporary([name])}
    if fault not in ("SIGKILL", "SIGTERM"):
        assert kept == now, f"{fault} at {at} left {sorted(now.keys() - kept.keys())}"
        assert list((root.parent / "tmp").iterdir()) == [], f"{fault} at {at}"
    for name, data in kept.items():
        assert same(name, data, known.before.get(name), known.after.get(name)), (
            f"{fault} at {at}: {name} is neither old nor new"
        )
    for folder in {name.split("/")[1] for name in [*kept, *known.before, *known.after] if "tasks/" in name}:
        here, old, new = (
            {name for name in some if name.startswith(f"tasks/{folder}/")}
            for some in (kept, known.before, known.after)
        )
        assert here in (old, new), f"{fault} at {at}: half of {folder} is visible"


def _check_next_run(known: Clean, writer: Writer, root: Path, words: list[str], fault: str, at: int) -> None:
    whole = {name: data for name, data in content(root).items() if not temporary([name])} == known.after
    again = run(words, root)
    assert again.status == writer.status or not writer.again, again.err
    assert again.status == writer.status or whole or "already" in again.err, again.err
    assert temporary(list(content(root))) == [], f"left after the next run ({fault} at {at})"
    assert list((root.parent / "tmp").iterdir()) == [], f"left after the next run ({fault} at {at})"


@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=pytest.mark.slow if writer.slow else ()) for name, writer in WRITERS.items()],
)
def test_an_engine_that_stalls_or_is_gone_is_no_matter(
    clean: Callable[[str], Clean], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    known, writer = clean(command), WRITERS[command]
    words = writer.words(known.start.parent.parent / "repository")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen(8)  # it takes every connection and never answers
        for host in ("s", "none"):
            monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/{host}")
            root = tmp_path / host.upper() / "suite"
            shutil.copytree(known.start, root)
            assert run(words, root, timeout_s=30).status == writer.status
            now = content(root)
            assert now.keys() == known.after.keys()
            assert all(same(name, data, known.after[name]) for name, data in now.items())
