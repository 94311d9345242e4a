"""The documents of a suite that list and count its tasks: what they hold, and what they should."""

from __future__ import annotations

import re
from pathlib import Path

from harbor_author.suite.ids import TaskId, parse_task_id
from harbor_author.suite.model import Suite
from harbor_author.suite.toml_source import read_text

_CELL_ID = r"[\[`*]*([A-Z][1-9]\d*)(?:-[a-z0-9-]+)?[\]`*]*(?:\([^)|]*\))?[`*]*"
_ROW_ID = re.compile(rf"^\|\s*{_CELL_ID}\s*\|")


def register_ids(suite: Suite) -> dict[TaskId, str]:
    """IDs in the first cell of a table row of the README and the scoring document: ID -> `file:line`.

    A register that author.toml does not name registers nothing.
    """
    found: dict[TaskId, str] = {}
    for name in (suite.settings.readme, suite.settings.scoring):
        for task_id, line in row_ids(suite.root / name).items() if name else ():
            found.setdefault(task_id, f"{name}:{line}")
    return found


def row_ids(path: Path) -> dict[TaskId, int]:
    """The IDs in the first cells of the tables of a Markdown file: ID -> 1-based line. A missing file has none.

    Raises:
        SuiteError: the file cannot be read or is not UTF-8.
    """
    if not path.exists():
        return {}
    found: dict[TaskId, int] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        match = _ROW_ID.match(line)
        task_id = parse_task_id(match[1]) if match else None
        if task_id:
            found.setdefault(task_id, number)
    return found


def cell_id(cell: str) -> TaskId | None:
    """The task that a first cell names: `H23` or its directory's name, plain, in code, bold or a link."""
    match = re.fullmatch(_CELL_ID, cell.strip())
    return parse_task_id(match[1]) if match else None
