"""`author oracle-check` against the same steps by bare docker commands, and against Harbor's oracle plus nop."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bench import Target, interleave, report

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("HARBOR_AUTHOR_SHARED", ROOT.parent / "shared"))
AUTHOR = Path(sys.executable).parent / "author"

#: One trial as an author would type it, after the image is built: $1 image, $2 task, $3 oracle or nop, $4 container.
TRIAL = """
set -euo pipefail
trap 'docker rm -f "$4" >/dev/null' EXIT
docker run -d --name "$4" "$1" sh -c 'sleep infinity' >/dev/null
docker exec -u root "$4" bash -c 'mkdir -p /logs/agent /logs/verifier /logs/artifacts && chmod 777 /logs/*'
if [ "$3" = oracle ]; then
  docker cp -q "$2/solution" "$4:/solution"
  docker exec -u root "$4" chmod +x /solution/solve.sh
  docker exec -e DEBIAN_FRONTEND=noninteractive "$4" \\
    bash -c '(/solution/solve.sh) > /logs/agent/oracle.txt 2>&1' || true
fi
docker exec -u root "$4" bash -c 'rm -f /logs/verifier/reward.*'
docker cp -q "$2/tests" "$4:/tests"
docker exec -u root "$4" chmod +x /tests/test.sh
docker exec "$4" bash -c '(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1' || true
docker exec "$4" cat /logs/verifier/reward.txt
docker cp -q "$4:/logs" "$5"
"""


def ours(task: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [AUTHOR, "oracle-check", str(task), "--force"],
        capture_output=True,
        text=True,
        check=False,
        cwd=task.parent,
        env=environment,
    )
    if done.returncode:
        sys.exit(f"author oracle-check {task}: status {done.returncode}\n{done.stdout}{done.stderr}")


def bare(task: Path) -> None:
    image = "bench-oracle-check"
    subprocess.run(
        ["docker", "build", "-q", "-t", image, str(task / "environment")],
        check=True,
        stdout=subprocess.DEVNULL,
    )

    def trial(agent: str) -> float:
        with tempfile.TemporaryDirectory() as logs:
            name = f"bench-{agent}-{uuid.uuid4().hex[:12]}"
            done = subprocess.run(
                ["bash", "-c", TRIAL, "trial", image, str(task), agent, name, logs],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            sys.exit(f"bare docker, {agent}: {done.stderr}")
        return float(done.stdout)

    with ThreadPoolExecutor(2) as pool:
        rewards = list(pool.map(trial, ("nop", "oracle")))
    if rewards != [0.0, 1.0]:
        sys.exit(f"bare docker: rewards {rewards}, expected 0 and 1")


def harbors(harbor: Path, task: Path, *, fast: bool) -> None:
    """Oracle, then nop, each a job of its own as Harbor's documentation has it."""
    for agent in ("oracle", "nop"):
        if harbor.name == "harbor-peer":
            command = [str(harbor), "trial", str(task), agent, *(["--fast"] if fast else [])]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        else:
            with tempfile.TemporaryDirectory() as jobs:
                command = [str(harbor), "run", "-p", str(task), "-a", agent, "-o", jobs, "-y", "-q"]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def find_harbor(given: str | None) -> Path | None:
    wanted = given or os.environ.get("HARBOR_AUTHOR_HARBOR")
    if wanted:
        found = shutil.which(wanted)
        return Path(found) if found else sys.exit(f"no such command: {wanted}")
    peer = SHARED / "tools" / "harbor-peer"
    return peer if os.access(peer, os.X_OK) else None


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-oracle-check", description=__doc__)
    parser.add_argument("task", nargs="?", type=Path, help="a task directory (default: our H23)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--harbor", help="Harbor's command, or a wrapper with a trial command")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    source = options.task or next((ROOT / "tasks").glob("H23-*"), None)
    if source is None or not source.is_dir():
        sys.exit(f"no such task directory: {source}")
    harbor = find_harbor(options.harbor)

    with tempfile.TemporaryDirectory() as scratch:
        # A copy below its own author.toml: receipts that this run writes must not touch the suite.
        task = Path(shutil.copytree(source, Path(scratch) / "tasks" / source.name))
        shutil.copytree(ROOT / "references", Path(scratch) / "references")
        shutil.copy(ROOT / "author.toml", scratch)
        us, docker = "author oracle-check", "bare docker commands"
        candidates = {us: partial(ours, task, dict(os.environ)), docker: partial(bare, task)}
        targets = [Target(us, docker, 1.3)]
        if harbor:
            theirs, hurried = "Harbor, oracle plus nop", "Harbor, without its wait of 10 s for each stop"
            candidates[theirs] = partial(harbors, harbor, task, fast=False)
            targets.append(Target(us, theirs, 0.3))
            if harbor.name == "harbor-peer":
                candidates[hurried] = partial(harbors, harbor, task, fast=True)
        return report(
            f"two trials of {source.name}",
            interleave(candidates, rounds=options.rounds),
            targets,
            as_json=options.json,
        )


if __name__ == "__main__":
    sys.exit(main())
