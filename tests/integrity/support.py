"""A benchmark task of the general form, on disk, and other things that these tests share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PREFIX = "author-test-copy-"


def manifest(id_: str = "fix-sum", **changes: Any) -> dict[str, Any]:
    """A sound task.json; a change to None removes the field."""
    document: dict[str, Any] = {
        "id": id_,
        "category": "bugfix",
        "prompt": "The sum of an empty list is wrong. Mend it.",
        "fixture": "fixtures/sum",
        "fixtureVersion": "1.0.0",
        "timeout": 60,
        "budgets": {"turns": 20, "tokens": 100_000},
        "grader": {
            "type": "command",
            "command": [sys.executable, "-c", "import sum; assert sum.of([]) == 0"],
        },
    }
    document |= changes
    return {key: value for key, value in document.items() if value is not None}


def write_task(root: Path, id_: str = "fix-sum", **changes: Any) -> Path:
    """Write a task below `root` and return its directory."""
    task = root / id_
    fixture = task / "fixtures" / "sum"
    fixture.mkdir(parents=True, exist_ok=True)
    (fixture / "sum.py").write_text("def of(numbers):\n    return sum(numbers) if numbers else None\n")
    (task / "task.json").write_text(json.dumps(manifest(id_, **changes)))
    return task


def leftovers(folder: Path, prefix: str = PREFIX) -> list[str]:
    """Temporary directories that are still there."""
    return sorted(path.name for path in folder.glob(prefix + "*"))
