"""Faults that `harbor lint` and `author validate` each find in the faulty tasks of our tests, and what each costs.

usage: scripts/bench-comparison [--harbor COMMAND] [--json]

COMMAND runs Harbor, such as `harbor`; default: ../shared/tools/harbor-peer when it is there. Each faulty task is a
sound task with one fault, made below /tmp. A tool finds a fault when it breaks a rule for the faulty task that it does
not break for the sound one; it flags a near miss on the same ground. Both run with their default rules. A task that
ends Harbor's whole run is left to a run of its own, and counts as found. The faults are those that our rules were
written for: they show what `harbor lint` does not look at, not how good either is at anything else. Where Harbor's
Compose loads not even a plain file, tasks with one are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))
PEER = REPOSITORY.parent / "shared/tools/harbor-peer"
PLAIN_COMPOSE = "environment-plain_compose"
"""A sound task with a Compose file."""
Told = dict[str, set[tuple[str, str]]]
"""Directory name of a task -> (rule, message) of all that a tool says of it."""


def make_tasks(root: Path) -> list[tuple[str, str, bool]]:
    """(name, theme, faulty) of each task, written below `root`; the first is the sound one."""
    from harbor_author.checks import all_rules
    from tests.checks.cases import CASES
    from tests.checks.support import sound_task

    for path in sorted((REPOSITORY / "tests/checks").glob("cases_*.py")):
        importlib.import_module(f"tests.checks.{path.stem}")
    sound_task(root / "sound")
    made = [("sound", "", False)]
    for case in CASES:
        if case.inside or case.select:
            continue  # a suite's own rules, and those that are off by default
        case.mutate(sound_task(root / case.name))
        made.append((case.name, all_rules()[case.rule].theme, bool(case.expected)))
    return made


def harbor_lint(command: list[str], tasks: list[Path]) -> Told:
    """What `harbor lint` says. A run that ends without a report is split until the task that ends it stands alone."""
    done = subprocess.run(
        [*command, "lint", "--json", *map(str, tasks)], capture_output=True, text=True, check=False
    )
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        if len(tasks) == 1:
            return {tasks[0].name: {(f"status {done.returncode}", done.stdout + done.stderr)}}
        middle = len(tasks) // 2
        return {**harbor_lint(command, tasks[:middle]), **harbor_lint(command, tasks[middle:])}
    told: Told = defaultdict(set)
    for finding in findings:
        name = Path(finding["path"]).relative_to(tasks[0].parent).parts[0]
        told[name].add((finding["rule"], finding["message"]))
    return told


def author_validate(tasks: list[Path], cache: Path) -> tuple[Told, float]:
    """Findings of `author validate --json` with an empty cache, and the seconds of the call."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(cache)}
    started = time.perf_counter()
    command = [sys.executable, "-m", "harbor_author", "validate", "--json", *map(str, tasks)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - started
    if done.returncode not in (0, 1):
        sys.exit(f"author validate: status {done.returncode}\n{done.stderr[-2000:]}")
    told: Told = defaultdict(set)
    for finding in json.loads(done.stdout)["findings"]:
        told[Path(finding["task"]).name].add((finding["rule"], finding["message"]))
    return told, wall_s


def rules_of(told: Told, name: str) -> set[str]:
    return {rule for rule, _ in told.get(name, ())}


def table(made: list[tuple[str, str, bool]], tools: dict[str, Told]) -> list[dict[str, object]]:
    """One row a theme: its faults, and those that each tool found; then near misses and false alarms."""
    rows: list[dict[str, object]] = []
    for theme in [
        *sorted({theme for _, theme, faulty in made if faulty}),
        "all faults",
        "near misses flagged",
    ]:
        names = [
            name
            for name, of, faulty in made[1:]
            if (faulty and theme in (of, "all faults")) or (not faulty and theme == "near misses flagged")
        ]
        found = {
            tool: sum(bool(rules_of(told, name) - rules_of(told, "sound")) for name in names)
            for tool, told in tools.items()
        }
        rows.append({"theme": theme, "tasks": len(names), **found})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--harbor", help="command that runs Harbor")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    harbor = shlex.split(options.harbor) if options.harbor else [str(PEER), "harbor"] if PEER.exists() else []
    if not harbor:
        sys.exit("bench-comparison: no Harbor here; give one with --harbor COMMAND")
    work = Path(tempfile.mkdtemp(prefix="author-bench-comparison-"))
    try:
        made = make_tasks(work / "tasks")
        paths = [work / "tasks" / name for name, _, _ in made]
        theirs = harbor_lint(harbor, paths)
        left_out = 0
        if rules_of(theirs, PLAIN_COMPOSE) - rules_of(theirs, "sound"):  # its Compose loads nothing here
            composed = {path.name for path in paths if list(path.glob("environment/*compose*"))}
            made = [task for task in made if task[0] not in composed]
            paths = [path for path in paths if path.name not in composed]
            left_out = len(composed)
        readable = [
            path
            for path in paths
            if not any(rule.startswith("status") for rule, _ in theirs.get(path.name, ()))
        ]
        started = time.perf_counter()
        harbor_lint(harbor, readable)
        theirs_s = time.perf_counter() - started
        ours = author_validate(paths, work / "full")[0]
        ours_s = author_validate(readable, work / "cache")[1]
        version = subprocess.run(
            [*harbor, "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    rows = table(made, {"harbor lint": theirs, "author validate": ours})
    if options.json:
        print(
            json.dumps(
                {"harbor": version, "rows": rows, "seconds": {"harbor": theirs_s, "author": ours_s}}, indent=2
            )
        )
        return 0
    print("| theme | tasks | `harbor lint` | `author validate` |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row['theme']} | {row['tasks']} | {row['harbor lint']} | {row['author validate']} |")
    print(
        f"\nHarbor {version}; {len(readable)} tasks in one call: {theirs_s:.1f} s and {ours_s:.1f} s", end=""
    )
    print(f", a ratio of {ours_s / theirs_s:.2f}")
    if left_out:
        print(
            f"Left out: {left_out} tasks with a Compose file, since this Harbor can load none here, sound or not"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
