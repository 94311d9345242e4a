"""What `author fix` did or would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harbor_author.checks import Change
from harbor_author.output.findings_text import relative
from harbor_author.output.text import printable_lines


def render(changes: Sequence[Change], *, applied: bool) -> str:
    """The diff of each file, then one summary line."""
    parts = []
    for change in changes:
        parts.append(f"{change.task}: {', '.join(change.rules)}")
        parts.append(printable_lines(change.diff().rstrip("\n")))
    count = len(changes)
    what = "repaired" if applied else "would be repaired"
    parts.append(f"{count} {'file' if count == 1 else 'files'} {what}" if changes else "nothing to repair")
    return "\n".join(parts)


def document(changes: Sequence[Change], *, base: Path, applied: bool) -> dict[str, Any]:
    """Shape: `{schema, applied, changes: [{task, path, rules, executable, diff}]}`."""
    return {
        "schema": "author/fix/1",
        "applied": applied,
        "changes": [
            {
                "task": change.task,
                "path": relative(str(change.path), base),
                "rules": list(change.rules),
                "executable": change.executable,
                "diff": change.diff(),
            }
            for change in changes
        ],
    }
