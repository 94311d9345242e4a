"""Ending processes: by a name that others have, or one's own shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.programs import COMMON
from harbor_author.checks.registry import rule
from harbor_author.checks.script import UNKNOWN, Command, Script, parse_script


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
            message = _kills_others(command) or _kills_found(files.script(path), command)
            if message:
                yield Problem(message, path, command.line, command.column)
    for path, line, command, _ in _code_kills(files):
        message = _kills_others(command)
        if message:
            yield Problem(message, path, line)


#: How far up the statement is looked for in which a `pgrep` stands.
_MAX_CLIMB = 12


def _kills_found(script: Script, command: Command) -> str:
    """`kill $(pgrep -f node)`, `ps | grep node | xargs kill`: the same as pkill, in more words."""
    if command.name not in ("pgrep", "pidof", "grep", "egrep") or command.node is None:
        return ""
    patterns = [word for word in command.operands if UNKNOWN not in word]
    if not patterns or not broad_pattern(patterns[0]):
        return ""
    node = command.node.parent
    for _ in range(_MAX_CLIMB):
        if node is None or node.type in ("program", "compound_statement", "do_group"):
            return ""
        text = script.slice(node)
        listed = command.name in ("pgrep", "pidof") or re.match(r"ps\b", text)
        if node.type in ("pipeline", "command") and listed and re.search(r"(?:^|\s)kill\s", text):
            return f"broad kill: '{patterns[0]}' matches processes that this script did not start, its own shell too"
        node = node.parent
    return ""


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
    for path, line, command, whole in _code_kills(files):
        itself = command.name == "pkill" and _full(command.args)
        if itself and not _kills_others(command) and _matches_itself(command.operands[-1:], whole):
            yield Problem("this pkill -f matches the shell line that it stands on", path, line)


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


def _code_kills(files: TaskFiles) -> Iterator[tuple[str, int, Command, str]]:
    """(path, line, command, whole shell line) of what a judge's program gives to a shell to end processes."""
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if not entry.name.endswith((".mjs", ".js", ".cjs", ".py")) or files.is_binary(entry.path):
                continue
            text = files.text(entry.path)
            if "pkill" not in text and "killall" not in text:
                continue
            for match in [*_SHELL_CALL.finditer(text), *_SH_C.finditer(text)]:
                line = text.count("\n", 0, match.start()) + 1
                inner = re.sub(r"\$\{[^}]*\}|\{\w+\}", UNKNOWN, match["line"])
                for command in parse_script(inner).commands:
                    yield entry.path, line, command, inner
