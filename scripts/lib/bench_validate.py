"""Time `author validate`: many tasks at once, growth with their number, and, in the same run, `harbor lint`.

usage: scripts/bench-validate [--tasks 1000] [--harbor COMMAND] [--harbor-tasks 5]

COMMAND runs Harbor, such as `harbor`; default: ../shared/tools/harbor-peer when it is there. Tasks are made anew, no
two of them alike, below /tmp. `cold` has an empty cache of verdicts, `warm` the one that `cold` left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PEER = REPOSITORY.parent / "shared/tools/harbor-peer"
WORDS = "amber basil cedar delta ember fjord grove heron ivory jetty koala lemon maple noble ocean pearl".split()  # noqa: SIM905


def make_task(root: Path, number: int) -> None:
    """A sound task whose texts hold words of its own."""
    chance = random.Random(number)
    name, column = "-".join(chance.sample(WORDS, 3)), chance.choice(WORDS)
    rows = "".join(f"{chance.choice(WORDS)},{chance.randint(1, 99)}\n" for _ in range(20))
    files = {
        "task.toml": f'schema_version = "1.4"\n\n[task]\nname = "bench/{name}-{number}"\n\n[agent]\n'
        f"timeout_sec = {60 + number}.0\n\n[verifier]\ntimeout_sec = 60.0\n\n"
        "[environment]\ncpus = 1\nmemory_mb = 512\n",
        "instruction.md": f"Sum the column `{column}` of /app/data/{name}.csv into /app/{column}.txt.\n",
        "README.md": f"# {name}\n",
        "environment/Dockerfile": f"FROM debian:bookworm-20260101\nWORKDIR /app\nCOPY data/ /app/data/\n# {name}\n",
        f"environment/data/{name}.csv": f"name,{column}\n{rows}",
        f"tests/{name}.csv": f"name,{column}\n{rows}",
        "tests/test.sh": f"#!/bin/bash\n# {name}\nmkdir -p /logs/verifier\n"
        f"{column}=$(awk -F, 'NR>1 {{s+=$2}} END {{print s}}' /tests/{name}.csv)\n"
        f'if [ "$(cat /app/{column}.txt 2>/dev/null)" = "${column}" ]; then\n'
        "  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n",
        "solution/solve.sh": "#!/bin/bash\nset -euo pipefail\n"
        f"awk -F, 'NR>1 {{s+=$2}} END {{print s}}' /app/data/{name}.csv > /app/{column}.txt\n",
    }
    for path, text in files.items():
        target = root / f"{name}-{number}" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        if path.endswith(".sh"):
            target.chmod(0o755)


def timed(command: list[str], environment: dict[str, str], *, fails: bool = False) -> tuple[float, float]:
    """Seconds on the wall and of processor time (children included) of one command."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(
        command, env=environment, capture_output=True, check=False
    )
    wall_s, after = time.perf_counter() - started, os.times()
    if done.returncode and not fails:
        sys.exit(
            f"{shlex.join(command)}: status {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}"
        )
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall_s, used


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--harbor", help="command that runs Harbor")
    parser.add_argument("--harbor-tasks", type=int, default=5)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="author-bench-validate-"))
    try:
        return bench(work, options)
    finally:
        shutil.rmtree(work)


def bench(work: Path, options: argparse.Namespace) -> int:
    for number in range(options.tasks):
        make_task(work / "all", number)
    names = sorted(path.name for path in (work / "all").iterdir())
    for path in names[: options.tasks // 4]:
        (work / "quarter").mkdir(exist_ok=True)
        shutil.copytree(work / "all" / path, work / "quarter" / path)
    author = [sys.executable, "-m", "harbor_author", "validate"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(work / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    timed([*author, "--help"], environment)
    report: dict[str, object] = {"tasks": options.tasks, "processors": os.cpu_count()}
    for label, target in (
        ("one", work / "all" / names[0]),
        ("quarter", work / "quarter"),
        ("all", work / "all"),
    ):
        for state in ("cold", "warm"):
            if state == "cold":
                shutil.rmtree(work / "cache", ignore_errors=True)
            wall_s, used_s = timed([*author, str(target)], environment)
            report[f"{label}_{state}"] = {"wall_s": round(wall_s, 3), "cpu_s": round(used_s, 3)}
            print(f"{label:8} {state}: {wall_s:6.2f} s, {used_s:6.2f} s of processor time", file=sys.stderr)
    growth = report["all_warm"]["cpu_s"] / max(report["quarter_warm"]["cpu_s"], 0.001)  # type: ignore[index]
    report["growth_for_4x"] = round(growth, 2)
    harbor = shlex.split(options.harbor) if options.harbor else [str(PEER), "harbor"] if PEER.exists() else []
    if harbor:
        report.update(beside_harbor(work, names[: options.harbor_tasks], harbor, author, environment))
    print(json.dumps(report, indent=2))
    return 0


def beside_harbor(
    work: Path, names: list[str], harbor: list[str], author: list[str], environment: dict[str, str]
) -> dict[str, object]:
    """Both checkers on the same tasks, by turns; one call for all tasks, as each takes them."""
    tasks = [str(work / "all" / name) for name in names]
    theirs, ours = [], []
    timed([*harbor, "lint", "--help"], environment)
    for _ in range(3):
        # A shared verifier alone makes its status 1.
        theirs.append(timed([*harbor, "lint", *tasks], environment, fails=True)[0])
        ours.append(timed([*author, *tasks], environment)[0])
    return {
        "harbor_lint_s": round(min(theirs), 3),
        "author_validate_s": round(min(ours), 3),
        "ratio_to_harbor": round(min(ours) / min(theirs), 3),
        "harbor_tasks": len(tasks),
    }


if __name__ == "__main__":
    sys.exit(main())
