"""Timing worth comparing: whole processes, all candidates in one run with interleaved rounds, medians and ratios."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """The median of `measured` may be at most `limit` times that of `against`."""

    measured: str
    against: str
    limit: float


def interleave(candidates: Mapping[str, Callable[[], None]], *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each candidate in each round, after one unmeasured round that warms caches."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            taken = time.perf_counter() - start
            if number:
                seconds[name].append(taken)
            print(f"round {number}: {name}: {taken:.3f} s", file=sys.stderr)
    return seconds


def report(
    title: str, seconds: Mapping[str, Sequence[float]], targets: Sequence[Target], *, as_json: bool
) -> int:
    """Print medians and ratios; 1 when a ratio exceeds its target, else 0."""
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    ratios = [(target, medians[target.measured] / medians[target.against]) for target in targets]
    if as_json:
        document = {
            "bench": title,
            "seconds": {
                name: {"median": medians[name], "all": list(taken)} for name, taken in seconds.items()
            },
            "ratios": [
                {
                    "measured": target.measured,
                    "against": target.against,
                    "ratio": ratio,
                    "limit": target.limit,
                    "ok": ratio <= target.limit,
                }
                for target, ratio in ratios
            ],
        }
        print(json.dumps(document, indent=2))
    else:
        print(title)
        for name, taken in seconds.items():
            print(
                f"  {name:<44} {medians[name]:8.3f} s  ({min(taken):.3f} to {max(taken):.3f}, {len(taken)} rounds)"
            )
        for target, ratio in ratios:
            verdict = "ok" if ratio <= target.limit else "TOO SLOW"
            print(f"  {target.measured} / {target.against}: {ratio:.2f}, at most {target.limit}: {verdict}")
    return int(any(ratio > target.limit for target, ratio in ratios))
