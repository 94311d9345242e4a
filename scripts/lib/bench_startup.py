"""How long `author` takes to say its first word, against an interpreter that only imports click."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from bench import Target, interleave, report

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    def command(*arguments: str) -> None:
        subprocess.run(
            arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=env
        )

    # What the ratio is about; a bytecode cache that cannot be written would be recompiled on every start.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    author = str(BIN / "author")
    seconds = interleave(
        {
            "python -c 'import click'": lambda: command(sys.executable, "-c", "import click"),
            "author --version": lambda: command(author, "--version"),
            "author --help": lambda: command(author, "--help"),
            "author validate (our suite)": lambda: command(author, "validate"),
        },
        rounds=options.rounds,
    )
    targets = [Target("author --version", "python -c 'import click'", 2.0)]
    return report("start-up", seconds, targets, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
