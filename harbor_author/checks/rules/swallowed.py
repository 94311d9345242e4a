"""Failures of the judge's own programs that nobody looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.programs import INTERPRETERS
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.reward import outcomes
from harbor_author.checks.script import Command, Redirect, Script

if TYPE_CHECKING:
    from tree_sitter import Node

PLACE = re.compile(r"^/(?P<root>tests|solution)/(?P<path>[^\s*?\[\]{}$\ufffc]+)$")
#: A node's parent is found from the root down, so a deep one is costly.
_MAX_CLIMB = 40


def swallowed(script: Script, command: Command) -> bool:
    """The command's failure is thrown away: `command || true`, or the same with `:` or a mere message."""
    node = command.node
    for _ in range(_MAX_CLIMB):
        if node is None or node.parent is None:
            break
        parent = node.parent
        if parent.type == "list" and parent.named_children[0] == node:
            operator = next((c.type for c in parent.children if c.type in ("&&", "||")), "")
            other = parent.named_children[-1]
            if operator != "||" or other.type != "command":
                return False
            instead = script.command(other)
            says = not any(_keeps(r) for r in instead.redirects)
            return instead.name in ("true", ":") or (instead.name in ("echo", "printf") and says)
        if parent.type not in ("list", "redirected_statement", "pipeline"):
            return False
        node = parent
    return False


def _keeps(redirect: Redirect) -> bool:
    """Output goes into a file."""
    return ">" in redirect.operator and redirect.target != "/dev/null" and not redirect.target.isdigit()


def _unasked(script: Script, command: Command) -> bool:
    """A statement of its own whose status nobody asks for, in a script that goes on when it fails."""
    node = _statement(command, ("redirected_statement",))
    if node is None or node.parent is None or node.parent.type != "program" or command.words[:1] == ("exec",):
        return False
    return not _asked_later(script, node)


def _statement(command: Command, within: tuple[str, ...] = ("redirected_statement", "list")) -> Node | None:
    node = command.node
    for _ in range(_MAX_CLIMB):
        if node is None or node.parent is None or node.parent.type not in within:
            break
        node = node.parent
    return node


#: `$?` some statements later was meant for the tests, too, and is another rule's matter.
_NEAR = 3


def _asked_later(script: Script, node: Node) -> bool:
    """One of the next statements asks for a status."""
    following = node.next_named_sibling
    for _ in range(_NEAR):
        if following is None:
            return False
        if re.search(r"\$\?|PIPESTATUS", script.slice(following)):
            return True
        following = following.next_named_sibling
    return False


#: Names of programs that check something, unlike those that prepare it.
_CHECKING = re.compile(
    r"(?:^|[/_.-])(?:tests?|checks?|verify|verif\w+|judge|grade\w*|assert\w*|eval\w*|validate)(?=[/_.-]|$)"
)
_PREPARING = re.compile(r"setup|prepare|install|start|serve|seed|init|build|clean|generate|make_")


@rule(name="swallowed-failure", pack="harbor", severity="warning")
def swallowed_failure(files: TaskFiles) -> Iterator[Problem]:
    """The outcome of the judge's own program is thrown away.

    Why: `pytest /tests || true` followed by an unrelated test let a broken suite of tests pass for a year: nothing
        looked at what pytest had found.
    Bad: python3 /tests/check.py || true
    Good: if python3 /tests/check.py; then ...
    Fix: use the exit status, or write the output to a file that a later line reads.
    """
    for path in files.verifier_scripts:
        script = files.script(path)
        stops = re.search(
            r"(?:^|\n)\s*set\s+(?:-\w*e|-o\s+errexit)|^#!.*\s-\w*e|\btrap\b|\bexec\s+\d*>", script.source
        )
        outcome = outcomes(files).get(path)
        # That the reward is always the same, or never written, is told once.
        blind = outcome is not None and (outcome.end == {"positive"} or not outcome.writes)
        for command in script.commands:
            if command.name not in INTERPRETERS:
                continue
            if not any("/tests" in word for word in command.argv) and command.name != "pytest":
                continue
            statement = _statement(command)
            if swallowed(script, command):
                if statement is not None and _asked_later(script, statement):
                    continue
            else:
                asked = stops or blind or command.nested or not _unasked(script, command)
                if asked or not _checks(command):
                    continue
            kept = any(_keeps(r) for r in command.redirects)
            written = any(re.search(r"--(?:ctrf|junit|json|out|report)", word) for word in command.argv)
            if kept or written or _captured(command) or _writes_reward(files, command):
                continue
            message = f"nothing looks at whether `{' '.join(command.words)[:60]}` succeeds"
            yield Problem(message, path, command.line, command.column)


def _checks(command: Command) -> bool:
    """It is a run of tests, or a program that is called so."""
    if "pytest" in (command.name, *command.argv[1:3]):
        return True
    programs = [word for word in command.operands if PLACE.match(word)]
    names = [word.rsplit("/", 1)[-1] for word in programs[:1]]
    return any(_CHECKING.search(name) and not _PREPARING.search(name) for name in names)


#: A program that writes its verdict into a file.
_LEAVES_SOMETHING = re.compile(r"/logs/verifier|writeFile|write_text|\.write\(|json\.dump\(|>\s*/tmp/")


def _writes_reward(files: TaskFiles, command: Command) -> bool:
    programs = []
    for word in command.argv:
        match = PLACE.match(word)
        if match and match["root"] == "tests":
            programs += [prefix + match["path"] for prefix in files.tests_prefixes]
    if "pytest" in (command.name, *command.argv[1:3]):
        # A conftest.py, or the tests themselves, may leave the reward.
        programs += [e.path for p in files.tests_prefixes for e in files.files(p) if e.name.endswith(".py")]
    return any(files.is_file(path) and _LEAVES_SOMETHING.search(files.text(path)) for path in programs)


def _captured(command: Command) -> bool:
    node = command.node
    for _ in range(_MAX_CLIMB):
        if node is None:
            break
        if node.type in ("command_substitution", "pipeline", "if_statement"):
            return True
        node = node.parent
    return False
