"""Options and printing that the commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from harbor_author.suite import Suite, find_suite

F = TypeVar("F", bound=Callable[..., Any])


def suite_option(function: F) -> F:
    """Add `--suite DIR`, given to the command as `suite_dir: Path | None`."""
    return click.option(
        "--suite",
        "suite_dir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The suite's folder (default: found by walking up from here to an author.toml).",
    )(function)


def json_option(function: F) -> F:
    """Add `--json`, given to the command as `as_json: bool`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(function)


def examples(*lines: str) -> str:
    """An epilog of `--help`: example command lines, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def author_command(*lines: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command whose `--help` ends in examples, one command line each.

    The function returns its exit status, or None for 0. Its name is not used: `main.COMMANDS` names commands.
    """
    return lambda function: click.command(epilog=examples(*lines))(function)


def author_group(*lines: str) -> Callable[[Callable[..., Any]], click.Group]:
    """The same for a command with subcommands."""
    return lambda function: click.group(epilog=examples(*lines))(function)


def open_suite(suite_dir: Path | None) -> Suite:
    """The suite at `suite_dir`, or the one that holds the working directory.

    Raises:
        SuiteError: there is none, or its author.toml is wrong.
    """
    return find_suite(suite_dir)


def say(text: str, *, err: bool = False) -> None:
    """Print lines that hold another person's words, without what a terminal would obey."""
    from harbor_author.output.text import printable_lines

    click.echo(printable_lines(text), err=err)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one document on standard output; it must carry a `schema` field."""
    assert "schema" in document, "every JSON document names its schema"
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))
