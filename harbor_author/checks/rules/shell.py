"""Shell scripts as shell scripts: syntax, dialect, what shellcheck calls an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule

#: shellcheck's errors that other rules or Harbor's own behaviour make void.
_SHELLCHECK_NOT = frozenset(
    {
        "SC1017",  # carriage return: crlf-line-ends
        "SC2096",  # two words: bad-shebang
        "SC1071",  # not a shell that it knows
        "SC1082",  # byte-order mark
        "SC1084",
        "SC1104",
        "SC1113",
        "SC1114",
        "SC1115",
        "SC1128",  # shebang: bad-shebang
        "SC2148",  # no shebang: Harbor's bash runs it
        "SC2239",
    }
)


def _dialect(files: TaskFiles, path: str) -> str:
    return files.script(path).interpreter or "bash"


@rule(name="shell-syntax", pack="harbor", severity="error", late=True)
def shell_syntax(files: TaskFiles) -> Iterator[Problem]:
    """bash cannot parse a shell script.

    Why: a missing `fi` at the end of test.sh ran every command before it, and died without a reward; nobody had
        executed the failing branch before the release.
    Bad: if true; then echo 1
    Good: if true; then echo 1; fi
    Fix: correct the syntax; `bash -n FILE` shows the same message.
    """
    for path in files.shell_scripts:
        if _dialect(files, path) not in ("bash", "sh", "dash", "ash", "ksh", "env"):
            continue
        faults = files.programs.of("bash", files.data(path)) if files.programs else ()
        for fault in faults:
            yield Problem(f"bash cannot parse it: {fault.message}", path, fault.line)


@rule(name="shellcheck", pack="harbor", severity="error", late=True)
def shellcheck(files: TaskFiles) -> Iterator[Problem]:
    """shellcheck calls a construct an error.

    Why: `[ -n $x ]` without quotes is always true, so a judge that asked "is there output?" said yes to every agent.
    Bad: [ -n $x ] && echo 1 > /logs/verifier/reward.txt
    Good: [ -n "$x" ] && echo 1 > /logs/verifier/reward.txt
    Fix: see the code that is named in shellcheck's own wiki; a `# shellcheck disable=SC2070` comment is honoured.
    """
    if files.programs is None:
        return
    for path in files.shell_scripts:
        data = files.data(path)
        if files.programs.of("bash", data):
            continue
        for fault in files.programs.of("shellcheck", data):
            if fault.code not in _SHELLCHECK_NOT:
                yield Problem(f"{fault.code}: {fault.message}", path, fault.line, fault.column)


@rule(name="bash-in-sh", pack="harbor", severity="error")
def bash_in_sh(files: TaskFiles) -> Iterator[Problem]:
    """A script with `#!/bin/sh` uses what only bash has.

    Why: in Debian's images /bin/sh is dash. `[[ ... ]]` there is "not found", which counts as false, and the else
        branch of the judge gave every agent the same reward.
    Bad: #!/bin/sh with [[ -f out.txt ]]
    Good: #!/bin/bash with [[ -f out.txt ]], or #!/bin/sh with [ -f out.txt ]
    Fix: write #!/bin/bash.
    """
    for path in files.shell_scripts:
        script = files.script(path)
        if script.interpreter not in ("sh", "dash", "ash"):
            continue
        for node in script.nodes(
            "test_command", "array", "process_substitution", "herestring_redirect", "ansi_c_string",
            "c_style_for_statement", "function_definition",
        ):  # fmt: skip
            text = script.slice(node)
            what = {
                "array": "an array",
                "process_substitution": "process substitution",
                "herestring_redirect": "a here-string",
                "ansi_c_string": "$'...'",
                "c_style_for_statement": "for ((...))",
            }.get(node.type)
            if node.type == "test_command":
                what = "[[ ... ]]" if text.startswith("[[") else "== in [ ]" if _equal(text) else None
            if node.type == "function_definition" and text.startswith("function"):
                what = "the word 'function'"
            if what:
                line, column = script.place(node)
                yield Problem(
                    f"{what} is bash's, but the script runs under {script.interpreter}", path, line, column
                )
                break
        else:
            for command in script.commands:
                if command.name == "set" and "pipefail" in command.args:
                    message = f"`set -o pipefail` ends a script under {script.interpreter} (dash)"
                    yield Problem(message, path, command.line, command.column)
                    break
                if command.name in ("source", "declare", "pushd", "popd", "shopt", "mapfile", "readarray"):
                    message = f"`{command.name}` is bash's, but the script runs under {script.interpreter}"
                    yield Problem(message, path, command.line, command.column)
                    break


def _equal(text: str) -> bool:
    return re.search(r"\s==\s", text) is not None


@rule(name="script-not-executable", pack="suite", severity="error")
def script_not_executable(files: TaskFiles) -> Iterator[Problem]:
    """A shell script of the task lacks the executable bit.

    Why: the suite's other tools, and people, run these scripts directly; Harbor alone sets the bit itself.
    Bad: solution/solve.sh with mode 644
    Good: solution/solve.sh with mode 755
    Fix: set the bit, and git's where the file system has none; 'author fix' does both.
    """
    for path in files.shell_scripts:
        if path.startswith("environment/"):
            continue
        if not files.entries[path].executable:
            yield Problem(f"mode {files.entries[path].mode:03o}: not executable", path)


@rule(name="script-without-shebang", pack="suite", severity="error")
def script_without_shebang(files: TaskFiles) -> Iterator[Problem]:
    """A shell script of the task names no interpreter.

    Why: Harbor's bash runs such a script; an engine that starts it directly gets "exec format error".
    Bad: test.sh that begins with set -e
    Good: test.sh that begins with #!/bin/bash
    Fix: begin the file with #!/bin/bash or #!/usr/bin/env bash.
    """
    for path in files.shell_scripts:
        if path.startswith("environment/") or not files.data(path):
            continue
        if not re.match(rb"(?:\xef\xbb\xbf)?\s*#\s*!", files.data(path)):
            yield Problem("begins without #!", path, 1)
