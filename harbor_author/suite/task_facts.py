"""What a register says of a task, read from the task itself."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harbor_author.suite.errors import SuiteError
from harbor_author.suite.model import Task, task_mode
from harbor_author.suite.toml_source import parse_toml, read_text

Kind = Literal["written", "hands-on"]
FULL_MARKS = 100

_CHECKS = re.compile(r"\bchecks\s*[:=]\s*\[(.*?)\]", re.DOTALL)
_CHECK = re.compile(r"\{\s*id\s*:\s*(['\"])([^'\"\\]+)\1\s*,\s*points\s*:\s*(\d+(?:\.\d+)?)\b")
#: A list that is written elsewhere in the file, as `author extract` writes the touch points.
_SPREAD = re.compile(r"\.\.\.\s*(\w+)")
_NOT_GRADED = re.compile(
    r"\bNot (?:graded|judged)\s*[:：]\s*(.+?)(?=\n\s*[-*#|]|\n\s*\n|\Z)|(?:不评|不判)[^:：\n]{0,8}[:：]\s*(.+)",
    re.DOTALL | re.IGNORECASE,
)
_BOUNDARY = re.compile(
    r"^##\s+(?:Grading Boundary|评分边界)\s*$(.*?)(?=^##\s|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_REPORT_FILES = ("ground-truth.json", "findings.mjs", "grading.mjs")


@dataclass(frozen=True)
class TaskFacts:
    """One task as a register has it.

    Attributes:
        kind: what its agent hands in; `declared` tells whether task.toml says so, or the files only suggest it.
        breakdown: (check, points) as the judge declares them; empty when that cannot be read from its text.
        boundary: what is not judged, in its author's words; "" when nobody wrote it.
    """

    task: Task
    title: str
    mode: str
    kind: Kind
    declared: bool
    cards: tuple[str, ...]
    breakdown: tuple[tuple[str, str], ...]
    boundary: str


def read_facts(task: Task) -> TaskFacts:
    """The facts of one task; what cannot be read is empty (`author validate` says what is wrong with it)."""
    document = _document(task.path / "task.toml")
    table, metadata = _table(document, "task"), _table(document, "metadata")
    judge = _text(task.path / "tests" / "judge.mjs")
    kind = metadata.get("type")
    cards = metadata.get("cards", [])
    return TaskFacts(
        task=task,
        title=str(table.get("description", "")),
        mode=task_mode(task, document),
        kind=kind if kind in ("written", "hands-on") else _likely_kind(task),
        declared=kind in ("written", "hands-on"),
        cards=tuple(map(str, cards)) if isinstance(cards, list) else (),
        breakdown=_breakdown(task, judge),
        boundary=_boundary(_text(task.path / "solution" / "SOLUTION.md"), judge),
    )


def _likely_kind(task: Task) -> Kind:
    is_report = any((task.path / "tests" / name).is_file() for name in _REPORT_FILES)
    return "written" if is_report else "hands-on"


def _breakdown(task: Task, judge: str) -> tuple[tuple[str, str], ...]:
    # The judge of a report takes its checks from the ground truth; what it declares is for when that cannot be read.
    rubric = _rubric(task.path / "tests" / "ground-truth.json")
    match = _CHECKS.search(judge)
    return rubric or _declared(match[1] if match else "", judge)


def _declared(checks: str, judge: str) -> tuple[tuple[str, str], ...]:
    """(check, points) as written; nothing when a list that is spread into them cannot be found."""
    lists = {name: _list(name, judge) for name in _SPREAD.findall(checks)}
    if not all(map(_CHECK.search, lists.values())):
        return ()
    whole = _SPREAD.sub(lambda spread: lists[spread[1]], checks)
    return tuple((check[2], check[3]) for check in _CHECK.finditer(whole))


def _list(name: str, judge: str) -> str:
    found = re.search(rf"\b{name}\s*=\s*\[(.*?)\];[ \t]*$", judge, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def _rubric(path: Path) -> tuple[tuple[str, str], ...]:
    """Points of a report's findings: as the rubric weighs them, equal without one."""
    try:
        document = json.loads(_text(path) or "null")
        ids = [str(finding["id"]) for finding in document["findings"]]
        points = document.get("rubric", {}).get("points", {})
        worth = [float(points.get(id_, 1)) for id_ in ids]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()
    total = sum(worth)
    if not total > 0:
        return ()
    return tuple((id_, f"{one * FULL_MARKS / total:.4g}") for id_, one in zip(ids, worth, strict=True))


def _boundary(solution: str, judge: str) -> str:
    section = _BOUNDARY.search(solution)
    comments = "\n".join(
        line.strip().lstrip("/*").strip()
        for line in judge.split("\n")[:30]
        if line.lstrip().startswith(("//", "/*", "*"))
    )
    for text in (section[1] if section else "", comments):
        match = _NOT_GRADED.search(text)
        if match:
            return " ".join((match[1] or match[2]).split())
    return ""


def _document(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(read_text(path), path=path).document
    except SuiteError:
        return {}


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _text(path: Path) -> str:
    try:
        return read_text(path) if path.is_file() and not path.parent.is_symlink() else ""
    except SuiteError:
        return ""
