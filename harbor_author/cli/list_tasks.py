"""`author list`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.suite import SuiteError, Task, check_series, parse_toml, read_text, task_mode


@author_command("author list", "author list --series H", "author list --json")
@click.option("--series", metavar="LETTER", help="Only this series.")
@suite_option
@json_option
def command(series: str | None, suite_dir: Path | None, as_json: bool) -> int:
    """List the suite's tasks: ID, mode, what they are about.

    Exits 1 when one cannot be read or is not named <series><number>-<slug>.
    """
    suite = open_suite(suite_dir)
    if series:
        check_series(suite, series)
    rows = [
        _row(task)
        for task in suite.tasks()
        if not series or (task.task_name and task.task_name.series == series)
    ]
    if as_json:
        print_json({"schema": "author/list/1", "suite": suite.settings.name, "tasks": rows})
    elif not rows:
        click.echo(f"No tasks in {suite.tasks_dir}; 'author new --series H' makes one.")
    else:
        from harbor_author.output.tables import table

        click.echo(
            table(
                [
                    (row["id"] or "?", row["name"], row["mode"] or "?", row["problem"] or row["title"])
                    for row in rows
                ]
            )
        )
    return 1 if any(row["problem"] for row in rows) else 0


def _row(task: Task) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": task.id,
        "name": task.name,
        "path": str(task.path),
        "series": task.task_name.series if task.task_name else None,
        "mode": None,
        "title": None,
        "cards": [],
        "problem": None if task.task_name else "is not named <series><number>-<slug>",
    }
    try:
        document = parse_toml(read_text(task.path / "task.toml"), path=task.path / "task.toml").document
    except SuiteError as error:
        row["problem"] = str(error).splitlines()[0]
        return row
    row["mode"] = task_mode(task, document)
    described = document.get("task")
    metadata = document.get("metadata")
    row["title"] = str(described.get("description", "")) if isinstance(described, dict) else ""
    cards = metadata.get("cards") if isinstance(metadata, dict) else None
    row["cards"] = [str(card) for card in cards] if isinstance(cards, list) else []
    return row
