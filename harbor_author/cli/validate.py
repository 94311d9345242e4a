"""`author validate`: check tasks against every rule, without a container."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from harbor_author.checks import Report, find_tasks, validate
from harbor_author.cli.common import author_command, json_option, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.suite import Suite, Task, find_suite, find_suite_or_none

_FORMATS = ("text", "json", "sarif", "junit", "github")


@author_command(
    "author validate",
    "author validate H23 S17 --json",
    "author validate path/to/tasks --format sarif",
    "author validate --changed --base origin/main",
    "author validate --select leaks --ignore secret-in-task",
)
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option(
    "--select", multiple=True, metavar="RULE", help="Run only these rules, packs or themes (or ALL)."
)
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave out these rules, packs or themes.")
@click.option(
    "--severity",
    "weights",
    multiple=True,
    metavar="RULE=WEIGHT",
    help="Weigh a rule as error, warning or note.",
)
@click.option("--format", "output", type=click.Choice(_FORMATS), default=None, help="Default: text.")
@click.option(
    "--changed", is_flag=True, help="Only tasks that git says were touched since --base (default HEAD)."
)
@click.option("--base", metavar="REV", help="With --changed: compare with the fork from this revision.")
@click.option("--fix", "repair", is_flag=True, help="Repair what can be proved first, as 'author fix' does.")
@click.option("--watch", "keep_on", is_flag=True, help="Validate again whenever a file changes.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes (default: by the processors)."
)
@suite_option
@json_option
def command(
    tasks: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    weights: tuple[str, ...],
    output: str | None,
    changed: bool,
    base: str | None,
    repair: bool,
    keep_on: bool,
    jobs: int | None,
    suite_dir: Path | None,
    as_json: bool,
) -> int:
    """Check tasks against every rule, without a container.

    TASK is an ID, a directory name, a path, or a directory of tasks; default: every task of the suite.
    Status 1 when there is an error; warnings and notes are for the reader.
    """
    if as_json and output not in (None, "json"):
        raise click.UsageError("--json and --format contradict each other")
    if base is not None and not changed:
        raise click.UsageError("--base needs --changed")
    names = _split(select), _split(ignore)
    severity = _severities(weights)

    def once() -> int:
        suite = find_suite(suite_dir) if suite_dir is not None else find_suite_or_none()
        chosen = find_tasks(tasks, suite)
        if changed:
            from harbor_author.checks.changed import changed_tasks

            chosen = changed_tasks(chosen, base=base)
        if repair:
            _repair(chosen)
        report = _report(chosen, suite, *names, severity, jobs) if chosen else Report((), ())
        _print(report, "json" if as_json else output or "text")
        return 0 if report.ok else 1

    return _watch(once, tasks, suite_dir) if keep_on else once()


def _report(
    tasks: Sequence[Task],
    suite: Suite | None,
    select: list[str],
    ignore: list[str],
    severity: dict[str, str],
    jobs: int | None,
) -> Report:
    from harbor_author.output.progress import working
    from harbor_author.output.text import counted

    with working(f"checking {counted(len(tasks), 'task')}"):
        return validate(
            tasks, suite=suite, select=select, ignore=ignore, severity=severity, jobs=jobs, remember=True
        )


def _split(values: Sequence[str]) -> list[str]:
    """Each option may be given several times, and hold several names with commas."""
    return [name for value in values for name in value.split(",") if name]


def _severities(values: Sequence[str]) -> dict[str, str]:
    found = {}
    for value in _split(values):
        name, equals, weight = value.partition("=")
        if not equals:
            raise click.UsageError(f"--severity wants RULE=WEIGHT, not '{value}'")
        found[name] = weight
    return found


def _repair(tasks: Sequence[Task]) -> None:
    from harbor_author.checks import apply_fixes, plan_fixes
    from harbor_author.output.fixes_text import render

    changes = plan_fixes(tasks)
    apply_fixes(changes)
    if changes:
        click.echo(render(changes, applied=True), err=True)


def _print(report: Report, output: str) -> None:
    base = Path.cwd()
    if output == "json":
        from harbor_author.output.findings_json import document

        print_json(document(report, base=base))
    elif output == "sarif":
        from harbor_author.output import findings_sarif

        click.echo(json.dumps(findings_sarif.document(report, base=base), ensure_ascii=False, indent=2))
    elif output == "junit":
        from harbor_author.output import findings_junit

        click.echo(findings_junit.render(report, base=base))
    elif output == "github":
        from harbor_author.output import findings_github

        click.echo(findings_github.render(report, base=base))
    else:
        from harbor_author.output.findings_text import render

        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        click.echo(render(report, base=base, colour=colour))


def _watch(once: Callable[[], int], tasks: Sequence[str], suite_dir: Path | None) -> int:
    from harbor_author.checks.changed import watch
    from harbor_author.errors import AuthorError

    suite = find_suite(suite_dir) if suite_dir is not None else find_suite_or_none()
    roots = [task.path for task in find_tasks(tasks, suite)]
    if suite is not None:
        # New tasks and changed cards count too.
        roots = [*(roots if tasks else [suite.tasks_dir]), *suite.reference_dirs, suite.settings.path]
    status = 0
    for number, _ in enumerate(watch(roots)):
        if number:
            click.echo("---", err=True)
        try:
            status = once()
        except AuthorError as error:
            # While somebody is typing, a file may be wrong for a moment; that must not end the watch.
            click.echo(f"author: {error}", err=True)
            status = 2
    return status
