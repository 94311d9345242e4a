"""The `author` command: finds the module of a subcommand when it is called, not before."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

import click

from harbor_author import __version__
from harbor_author.errors import AuthorError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_NO_MEMORY = (
    "there is not enough memory\n"
    "  fix: end other programs, or raise the limit (ulimit -v, or the container's), then run it again"
)

#: command -> (module below harbor_author.cli, one-line help). The help stands here so that
#: `author --help` and completion need not import every command.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Make a folder a suite: author.toml, tasks/, references/."),
    "import": ("import_suite", "Bring an existing folder of tasks under an author.toml."),
    "new": ("new", "Scaffold a task that is sound from the start."),
    "rename": ("rename", "Give a task another slug or ID, everywhere it is mentioned."),
    "next-id": ("next_id", "Print the next free ID of a series."),
    "list": ("list_tasks", "List the suite's tasks."),
    "cards": ("cards", "List, show and count the coverage of host-change cards."),
    "validate": ("validate", "Check tasks against every rule, without a container."),
    "explain": ("explain", "Explain a rule: what is wrong, why, and what to do."),
    "rules": ("rules", "List every rule of validate."),
    "fix": ("fix", "Repair what can be proved, and show the diff."),
    "schema": ("schema", "Print the JSON Schema of task.toml or author.toml."),
    "sync": ("sync", "Keep the tables and counts of the registers true from the tasks."),
    "manifest": ("manifest", "Record each task's version, and why it changed."),
    "retire": ("retire", "Take a task out of new runs; its evidence and number stay."),
    "oracle-check": ("oracle_check", "Prove in containers that a judge separates right from wrong."),
    "score": ("score", "Score a report by the findings of a ground truth."),
    "calibrate": ("calibrate", "Test a ground truth on reports whose worth is known."),
    "bench": ("bench", "Run agents on fixtures through a model API and compare them."),
    "runs": ("runs", "Summarise and compare the rewards of real Harbor jobs."),
    "survey": ("survey", "Rank a repository's commits by how likely the host forced them."),
    "extract": ("extract", "Make a task of a commit: fixture before, reference solution after."),
    "proof": ("proof", "Show receipts, and check whether they still hold."),
    "new-decoy": ("new_decoy", "Scaffold a wrong submission that tempts, or another right one."),
    "doctor": ("doctor", "Check what this machine lacks, with the remedy for each."),
    "publish": ("publish", "Check that a task is ready, record it, describe its change set."),
    "report": ("report", "Write the suite as one HTML page to look at."),
    "vendor": ("vendor", "Keep the judge libraries in tasks identical to the released ones."),
    "completion": ("completion", "Print a completion script for bash, zsh or fish."),
    "clean": ("clean", "Remove containers of runs that are no more, and your cached task images."),
}


class LazyGroup(click.Group):
    """A click group whose subcommands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"harbor_author.cli.{entry[0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"Did you mean 'author {near[0]}'?" if near else "'author --help' lists the commands."
            raise click.UsageError(f"There is no command '{name}'. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # click's own would import every command to ask whether it is hidden.
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=text)
            for name, (_, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return (
            found
            if found and not incomplete.startswith("-")
            else click.Command.shell_complete(self, ctx, incomplete)
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


#: What `author` alone shows: the steps of a task's life. Steps whose command does not exist yet are left out.
LIFE = (
    ("begin", "init", "author init my-suite"),
    ("find", "survey", "author survey path/to/plugin"),
    ("", "extract", "author extract path/to/plugin COMMIT --series M"),
    ("scaffold", "new", "author new --series H --slug what-it-is-about"),
    ("validate", "validate", "author validate H23"),
    ("", "fix", "author fix H23"),
    ("prove", "oracle-check", "author oracle-check H23"),
    ("register", "sync", "author sync"),
    ("publish", "publish", "author publish H23"),
    ("re-prove", "oracle-check", "author oracle-check --all"),
)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 all is well, 1 something falls short, 2 it could not be done, 130 interrupted.",
)
@click.version_option(__version__, prog_name="author")
@click.pass_context
def cli(context: click.Context) -> None:
    """Take a Harbor benchmark task through its whole life: scaffold, validate, prove, publish, re-prove."""
    if context.invoked_subcommand is None:
        click.echo("The life of a benchmark task:\n")
        for step, command, example in LIFE:
            if command in COMMANDS:
                click.echo(f"  {step:<10}{example}")
        click.echo("\n'author --help' lists every command, 'author COMMAND --help' shows examples of one.")


def main() -> None:
    """Run the command line and exit with its status.

    An `AuthorError` becomes a message and status 2, as does a failing disk or permission; an error that nobody
    foresaw goes, with traceback and versions, to a log file that the message names.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - closed by the caller: nobody reads
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows its escape; a Chinese title must not end the run.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_status())


def _status() -> int:
    stdout = sys.stdout
    try:
        status = cli.main(prog_name="author", standalone_mode=False)
    except AuthorError as error:
        return _complain(str(error))
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return 130
    except BrokenPipeError:
        # The reader (`author list | head`) has what it wanted; the interpreter must not complain at exit.
        sys.stdout = None
        return 0
    except SystemExit as exit_:
        if sys.stdout is not stdout:  # click wraps it when the reader of a pipe has gone
            return 0
        return exit_.code if isinstance(exit_.code, int) else 0
    except MemoryError:
        return _complain(_NO_MEMORY)
    except RuntimeError as error:
        # No memory for its stack, or no room below a limit on processes; the system does not say which.
        return _complain(_NO_MEMORY if "start new thread" in str(error) else _log_unforeseen(error))
    except OSError as error:
        if error.errno == errno.ENOMEM:
            return _complain(_NO_MEMORY)
        if isinstance(error, FileNotFoundError) and error.filename is None and not _here():
            return _complain("the current folder no longer exists\n  fix: change to one that does")
        place = f"{error.filename}: " if error.filename else "an output: "
        return _complain(
            f"{place}{error.strerror or error}\n  fix: check permissions and free space, then run it again"
        )
    except Exception as error:
        return _complain(_log_unforeseen(error))
    return status if isinstance(status, int) else 0


def _here() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - asked whether it is there, not where it is
    except FileNotFoundError:
        return False
    return True


def _complain(text: str) -> int:
    try:
        from harbor_author.output.text import printable_lines

        text = printable_lines(text)
    except (MemoryError, ImportError):  # not even for a small module: our own words need no escaping
        text = _NO_MEMORY
    click.echo(f"author: {text}", err=True)
    return 2


def _log_unforeseen(error: Exception) -> str:
    what = f"unforeseen error, a fault of author itself: {error!r}"
    try:
        import platform
        import tempfile
        import traceback

        with tempfile.NamedTemporaryFile(
            "w",
            prefix="author-error-",
            suffix=".log",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as log:
            log.write(
                f"author {__version__}, Python {platform.python_version()}, {platform.platform()}\n{sys.argv}\n\n"
            )
            traceback.print_exception(error, file=log)
    except (MemoryError, ImportError):
        return _NO_MEMORY
    except OSError as unwritten:
        return f"{what}\n  fix: report it; no log could be written ({unwritten.strerror})"
    return f"{what}\n  fix: report it with {log.name}"
