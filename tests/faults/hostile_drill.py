"""Validate many hostile task directories and prove that nothing outside them was touched. Prints its figures when run.

python -m tests.faults.hostile_drill [--tasks N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harbor_author.integrity import remove_tree
from tests.faults.canary import watched
from tests.faults.hostile import CANARY_TEXT, make_canary

BATCH = 250
#: Of one batch, which takes half a minute on an idle processor.
_TIMEOUT_S = 1200


@dataclass(frozen=True)
class Hostile:
    """Figures: directories made, verdicts given, and what must all be nothing."""

    directories: int
    verdicts: int
    with_findings: int
    findings: int
    opened_outside: tuple[str, ...]
    canary_events: tuple[str, ...]
    canary_changed: bool
    secrets_shown: int
    crashes: tuple[str, ...]
    peak_mb: int
    seconds: float


def validate_hostile(folder: Path, count: int, seed: int = 0) -> Hostile:
    """Validate `count` directories, made from `seed` on, in processes of `BATCH` each, one a processor."""
    started = time.monotonic()
    canary = make_canary(folder)
    own = {"TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")}
    for name in ("tmp", "cache", "empty"):
        (folder / name).mkdir()
    before = {path.name: path.lstat() for path in canary.iterdir()}
    crashes: list[str] = []

    def run(first: int) -> dict[str, Any] | None:
        size = min(BATCH, seed + count - first)
        command = [sys.executable, "-m", "tests.faults.hostile", str(folder), str(first), str(size)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                cwd=Path(__file__).parent.parent.parent,
                timeout=_TIMEOUT_S,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **own},
                check=False,
            )
            if done.returncode == 0:
                return dict(json.loads(done.stdout.splitlines()[-1]))
            crashes.append(f"from {first}: {done.stderr[-2000:]}")
        except subprocess.TimeoutExpired:
            crashes.append(f"from {first}: hangs")
        finally:
            if (folder / f"tasks-{first}").exists():
                remove_tree(folder / f"tasks-{first}")
        return None

    with watched(canary) as events, ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [found for found in pool.map(run, range(seed, seed + count, BATCH)) if found is not None]
    changed = {path.name: path.lstat() for path in canary.iterdir()}.keys() != before.keys() or any(
        path.is_file() and path.read_text() != CANARY_TEXT for path in canary.iterdir()
    )
    return Hostile(
        directories=count,
        verdicts=sum(result["tasks"] for result in results),
        with_findings=sum(result["tasks_with_findings"] for result in results),
        findings=sum(result["findings"] for result in results),
        opened_outside=tuple(sorted({path for result in results for path in result["opened_outside"]})),
        canary_events=tuple(sorted(set(events))),
        canary_changed=changed or (folder / "pwned").exists(),
        secrets_shown=sum(result["secret_in_findings"] for result in results),
        crashes=tuple(crashes),
        peak_mb=max((result["peak_mb"] for result in results), default=0),
        seconds=time.monotonic() - started,
    )


def is_well(found: Hostile) -> bool:
    """Every directory got a verdict and nothing outside was touched."""
    return found.verdicts == found.directories and not (
        found.opened_outside
        or found.canary_events
        or found.canary_changed
        or found.secrets_shown
        or found.crashes
    )


def main() -> int:
    """Run the drill in a folder of its own; exit status 1 when anything escaped, crashed or hung."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="author-hostile-"))
    try:
        found = validate_hostile(folder, options.tasks, options.seed)
    finally:
        remove_tree(folder)
    print(json.dumps({"schema": "author-drill/1", "hostile": asdict(found)}, indent=2))
    return 0 if is_well(found) else 1


if __name__ == "__main__":
    sys.exit(main())
