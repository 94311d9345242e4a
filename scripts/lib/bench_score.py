"""Times scoring on this machine: Python, and findings.mjs on Node.js, on the same generated reports."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.scoring import evaluate

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "templates/S/tests/findings.mjs"
TARGET_MANY_S = 3.0
TARGET_LONG_S = 2.0

_TOPICS = (
    ("service", ["tasks", "jobs", "service", "registry", "renamed"]),
    ("listener", ["onTaskDone", "onJobDone", "listener", "never called", "method", "callback"]),
    ("server", ["httpServer", "webServer", "inject", "pending", "route"]),
    ("manifest", ["package.json", "exports", "manifest", "entry", "field", "peer"]),
    ("slot", ["slot", "region", "mount", "layout", "client"]),
    ("tests", ["test", "unrelated", "already fails", "upgrade", "reported", "before"]),
)
_COMMON_WORDS = (
    "the a plugin that which names of host is not any more has to become with its own before after place"
)
_FILLERS = tuple(_COMMON_WORDS.split(" "))

_NODE = """
import fs from "node:fs";
const { evaluate } = await import(process.argv[2]);
const { reports, truth } = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
const began = process.hrtime.bigint();
const used = process.cpuUsage();
let matched = 0;
for (const report of reports) matched += evaluate(report, truth).match.matchedIds.length;
const { user, system } = process.cpuUsage(used);
const wall = Number(process.hrtime.bigint() - began) / 1e9;
console.log(JSON.stringify({ wall, cpu: (user + system) / 1e6, matched }));
"""


def truth() -> dict[str, Any]:
    """A ground truth of six findings with five or six keywords each."""
    return {
        "fixtureId": "renamed-service",
        "fixturePath": "environment/fixture",
        "domain": "code",
        "findings": [
            {
                "id": name,
                "severity": "MAJOR",
                "category": "finding",
                "summary": name,
                "keywords": words,
                "explanation": "",
            }
            for name, words in _TOPICS
        ],
        "isCleanBaseline": False,
    }


def report(rnd: random.Random) -> str:
    """A report of ten findings of some twenty words, about 1.5 KB."""
    lines = ["**Approach: read the code**", "", "## Critical findings"]
    for number in range(10):
        if number == 4:
            lines += ["", "## Major findings"]
        _, keywords = rnd.choice(_TOPICS)
        words = [rnd.choice(keywords) if rnd.random() < 0.2 else rnd.choice(_FILLERS) for _ in range(20)]
        lines.append(f"{number + 1}. {' '.join(words)} (`src/index.js:{number}`)")
    return "\n".join([*lines, "", "## What's Missing", "- A test of the upgrade itself", ""])


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock and of the processor. The targets hold for the latter: nothing here waits, and a busy
    machine says nothing about scoring."""

    wall_s: float
    cpu_s: float


def in_python(reports: list[str], document: dict[str, Any]) -> tuple[Taken, int]:
    """What it took, and findings matched."""
    wall, cpu = time.perf_counter(), time.process_time()
    matched = sum(len(evaluate(one, document)["match"]["matchedIds"]) for one in reports)
    return Taken(time.perf_counter() - wall, time.process_time() - cpu), matched


def in_node(script: Path, data: Path) -> tuple[Taken, int]:
    """The same on Node.js, without its start."""
    done = subprocess.run(
        ["node", str(script), FINDINGS.as_uri(), str(data)], capture_output=True, check=True, text=True
    )
    answer = json.loads(done.stdout)
    return Taken(answer["wall"], answer["cpu"]), answer["matched"]


def measure(reports: int, rounds: int) -> dict[str, list[Taken]]:
    """Both implementations on both loads, interleaved."""
    rnd = random.Random(1)
    document = truth()
    many = [report(rnd) for _ in range(reports)]
    long = ["".join(report(rnd) for _ in range(10_000_000 // len(many[0])))]
    taken: dict[str, list[Taken]] = {}
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder) / "score.mjs", Path(folder) / "data.json"
        script.write_text(_NODE, "utf-8")
        for _ in range(rounds):
            for label, batch in (("many", many), ("10 MB", long)):
                used, matched = in_python(batch, document)
                taken.setdefault(f"python, {label}", []).append(used)
                data.write_text(json.dumps({"reports": batch, "truth": document}), "utf-8")
                used, same = in_node(script, data)
                assert matched == same, "the two implementations must agree"
                taken.setdefault(f"node, {label}", []).append(used)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-score", description=__doc__)
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    medians = {
        name: Taken(
            statistics.median(one.wall_s for one in all_), statistics.median(one.cpu_s for one in all_)
        )
        for name, all_ in measure(options.reports, options.rounds).items()
    }
    limits = {"python, many": TARGET_MANY_S * options.reports / 10_000, "python, 10 MB": TARGET_LONG_S}
    ratios = {
        load: medians[f"python, {load}"].cpu_s / medians[f"node, {load}"].cpu_s for load in ("many", "10 MB")
    }
    if options.json:
        seconds = {name: {"wall": one.wall_s, "cpu": one.cpu_s} for name, one in medians.items()}
        print(
            json.dumps({"bench": "score", "seconds": seconds, "ratios": ratios, "limits": limits}, indent=2)
        )
    else:
        print(f"{options.reports} reports against 6 findings, and one of 10 MB; medians of {options.rounds}")
        for name, one in medians.items():
            limit = f"  at most {limits[name]:g} s" if name in limits else ""
            print(f"  {name:14} {one.cpu_s:7.2f} s of the processor, {one.wall_s:7.2f} s by the clock{limit}")
        for load, ratio in ratios.items():
            print(f"  python / node, {load}: {ratio:.2f}")
    return int(any(medians[name].cpu_s > limit for name, limit in limits.items()))


if __name__ == "__main__":
    sys.exit(main())
