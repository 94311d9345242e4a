"""The examples that `--help` shows: options that exist, and commands that do what they are shown for."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harbor_author.cli.main import cli
from tests.conftest import REPOSITORY

#: What reads a suite and changes nothing, or writes where it stands; the others need an engine, a key or a history.
RUN = ("list", "cards", "next-id", "explain", "rules", "schema", "sync", "fix")


def shown(command: click.Command, context: click.Context) -> Iterator[str]:
    for line in (command.epilog or "").splitlines():
        if line.strip().startswith("author "):
            yield line.strip()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from shown(inner, context)


EXAMPLES = sorted(set(shown(cli, click.Context(cli))))


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_asks_for_what_exists(example: str) -> None:
    words = shlex.split(example.split(" > ")[0].split(" < ")[0])[1:]
    command: click.Command | None = cli
    context = click.Context(cli, info_name="author")
    while isinstance(command, click.Group):
        name = words.pop(0)
        command = command.get_command(context, name)
    assert command is not None, example
    try:
        command.make_context("author", words)
    except click.BadParameter as error:
        if "does not exist" not in str(error):  # a file or folder that the reader has
            raise


@pytest.mark.slow
@pytest.mark.parametrize("example", [line for line in EXAMPLES if line.split()[1] in RUN])
def test_an_example_runs(example: str, suite_root: Path, tmp_path: Path) -> None:
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "author").write_text(f'#!/bin/sh\nexec {sys.executable} -m harbor_author "$@"\n')
    (bin_dir / "author").chmod(0o755)
    (suite_root / "references" / "v0.1.2-alpha.3.md").write_text("### DSH-0.1.2-A3-01 · One\n")
    environment = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    environment |= {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    run = {"capture_output": True, "text": True, "cwd": suite_root, "env": environment, "check": False}
    made = subprocess.run(["author", "new", "--series", "H", "--slug", "one"], **run)  # type: ignore[call-overload]
    assert made.returncode == 0, made.stderr
    done = subprocess.run(["sh", "-c", example], **run)  # type: ignore[call-overload]
    assert done.returncode in (0, 1), f"{example}: {done.stderr}"
