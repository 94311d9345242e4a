"""`author bench`: agents times fixtures through a model API, scored by findings."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, print_json
from harbor_author.scoring.bench.kinds import KINDS


def _last(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Of --agent and --agents the later one counts; click calls back in the order of the command line."""
    if value is not None:
        context.meta["agents"] = [value] if parameter.name == "agent" else value.split(",")
    return value


@author_command(
    "author bench benchmarks/executor --dry-run",
    "author bench benchmarks/executor --agents executor,deep-executor --model claude-opus-4-6",
    "author bench benchmarks/executor --resume --jobs 4",
)
@click.argument("folder", type=click.Path(path_type=Path), default=".", metavar="[DIR]")
@click.option(
    "--kind", type=click.Choice(list(KINDS)), default="executor", show_default=True, help="The benchmark."
)
@click.option("--agent", metavar="NAME", callback=_last, expose_value=False, help="One agent.")
@click.option(
    "--agents", metavar="A,B", callback=_last, expose_value=False, help="Several; the first two are compared."
)
@click.option("--fixture", metavar="ID", help="Only this fixture.")
@click.option("--model", default="claude-opus-4-6", show_default=True, help="The model's id.")
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="For the reports (default: DIR/results).",
)
@click.option("--dry-run", is_flag=True, help="Read and validate everything; call nothing, write nothing.")
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Calls at the same time."
)
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(min=1), default=600, help="Seconds for one call."
)
@click.option("--resume", is_flag=True, help="Go on with the interrupted run in the output folder.")
@click.option("--force", is_flag=True, help="Begin anew although a run was interrupted there.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    folder: Path,
    kind: str,
    fixture: str | None,
    model: str,
    output_dir: Path | None,
    dry_run: bool,
    jobs: int,
    timeout_s: float,
    resume: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Run agents on the fixtures of the benchmark in DIR and compare what they find.

    DIR holds fixtures/<code|analysis|plans|bugs|tasks>/, ground-truth/<id>.json and prompts/<agent>.md.
    Needs ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; ANTHROPIC_BASE_URL is honoured.
    Exit status 1 when a run failed; its failure is reported and is no score.
    """
    from harbor_author.output.progress import working
    from harbor_author.output.text import printable, printable_lines
    from harbor_author.scoring import bench
    from harbor_author.scoring.bench.journal import Journal
    from harbor_author.scoring.bench.runner import failed_count
    from harbor_author.scoring.reports import render_table

    def say(text: str) -> None:
        click.echo(printable_lines(text), nl=False, err=as_json)

    def warn(text: str) -> None:
        click.echo(printable(text), err=True)

    chosen = KINDS[kind]
    agents = context.meta.get("agents") or list(chosen.agents)
    say("Loading agent prompts...\nLoading fixtures...\n")
    inputs = bench.load_inputs(folder, chosen, agents, fixture=fixture)
    ids = [one.id for one in inputs.fixtures]
    say(f"  {len(ids)} fixture(s) found: {', '.join(ids)}\n")
    if dry_run:
        say("\nDry run complete. Pipeline validated \u2014 skipping API calls.\n")
        if as_json:
            print_json({"schema": "author/bench/1", "dryRun": True, "agents": agents, "fixtures": ids})
        return 0
    ask = bench.anthropic_model(model, timeout_s=timeout_s)
    destination = output_dir or folder / "results"
    journal = Journal(destination, model=model, resume=resume, force=force)
    try:
        with working("", inline=True) as work:

            def say_timed(text: str) -> None:
                work.clear()
                if text.startswith("Running "):
                    work.restart()
                say(text)

            run = bench.Run(chosen, ask, say=say_timed, warn=warn, jobs=jobs)
            results = bench.run_benchmark(inputs, run, journal=journal)
    except BaseException:
        journal.close()
        click.echo(f"\nInterrupted; --resume goes on with {journal.path}", err=True)
        raise
    say(render_table(results, agents) + "\n")
    say("\nGenerating reports...\n")
    now = datetime.now(UTC)
    document, markdown = bench.comparison(results, chosen, agents, model=model, now=now)
    files = bench.write_reports(document, markdown, destination, now=now)
    journal.finish()
    say("\nBenchmark complete.\n\n")
    sys.stdout.flush()
    if as_json:
        print_json({"schema": "author/bench/1", **document, "files": [str(path) for path in files]})
    return 1 if failed_count(results) else 0
