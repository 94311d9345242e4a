"""`author report`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, open_suite, suite_option
from harbor_author.cli.complete import task_names


@author_command("author report", "author report --open", "author report H23 S17 --output proofs.html")
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default="author-report.html",
    show_default=True,
    help="The file to write.",
)
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@click.option("--force", is_flag=True, help="Overwrite a file that is no report of ours.")
@suite_option
def command(tasks: tuple[str, ...], output: Path, show: bool, force: bool, suite_dir: Path | None) -> None:
    """Write the suite as one HTML page: state of every task, separation charts, findings, receipts.

    Nothing is run: proofs come from the receipts, findings from the rules. The page needs no network and no script.
    """
    from harbor_author.integrity.files import write_atomic
    from harbor_author.output.progress import working
    from harbor_author.report import collect, html
    from harbor_author.report.page import is_ours
    from harbor_author.suite import SuiteError, resolve_tasks

    suite = open_suite(suite_dir)
    if output.exists() and not force and not is_ours(output):
        raise SuiteError("exists and is no report", path=output, hint="name another file, or give --force")
    if output.resolve().is_relative_to(suite.tasks_dir):
        raise SuiteError(
            "lies inside a task", path=output, hint="run in the suite's folder, or give --output elsewhere"
        )
    chosen = resolve_tasks(tasks, suite) if tasks else suite.tasks()
    with working("checking the tasks and their receipts") as work:
        view = collect(suite, chosen)
        work.stage("drawing the page")
        write_atomic(output, html(view))
    count = "1 task" if len(chosen) == 1 else f"{len(chosen)} tasks"
    click.echo(f"Wrote {output} ({count}, {output.stat().st_size // 1024} KiB)")
    if show:
        click.launch(str(output))
