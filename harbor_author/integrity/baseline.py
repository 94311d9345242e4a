"""What a fixture's own tests must give before anyone works on it: not every task is "all red"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harbor_author.integrity.errors import IntegrityError, printable

KINDS = ("bugfix", "refactor", "feature")

_TAP = re.compile(r"^\s*(not ok|ok)\s+\d+\s*(?:-\s*)?(.*?)\s*(?:#\s*(SKIP|TODO)\b.*)?$", re.IGNORECASE)
_SPEC = re.compile(r"^\s*([✖✗✓✔])\s+(.+?)(?:\s+\([\d.]+\s*m?s\))?\s*$")
_PYTEST = re.compile(r"^(PASSED|FAILED|ERROR)\s+(\S+)")


@dataclass(frozen=True)
class Baseline:
    """What a task declares.

    - `bugfix`: the tests are green but for at most one, named in `fails` (none when the failing one is hidden).
    - `refactor`: green; `structure` names what must change in the shape.
    - `feature`: `fails` names the tests of the ability that is lacking.
    """

    kind: str
    command: tuple[str, ...]
    fails: frozenset[str]
    structure: tuple[str, ...]


@dataclass(frozen=True)
class Observed:
    """What a run gave: names of failed tests as far as the output tells them, and how the command ended."""

    failed: frozenset[str]
    exit_status: int
    cause: str


def read_baseline(value: object) -> Baseline:
    """Read `expectedBaseline` of task.json, or `[metadata.baseline]` of task.toml.

    Raises:
        IntegrityError: it is not as its kind needs it; the message names the key.
    """
    if not isinstance(value, Mapping):
        raise _wrong("it", "must be a table")
    kind = value.get("kind")
    if kind not in KINDS:
        raise _wrong("kind", f"must be one of {', '.join(KINDS)}")
    command, fails, structure = (_texts(value, key) for key in ("command", "fails", "structure"))
    if not command:
        raise _wrong("command", "must be a list of texts that is not empty")
    if kind == "bugfix" and len(fails) > 1:
        raise _wrong("fails", "a bugfix may fail one test at most")
    if kind == "refactor" and (fails or not structure):
        raise _wrong("structure", "a refactor fails no test, and names what must change in the structure")
    if kind == "feature" and not fails:
        raise _wrong("fails", "a feature names the tests of the ability that is lacking")
    return Baseline(str(kind), command, frozenset(fails), structure)


def observe(output: str, exit_status: int, *, cause: str = "") -> Observed:
    """Read failed tests from TAP, Node's spec reporter or pytest's short summary; `cause` as in `process.Ended`."""
    failed = set()
    for line in output.splitlines():
        if (match := _TAP.match(line)) and not match[3]:
            if match[1].lower() == "not ok":
                failed.add(match[2])
        elif match := _SPEC.match(line):
            if match[1] in "✖✗" and match[2] != "failing tests:":
                failed.add(match[2])
        elif (match := _PYTEST.match(line)) and match[1] != "PASSED":
            failed.add(match[2])
    return Observed(frozenset(failed), exit_status, cause)


def deviations(baseline: Baseline, observed: Observed) -> list[str]:
    """How a run differs from what was declared, in words; empty when it does not."""
    if observed.cause:
        return [f"the tests did not end by themselves: {observed.cause}"]
    found = [f"{printable(name)!r} fails" for name in sorted(observed.failed - baseline.fails)]
    if observed.failed or observed.exit_status == 0:
        found += [f"{printable(name)!r} does not fail" for name in sorted(baseline.fails - observed.failed)]
    if bool(baseline.fails) != bool(observed.exit_status):
        wanted = "not 0" if baseline.fails else "0"
        found.append(f"the tests' exit status is {observed.exit_status}, and should be {wanted}")
    return found


def _texts(value: Mapping[str, object], key: str) -> tuple[str, ...]:
    texts = value.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise _wrong(key, "must be a list of texts")
    return tuple(texts)


def _wrong(key: str, problem: str) -> IntegrityError:
    return IntegrityError(f"the expected baseline is wrong: {key} {problem}")
