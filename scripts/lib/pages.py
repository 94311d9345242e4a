"""Run the commands of a Markdown page in order, and compare what they print with what the page shows.

A page's ```sh blocks are run as they stand, and show no output. In a ```console block each line that begins with `$ `
is a command, and what follows is its output. Words after the language say more, and no reader of the page sees them:

    ```console status=1     the (last) command ends with this exit status; otherwise with 0
    ```console engine       needs a container engine, as does every block after it
    ```console elsewhere    shown, not run

What differs from run to run (durations, digests, dates, version, the folder) is the same for the comparison.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

#: Where the reader is, in the pages; the scratch folder's name in what commands print is replaced by it.
HOME = "/home/you"
_BLOCK = re.compile(r"^```(sh|console)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMIT_DATE = "2026-11-30T09:00:00+0000"
_VARIES = (
    (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|min)\b"), "TIME"),
    (re.compile(r"\b(?:sha256:)?[0-9a-f]{7,64}\b"), "DIGEST"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?"), "DATE"),
    (re.compile(r"\bauthor \d+\.\d+\.\d+\S*"), "author VERSION"),
)


@dataclass(frozen=True)
class Step:
    """One command of a page, or one `sh` block."""

    line: int
    command: str
    shown: str
    kind: str
    words: frozenset[str]
    is_last: bool

    @property
    def status(self) -> int:
        given = [int(word.removeprefix("status=")) for word in self.words if word.startswith("status=")]
        return given[0] if given and self.is_last else 0


def steps(page: str) -> list[Step]:
    """What a page has its reader do, in order."""
    found: list[Step] = []
    for block in _BLOCK.finditer(page):
        line = page.count("\n", 0, block.start()) + 2
        words = frozenset(block[2].split())
        if block[1] == "sh":
            found.append(Step(line, block[3], "", "sh", words, True))
            continue
        begun = len(found)
        for offset, text in enumerate(block[3].splitlines(keepends=True)):
            if text.startswith("$ "):
                found.append(Step(line + offset, text[2:], "", "console", words, False))
            elif len(found) > begun:
                found[-1] = replace(found[-1], shown=found[-1].shown + text)
            else:
                raise ValueError(f"line {line + offset}: a console block begins with '$ COMMAND'")
        found[-1] = replace(found[-1], is_last=True)
    return found


def run(page: str, scratch: Path, bin_dir: Path, *, engine: bool) -> Iterator[tuple[Step, str, int]]:
    """Run a page's steps in `scratch`; give each with its output and exit status. Without `engine`, up to the first
    that needs one."""
    place = scratch / ".here"
    place.write_text(str(scratch))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "AUTHOR_"))}
    environment = kept | {
        "PATH": f"{bin_dir}:{os.environ['PATH']}",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_AUTHOR_DATE": _COMMIT_DATE,
        "GIT_COMMITTER_DATE": _COMMIT_DATE,
        "COLUMNS": "120",
    }
    for step in steps(page):
        if "engine" in step.words and not engine:
            return
        if "elsewhere" in step.words:
            continue
        # What oracle-check says meanwhile is gone from a terminal when it has ended.
        quiet = " 2>/dev/null" if step.command.startswith("author oracle-check") else ""
        script = f"cd \"$(cat '{place}')\"\n{step.command.rstrip()}{quiet}\nstatus=$?\npwd > '{place}'\nexit $status\n"
        options = ["-e"] if step.kind == "sh" else []
        done = subprocess.run(
            ["bash", *options, "-c", script],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        yield step, done.stdout.replace(str(scratch), HOME), done.returncode


def same(shown: str, printed: str) -> bool:
    """Whether two outputs differ in nothing but what differs from run to run."""
    return _settled(shown) == _settled(printed)


def _settled(text: str) -> list[str]:
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    # Columns are as wide as the longest duration of the run.
    return [re.sub(r" {2,}", "  ", line.rstrip()) for line in text.strip().splitlines()]


def with_outputs(page: str, outputs: list[tuple[Step, str]]) -> str:
    """The page, showing these outputs under their commands."""
    lines = page.splitlines(keepends=True)
    for step, printed in reversed(outputs):
        if step.kind == "console":
            at = step.line  # index of the line after the command
            text = printed.rstrip("\n")
            lines[at : at + step.shown.count("\n")] = [text + "\n"] if text else []
    return "".join(lines)
