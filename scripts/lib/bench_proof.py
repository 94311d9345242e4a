"""What proving costs beyond the judges' own time: trivial tasks, so that all of it is overhead."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_oracle_check import AUTHOR, TRIAL, find_harbor, harbors

REPEATS = 20
FILES = {
    "task.toml": 'schema_version = "1.4"\n[task]\nname = "bench/trivial"\n[agent]\ntimeout_sec = 60.0\n'
    "[verifier]\ntimeout_sec = 60.0\n[environment]\ncpus = 1\nmemory_mb = 512\n",
    "instruction.md": "Write done into /app/answer.\n",
    "environment/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\n",
    "solution/solve.sh": "#!/bin/bash\necho done > /app/answer\n",
    "tests/test.sh": '#!/bin/bash\nr=0; [ "$(cat /app/answer 2>/dev/null)" = done ] && r=1\n'
    "echo $r > /logs/verifier/reward.txt\n",
}


@dataclass(frozen=True)
class Figure:
    """A measurement: median seconds, and the most that it may be; `limit` None: only for comparison."""

    name: str
    seconds: float
    limit: float | None = None
    unit: str = "s"


def make_task(parent: Path, name: str) -> Path:
    for relative, text in FILES.items():
        path = parent / name / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    return parent / name


def author(*arguments: str | Path) -> dict:
    done = subprocess.run(
        [AUTHOR, "oracle-check", "--json", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"author oracle-check: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    return json.loads(done.stdout)


def bare_trials(image: str, task: Path, agents: list[str]) -> None:
    """Trials by docker commands, two at once."""

    def trial(agent: str) -> None:
        with tempfile.TemporaryDirectory() as logs:
            name = f"bench-{agent}-{uuid.uuid4().hex[:12]}"
            subprocess.run(
                ["bash", "-c", TRIAL, "trial", image, str(task), agent, name, logs],
                check=True,
                stdout=subprocess.DEVNULL,
            )

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(trial, agents))


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def interleaved(candidates: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each, after a round that warms caches."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, run in candidates.items():
            taken = timed(run)
            print(f"round {number}: {name}: {taken:.2f} s", file=sys.stderr)
            if number:
                seconds[name].append(taken)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def overhead_s(task: Path, rounds: int) -> float:
    """What the longer of two trials side by side takes beyond its scripts' own time: container up, files, clean-up."""
    found = []
    for _ in range(rounds):
        trials = author(task, "--force")["results"][0]["trials"]
        found.append(max(trial["duration_s"] - trial["solve_s"] - trial["judge_s"] for trial in trials))
    return statistics.median(found)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-proof", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=50, help="tasks of the suite")
    parser.add_argument("--harbor", help="Harbor's command, or a wrapper with a trial command")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    harbor = find_harbor(options.harbor)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        task = make_task(root, "trivial")
        image = "bench-proof"
        subprocess.run(
            ["docker", "build", "-q", "-t", image, str(task / "environment")],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        author(task, "--force")
        candidates: dict[str, Callable[[], object]] = {
            "ours": partial(author, task, "--force"),
            "bare": partial(bare_trials, image, task, ["nop", "oracle"]),
        }
        if harbor:
            candidates["harbor"] = partial(harbors, harbor, task, fast=True)
        pair = interleaved(candidates, options.rounds)
        figures += [
            Figure("two trials side by side", pair["ours"]),
            Figure("the same by bare docker commands", pair["bare"]),
            Figure("ours / bare docker", pair["ours"] / pair["bare"], 1.3, ""),
            Figure("a trial beyond its scripts' own time", overhead_s(task, options.rounds), 0.7),
        ]
        if harbor:
            figures += [
                Figure("Harbor's oracle plus nop, without its waits", pair["harbor"]),
                Figure("ours / Harbor", pair["ours"] / pair["harbor"], 0.25, ""),
            ]
        repeat = interleaved(
            {
                "ours": partial(author, task, "--force", "--repeat", str(REPEATS)),
                "bare": partial(bare_trials, image, task, ["nop", *["oracle"] * 4] * (REPEATS // 4)),
            },
            1,
        )
        figures += [
            Figure(f"--repeat {REPEATS}, {REPEATS * 5 // 4} trials", repeat["ours"], 6.0),
            Figure("the same by bare docker commands", repeat["bare"]),
            Figure("ours / bare docker", repeat["ours"] / repeat["bare"], 1.0, ""),
        ]
        tasks = [make_task(root / "suite", f"t{number}") for number in range(options.tasks)]
        figures += [
            Figure(
                f"{len(tasks)} tasks proved, {2 * len(tasks)} trials", timed(lambda: author(*tasks)), 40.0
            ),
            Figure(
                "the same again, unchanged",
                statistics.median(timed(lambda: author(*tasks)) for _ in range(options.rounds)),
                0.5,
            ),
        ]
        subprocess.run(["docker", "rmi", image], check=False, stdout=subprocess.DEVNULL)
    return show(figures, as_json=options.json)


def show(figures: list[Figure], *, as_json: bool) -> int:
    missed = [figure for figure in figures if figure.limit is not None and figure.seconds > figure.limit]
    if as_json:
        rows = [
            {
                "name": f.name,
                "value": f.seconds,
                "unit": f.unit or "ratio",
                "limit": f.limit,
                "ok": f not in missed,
            }
            for f in figures
        ]
        print(json.dumps({"bench": "proof", "figures": rows}, indent=2))
    else:
        for figure in figures:
            line = f"  {figure.name:<48} {figure.seconds:8.2f} {figure.unit:<2}"
            if figure.limit is not None:
                line += f" at most {figure.limit:g}: {'TOO SLOW' if figure in missed else 'ok'}"
            print(line.rstrip())
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
