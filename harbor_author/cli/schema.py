"""`author schema`: JSON Schemas for editors."""

from __future__ import annotations

import json

import click

from harbor_author.cli.common import author_command


@author_command("author schema task > task.schema.json", "author schema suite > author.schema.json")
@click.argument("kind", type=click.Choice(("task", "suite")))
def command(kind: str) -> int:
    """Print the JSON Schema of task.toml (KIND task) or of author.toml (KIND suite), for editors."""
    from harbor_author.checks.json_schema import suite_schema, task_schema

    schema = task_schema() if kind == "task" else suite_schema()
    click.echo(json.dumps(schema, ensure_ascii=False, indent=2))
    return 0
