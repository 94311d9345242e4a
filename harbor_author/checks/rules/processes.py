"""Ending processes: by a name that others have, or one's own shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.programs import COMMON
from harbor_author.checks.registry import rule
from harbor_author.checks.script import UNKNOWN, Command, parse_script


def broad_pattern(pattern: str) -> bool:
    """A pkill or killall pattern that matches processes of others."""
    bare = re.sub(r"\[(\w)\]", r"\1", pattern)
    bare = re.sub(r"\.\*|\.\+|[\^$\\]|\s+$", "", bare).strip()
    word = bare.split()[0].rsplit("/", 1)[-1] if bare.split() else ""
    if len(bare.split()) > 1:
        return False
    return not bare or word in COMMON or (len(bare) < 3 and UNKNOWN not in bare)


@rule(name="broad-kill", pack="harbor", severity="error")
def broad_kill(files: TaskFiles) -> Iterator[Problem]:
    """A script ends processes by a name that others have too, its own shell among them.

    Why: `pkill -f bash` in a clean-up killed the shell that ran test.sh (exit 143) and, with it, the reward; the trial
        was counted as 0.
    Bad: pkill -f bash
    Good: kill "$server_pid", of a process that the script started itself
    Fix: keep the process's number (`cmd & pid=$!`) and kill that, or its own process group.
    """
    for path in (p for p in files.shell_scripts if not p.startswith("environment/")):
        for command in files.script(path).commands:
            message = _kills_others(command)
            if message:
                yield Problem(message, path, command.line, command.column)


def _kills_others(command: Command) -> str:
    name, args = command.name, command.args
    if name in ("pkill", "killall"):
        values = [a for a in command.operands if a != UNKNOWN]
        if any(a in ("-u", "-U", "--euid", "--uid", "-t", "--user") for a in args) and len(values) <= 1:
            return f"`{' '.join(command.words)[:60]}` ends every process of a user"
        signal = {"-s", "--signal"}
        values = [
            a for a, before in zip(args, ("", *args), strict=False)
            if not a.startswith("-") and before not in signal and a != UNKNOWN
        ]  # fmt: skip
        if values and broad_pattern(values[-1]):
            return f"broad {name}: '{values[-1]}' matches processes that this script did not start, its own shell too"
    elif name == "kill" and any(a == "-1" for a in args[1:]):
        return "`kill ... -1` ends every process that it may"
    return ""


@rule(name="self-match-kill", pack="harbor", severity="error")
def self_match_kill(files: TaskFiles) -> Iterator[Problem]:
    """A `pkill -f` inside `sh -c` matches the very shell that runs it.

    Why: the whole string stands on that shell's command line. The bracket trick ([b]ench-h1) protects the pattern's own
        text alone; the plain name further on in the same string still matches, and the shell ends with 143.
    Bad: sh -c 'pkill -f [b]ench-x; rm -rf /tmp/bench-x'
    Good: sh -c 'rm -rf /tmp/bench-x', and kill "$pid" outside of it
    Fix: kill by process number, or put pkill on a line of its own outside `sh -c`.
    """
    for path in (p for p in files.shell_scripts if not p.startswith("environment/")):
        for command in files.script(path).commands:
            if not command.nested or command.name != "pkill" or not _full(command.args):
                continue
            if _matches_itself(command.operands[-1:] or [""], command.shell_line):
                message = "this pkill -f matches the `sh -c` line that it stands on, and ends its own shell"
                yield Problem(message, path, command.line, command.column)
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if entry.name.endswith((".mjs", ".js", ".cjs", ".py")) and not files.is_binary(entry.path):
                yield from _in_code(files, entry.path)


def _full(args: tuple[str, ...]) -> bool:
    return any(re.fullmatch(r"-[a-zA-Z0-9]*f[a-zA-Z0-9]*", a) or a == "--full" for a in args)


def _matches_itself(pattern: list[str], line: str) -> bool:
    text = pattern[0] if pattern else ""
    if not text or UNKNOWN in text or len(text) > 200 or re.search(r"[*+{(]", text):
        return False
    try:
        return re.search(text, line) is not None
    except re.error:
        return False


_SHELL_CALL = re.compile(
    r"""(?:exec|execSync|os\.system|check_output|subprocess\.\w+)\(\s*f?(?P<q>["'`])(?P<line>(?:(?!(?P=q)).){0,500})(?P=q)""",
    re.DOTALL,
)
_SH_C = re.compile(
    r"""["'](?:ba|da)?sh["']\s*,\s*\[\s*["']-l?c["']\s*,\s*(?P<q>["'`])(?P<line>(?:(?!(?P=q)).){0,500})(?P=q)""",
    re.DOTALL,
)


def _in_code(files: TaskFiles, path: str) -> Iterator[Problem]:
    """The same in a judge: a string given to a shell that holds pkill."""

    text = files.text(path)
    if "pkill" not in text and "killall" not in text:
        return
    for match in [*_SHELL_CALL.finditer(text), *_SH_C.finditer(text)]:
        line = text.count("\n", 0, match.start()) + 1
        inner = re.sub(r"\$\{[^}]*\}|\{\w+\}", UNKNOWN, match["line"])
        for command in parse_script(inner).commands:
            broad = _kills_others(command)
            if broad:
                yield Problem(broad, path, line)
            elif (
                command.name == "pkill"
                and _full(command.args)
                and _matches_itself(command.operands[-1:], inner)
            ):
                yield Problem("this pkill -f matches the shell line that it stands on", path, line)
