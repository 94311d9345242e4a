"""Words for shell completion, read from file names alone: a shell waits for them at every key."""

from __future__ import annotations

import re
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from harbor_author.suite import FILE_NAME, parse_task_name

_CARD_HEADING = re.compile(
    rb"^### (DSH-\d+\.\d+\.\d+-[AR]\d+-\d{2}|(?:R|API|CFG)-\d{2}) +\xc2\xb7 +([^\r\n]*)", re.MULTILINE
)


def task_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """IDs of the suite's tasks, each with its name as help; paths when the word looks like one."""
    if "/" in incomplete or incomplete.startswith("."):
        return [CompletionItem(incomplete, type="file")]
    root = _suite_root(context)
    names = (
        [parse_task_name(entry.name) for entry in (root / "tasks").iterdir()]
        if root and (root / "tasks").is_dir()
        else []
    )
    return [
        CompletionItem(name.id if not incomplete.startswith(f"{name.id}-") else str(name), help=name.slug)
        for name in sorted(name for name in names if name is not None)
        if str(name).startswith(incomplete)
    ]


def card_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Card IDs of the default references folder, with titles; after a comma, the next of a list."""
    root = _suite_root(context)
    before, comma, last = incomplete.rpartition(",")
    found = []
    for path in sorted((root / "references").rglob("*.md")) if root else []:
        for match in _CARD_HEADING.finditer(path.read_bytes()):
            card_id = match[1].decode()
            if card_id.startswith(last):
                found.append(
                    CompletionItem(before + comma + card_id, help=match[2].decode("utf-8", "replace"))
                )
    return found


def _suite_root(context: click.Context) -> Path | None:
    start = (context.params.get("suite_dir") or Path.cwd()).resolve()
    return next((folder for folder in (start, *start.parents) if (folder / FILE_NAME).is_file()), None)
