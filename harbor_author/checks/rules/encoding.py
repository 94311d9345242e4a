"""Bytes: byte-order marks, line ends, UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.programs import SHEBANGS
from harbor_author.checks.registry import rule

_PROGRAMS = (".sh", ".bash", ".py", ".mjs", ".cjs", ".js", ".pl", ".rb")


def owned_texts(files: TaskFiles) -> Iterator[str]:
    """The files that Harbor, a builder or the judge reads as text; what lies in a fixture is data."""
    for entry in files.files():
        path = entry.path
        if (
            path in ("task.toml", "README.md")
            or path in files.instructions
            or (path.startswith("environment/") and path.count("/") == 1 and _is_config(entry.name))
            or path in files.shell_scripts
        ):
            yield path
        elif path.startswith((*files.tests_prefixes, *files.solution_prefixes)):
            # Deeper files are often a plugin's or a data set's own.
            shallow = path.count("/") == 1 or path.startswith(tuple(files.tests_prefixes))
            if shallow and entry.name.endswith((*_PROGRAMS, ".md", ".toml")):
                yield path


def _is_config(name: str) -> bool:
    return name.startswith(("Dockerfile", ".dockerignore")) or name.endswith((".yaml", ".yml", ".toml"))


@rule(name="byte-order-mark", pack="harbor", severity="error")
def byte_order_mark(files: TaskFiles) -> Iterator[Problem]:
    """A file begins with a byte-order mark.

    Why: an editor on Windows saved task.toml "as UTF-8" with three invisible bytes in front; the parser then called
        its first line an invalid statement, and the task was dropped. Before `#!` they make a script unrunnable.
    Bad: the bytes EF BB BF before schema_version
    Good: the file begins with its first character.
    Fix: save it as UTF-8 without a byte-order mark; 'author fix' removes it.
    """
    for path in [*owned_texts(files), *(e.path for e in files.files() if e.name.endswith(".json"))]:
        if files.data(path).startswith(b"\xef\xbb\xbf"):
            json = path.endswith(".json")
            if json and path.startswith("environment/") and not path.endswith("package.json"):
                continue
            yield Problem("begins with a byte-order mark (EF BB BF)", path, 1, 1)
        elif files.data(path)[:2] in (b"\xff\xfe", b"\xfe\xff"):
            yield Problem("is UTF-16 with a byte-order mark, not UTF-8", path, 1, 1)


@rule(name="crlf-line-ends", pack="harbor", severity="error")
def crlf_line_ends(files: TaskFiles) -> Iterator[Problem]:
    """A script has Windows line ends.

    Why: Harbor strips them only when it runs on Windows. On Linux `#!/bin/bash` with a carriage return ends in
        "cannot execute: required file not found", and the trial has no reward; in solve.sh it ends in reward 0.
    Bad: tests/test.sh saved with CRLF
    Good: LF, and `*.sh text eol=lf` in .gitattributes
    Fix: save the file with LF; 'author fix' does it.
    """
    for path in files.shell_scripts:
        data = files.data(path)
        if b"\r" in data:
            line = data.count(b"\n", 0, data.find(b"\r")) + 1
            count = data.count(b"\r\n")
            what = f"{count} lines end in CRLF" if count else "it holds bare carriage returns"
            yield Problem(f"shell script with Windows line ends: {what}", path, line)
    for entry in files.files():
        path = entry.path
        ours = path.startswith((*files.tests_prefixes, *files.solution_prefixes))
        if ours and entry.executable and path not in files.shell_scripts:
            first = files.data(path)[:200].partition(b"\n")[0]
            if first.startswith(b"#!") and first.endswith(b"\r"):
                yield Problem(
                    "the #! line ends in CRLF: the kernel looks for a program of that name", path, 1
                )
    for path, dockerfile in files.dockerfiles.items():
        if b"\r\n" in files.data(path) and any(i.heredocs for i in dockerfile.instructions):
            message = "a Dockerfile with here-documents has Windows line ends, which end up in the image"
            yield Problem(message, path, 1)


@rule(name="not-utf8", pack="harbor", severity="error")
def not_utf8(files: TaskFiles) -> Iterator[Problem]:
    """A file that is read as UTF-8 text is something else.

    Why: an instruction saved as Latin-1 made Harbor's reader fail for the whole dataset; data files in any encoding
        are fine.
    Bad: instruction.md with the byte E9 for an accented letter
    Good: instruction.md in UTF-8
    Fix: save it as UTF-8.
    """
    for path in owned_texts(files):
        if files.data(path)[:2] in (b"\xff\xfe", b"\xfe\xff"):
            continue
        text = files.file_text(path)
        if text.bad_byte is not None:
            yield Problem("is not UTF-8", path, text.bad_byte)
        elif b"\0" in files.data(path):
            line = files.data(path).partition(b"\0")[0].count(b"\n") + 1
            yield Problem("holds a NUL byte", path, line)


@rule(name="bad-shebang", pack="harbor", severity="error")
def bad_shebang(files: TaskFiles) -> Iterator[Problem]:
    """A script's `#!` line names no interpreter that a container has, or does not stand on the first line.

    Why: `#!/usr/bin/bash -e -u` passes one argument "-e -u"; a blank line above `#!` makes it a comment, so a script
        for bash ran under whatever shell called it.
    Bad: an empty line, then #!/bin/bash
    Good: #!/bin/bash on line 1 (no #! at all works too: Harbor's bash runs the script)
    Fix: begin the file with #!/bin/bash or #!/usr/bin/env bash.
    """
    for path in files.shell_scripts:
        lines = files.text(path).split("\n")
        for number, line in enumerate(lines[:5], 1):
            match = re.match(r"(\s*)#\s*!\s*(/\S*)(.*)", line)
            if match is None:
                continue
            if number > 1 or match[1]:
                # A comment that merely resembles one ("#!/bin/sh is not used") stands deeper.
                if all(not above.strip() for above in lines[: number - 1]):
                    yield Problem("the #! line does not stand first, so it is only a comment", path, number)
            elif not line.startswith("#!"):
                yield Problem("'# !' is a comment, not an interpreter line", path, number)
            else:
                name = match[2].rsplit("/", 1)[-1]
                words = match[3].split()
                if name == "env" and len(words) > 1 and not words[0].startswith("-"):
                    yield Problem(
                        f"env is given '{' '.join(words)}' as one program name", path, 1, None, "use env -S"
                    )
                elif name not in SHEBANGS:
                    yield Problem(f"the interpreter '{match[2]}' is none that is known", path, 1)
                elif len(words) > 1 and name != "env":
                    yield Problem(f"the kernel passes '{' '.join(words)}' as one argument", path, 1)
            break
