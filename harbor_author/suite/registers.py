"""The documents of a suite that list and count its tasks."""

from __future__ import annotations

import re

from harbor_author.suite.errors import SuiteError
from harbor_author.suite.ids import TaskId, parse_task_id
from harbor_author.suite.model import Suite
from harbor_author.suite.toml_source import read_text

_ROW_ID = re.compile(r"^\|\s*[\[`*]*([A-Z][1-9]\d*)(?:-[a-z0-9-]+)?[\]`*]*(?:\([^)|]*\))?[`*]*\s*\|")


def register_ids(suite: Suite) -> dict[TaskId, str]:
    """IDs in the first cell of a table row of the README and the scoring document: ID -> `file:line`.

    A register that is declared in author.toml and missing is an error of the suite; one that is not declared
    registers nothing.
    """
    found: dict[TaskId, str] = {}
    for name in (suite.settings.readme, suite.settings.scoring):
        if name is None:
            continue
        path = suite.root / name
        try:
            text = read_text(path)
        except SuiteError as error:
            if not path.exists():
                continue
            raise error
        for number, line in enumerate(text.split("\n"), 1):
            match = _ROW_ID.match(line)
            task_id = parse_task_id(match[1]) if match else None
            if task_id:
                found.setdefault(task_id, f"{name}:{number}")
    return found
