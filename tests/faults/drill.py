"""The fault drill: working copies in parallel, and runs killed at random moments. Prints its figures when run.

python -m tests.faults.drill [--kills N] [--copies N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from harbor_author.integrity import (
    reap_siblings,
    remove_tree,
    replace_dir,
    temporary_sibling,
    tree_hash,
    with_fixture_copy,
    write_atomic,
)

PREFIX = "author-drill-copy-"
VERSIONS = ("old\n" * 20_000, "new\n" * 20_000)


@dataclass(frozen=True)
class Copies:
    """Figures of the parallel drill."""

    copies: int
    failed: int
    leftovers: int
    source_unchanged: bool
    seconds: float


@dataclass(frozen=True)
class Kills:
    """Figures of the kills: what killed runs left, and what remained after the next run."""

    kills: int
    left_by_kills: int
    leftovers_after_next_run: int
    half_written: int
    source_unchanged: bool
    seconds: float


def make_source(folder: Path, files: int = 40) -> Path:
    """A fixture of `files` files in some directories."""
    source = folder / "source"
    for number in range(files):
        path = source / f"d{number % 5}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * 500)
    return source


def parallel_copies(folder: Path, count: int) -> Copies:
    """`count` copies at once; every other operation fails."""
    source, started = make_source(folder), time.monotonic()
    before = tree_hash(source)

    def run(number: int) -> bool:
        def operation(workspace: Path) -> None:
            (workspace / "d0" / "f0.txt").write_text(str(number))
            if number % 2:
                raise RuntimeError(str(number))

        try:
            with_fixture_copy(source, operation, prefix=PREFIX)
        except RuntimeError:
            return False
        return True

    with ThreadPoolExecutor(count) as pool:
        done = list(pool.map(run, range(count)))
    return Copies(
        count, done.count(False), len(copies_left()), tree_hash(source) == before, time.monotonic() - started
    )


def killed_runs(folder: Path, count: int, seed: int) -> Kills:
    """`count` runs, each killed by SIGKILL at a random moment of its work, then one that is not."""
    source, started = make_source(folder), time.monotonic()
    before = tree_hash(source)
    work = folder / "work"
    (work / "dir").mkdir(parents=True)
    (work / "file").write_text(VERSIONS[0])
    (work / "dir" / "content").write_text(VERSIONS[0])
    chance = random.Random(seed)
    left, half_written = 0, 0
    for _ in range(count):
        process = _start(source, work, "forever")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        left += len(copies_left()) + len(siblings_left(work))
        half_written += sum(
            path.read_text() not in VERSIONS for path in (work / "file", work / "dir" / "content")
        )
    last = _start(source, work, "once")
    assert last.communicate() is not None
    assert last.returncode == 0
    return Kills(
        count,
        left,
        len(copies_left()) + len(siblings_left(work)),
        half_written,
        tree_hash(source) == before,
        time.monotonic() - started,
    )


def copies_left() -> list[Path]:
    """Working copies of the drill that are there now."""
    return sorted(Path(tempfile.gettempdir()).glob(PREFIX + "*"))


def siblings_left(work: Path) -> list[Path]:
    """Temporary files and directories beside the ones that are replaced."""
    return [path for path in work.iterdir() if path.name not in ("file", "dir")]


def _start(source: Path, work: Path, how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.drill", "--worker", how, str(source), str(work)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent.parent,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()},
    )


def _work(how: str, source: Path, work: Path) -> None:
    """What a killed run does, over and over: copy, write a file, replace a directory."""
    turn = 0
    while True:
        turn += 1
        text = VERSIONS[turn % 2]
        reap_siblings(work)
        if turn == 2:
            print("in the middle of it", flush=True)
        with_fixture_copy(
            source, lambda workspace, text=text: write_atomic(workspace / "x", text), prefix=PREFIX
        )
        write_atomic(work / "file", text)
        fresh = temporary_sibling(work / "dir")
        fresh.mkdir()
        (fresh / "content").write_text(text)
        replace_dir(fresh, work / "dir")
        if how == "once":
            return


def main() -> int:
    """Run the drill in a folder of its own; exit status 1 when anything is left, half-written or changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _work(options.worker[0], Path(options.worker[1]), Path(options.worker[2]))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="author-drill-"))
    tempfile.tempdir = str(folder / "tmp")
    try:
        (folder / "tmp").mkdir()
        copies = parallel_copies(folder, options.copies)
        kills = killed_runs(folder, options.kills, options.seed)
    finally:
        tempfile.tempdir = None
        remove_tree(folder)
    print(
        json.dumps({"schema": "author-drill/1", "copies": asdict(copies), "kills": asdict(kills)}, indent=2)
    )
    well = (
        copies.leftovers == kills.leftovers_after_next_run == kills.half_written == 0
        and copies.source_unchanged
        and kills.source_unchanged
    )
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
