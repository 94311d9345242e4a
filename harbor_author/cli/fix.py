"""`author fix`: repair what can be proved."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.suite import find_suite, find_suite_or_none


@author_command("author fix --dry-run", "author fix H23", "author fix H23 --rule crlf-line-ends")
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Repair only this rule's findings (repeatable)."
)
@click.option("--dry-run", is_flag=True, help="Show the diff and change nothing; status 1 when there is one.")
@suite_option
@json_option
def command(
    tasks: tuple[str, ...], rules: tuple[str, ...], dry_run: bool, suite_dir: Path | None, as_json: bool
) -> int:
    """Repair what can be proved: executable bits, line ends, names, the contract, short citations ...

    Shows a diff of each file. 'author rules' says which rules have a repair.
    """
    from harbor_author.checks import apply_fixes, find_tasks, get_rule, plan_fixes
    from harbor_author.output.fixes_text import document, render

    for rule in rules:
        get_rule(rule)  # a name that is none gets the nearest
    suite = find_suite(suite_dir) if suite_dir is not None else find_suite_or_none()
    changes = plan_fixes(find_tasks(tasks, suite), rules=rules)
    if not dry_run:
        apply_fixes(changes)
    if as_json:
        print_json(document(changes, base=Path.cwd(), applied=not dry_run))
    else:
        click.echo(render(changes, applied=not dry_run))
    return 1 if dry_run and changes else 0
