"""`author oracle-check`: prove tasks in containers."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, suite_option
from harbor_author.cli.complete import task_names
from harbor_author.suite import SuiteError, Task, find_suite_or_none, resolve_tasks


def select_tasks(names: tuple[str, ...], every: bool, suite_dir: Path | None) -> list[Task]:
    """The tasks that a command line names.

    Raises:
        SuiteError, click.UsageError: none is named, or one cannot be found.
    """
    if every:
        if names:
            raise click.UsageError("give either tasks or --all")
        whole = open_suite(suite_dir)
        found = whole.tasks()
        if not found:
            raise SuiteError(
                "holds no task", path=whole.tasks_dir, hint="is this the right suite? 'author new' makes one"
            )
        return found
    if not names:
        raise click.UsageError("name at least one task, or give --all")
    if "" in names:
        raise click.UsageError("a TASK is empty: is a shell variable unset?")
    suite = open_suite(suite_dir) if suite_dir else find_suite_or_none()
    tasks = resolve_tasks(names, suite)
    for task in tasks:
        if not task.name:
            raise click.UsageError(f"{task.path} is no task's directory")
    return tasks


def refuse_for_harbor(given: Mapping[str, object]) -> None:
    """Refuse options of which Harbor's own run would take no notice.

    Raises:
        click.UsageError: one is given.
    """
    named = [name for name, value in given.items() if value]
    if named:
        raise click.UsageError(
            f"{' and '.join(named)}: not with --runner harbor, whose containers are Harbor's own; leave it out, or run "
            "these trials here (--runner local)"
        )


def interrupt_on_signals() -> None:
    """Let SIGTERM, and SIGHUP unless it is ignored (nohup), take the way of Ctrl-C: it leaves no container either.

    Only the first counts: a second one must not cut the clean-up short.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(signum: int, frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        sys.stderr.write("author: interrupted, removing the containers\n")
        raise KeyboardInterrupt

    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


@author_command(
    "author oracle-check H23",
    "author oracle-check H23 --matrix --repeat 10",
    "author oracle-check --all --changed --shard 3/16 --json",
    "author oracle-check H23 --runner harbor --env daytona",
)
@click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=task_names)
@click.option("--all", "every", is_flag=True, help="Every task of the suite.")
@suite_option
@json_option
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Trials at once (default: one a processor, at least 2)."
)
@click.option("--keep", is_flag=True, help="Leave the containers, to look into; 'author clean' removes them.")
@click.option("--force", is_flag=True, help="Prove also what a current receipt covers.")
@click.option(
    "--matrix", is_flag=True, help="Every trial that applies: derived submissions, decoys, ablation, repeats."
)
@click.option(
    "--budget", type=click.IntRange(min=0), default=24, show_default=True, help="Ablation trials at most."
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    help="Run the oracle so often, the untouched task a quarter of it.",
)
@click.option("--clock", metavar="OFFSET", default="", help="Also with the clock set off, such as +365d.")
@click.option("--no-network", "offline", is_flag=True, help="Also without network.")
@click.option("--changed", is_flag=True, help="Leave out of the report what a current receipt covers.")
@click.option(
    "--resume",
    is_flag=True,
    help="Take up an interrupted proof, and leave alone what failed while nothing has changed.",
)
@click.option(
    "--shard", "shard_text", metavar="I/N", help="Only part I of N of the tasks, by a stable hash of the ID."
)
@click.option(
    "--watch", "watching", is_flag=True, help="Then prove again each task that is saved, until interrupted."
)
@click.option(
    "--runner",
    type=click.Choice(["local", "harbor"]),
    default="local",
    show_default=True,
    help="Who runs the trials.",
)
@click.option("--env", "environment", default="docker", show_default=True, help="Harbor's environment.")
@click.option(
    "--harbor",
    "harbor_command",
    default="harbor",
    show_default=True,
    metavar="COMMAND",
    help="Harbor's command.",
)
@click.option(
    "--artifacts",
    "artefacts",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep outputs, ledger and diff of trials that did not pass, without secrets; 'author clean' expires them.",
)
@click.option("-v", "--verbose", is_flag=True, help="Every stage, the build's output, every log's tail.")
def command(
    tasks: tuple[str, ...],
    every: bool,
    suite_dir: Path | None,
    as_json: bool,
    jobs: int | None,
    keep: bool,
    force: bool,
    matrix: bool,
    budget: int,
    repeat: int | None,
    clock: str,
    offline: bool,
    changed: bool,
    resume: bool,
    shard_text: str | None,
    watching: bool,
    runner: str,
    environment: str,
    harbor_command: str,
    artefacts: Path | None,
    verbose: bool,
) -> int:
    """Prove in fresh containers that a judge separates right from wrong.

    The untouched environment must give 0 and the reference solution 1, by Harbor's own execution contract. A judge
    that could not judge is an ERROR with its cause, never a 0. The receipt proof.json is written beside the task;
    while all that it depends on is unchanged, the task is not run again.
    """
    from harbor_author.output.bars import style_for

    if runner == "harbor":
        refuse_for_harbor(
            {
                "--clock": clock,
                "--no-network": offline,
                "--keep": keep,
                "--resume": resume,
                "--artifacts": artefacts,
            }
        )
    from harbor_author.proof import Options, oracle_check, report
    from harbor_author.proof.progress import choose

    chosen = select_tasks(tasks, every, suite_dir)
    if shard_text is not None:
        from harbor_author.proof.shards import parse_shard, select

        chosen = select(chosen, parse_shard(shard_text))
    options = Options(jobs=jobs, keep=keep, force=force, resume=resume, artefacts=artefacts)
    if matrix or repeat or clock or offline:
        from harbor_author.proof.matrix import Scope, with_scope

        scope = Scope(matrix=matrix, budget=budget, repeat=repeat, clock=clock, offline=offline)
        options = with_scope(options, scope)
    interrupt_on_signals()

    def prove(some: list[Task]) -> int:
        progress = choose(quiet=False, verbose=verbose, environ=os.environ, stream=sys.stderr)
        try:
            if runner == "harbor":
                from harbor_author.proof.harbor_runner import HarborRunner, check_by_harbor

                harbor = HarborRunner(harbor_command, environment, jobs or 2)
                results = check_by_harbor(some, harbor, programme=options.programme, progress=progress)
            else:
                results = oracle_check(some, options, progress=progress)
        finally:
            progress.close()
        if as_json:
            print_json(report.document(results))
        else:
            shown = [result for result in results if not (changed and result.is_current)]
            style = style_for(sys.stdout, os.environ)
            click.echo(report.text(shown, verbose=verbose, keep=keep, style=style) or _nothing(some))
        return report.exit_status(results)

    status = prove(chosen)
    if watching:
        from harbor_author.proof.watch import watch

        watch(chosen, prove)
    return status


def _nothing(tasks: list[Task]) -> str:
    return "nothing has changed" if tasks else "there is no task to prove"
