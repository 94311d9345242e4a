"""How the judge's shell scripts run its programs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import agent_image
from harbor_author.checks.programs import ASIDE, INTERPRETERS
from harbor_author.checks.registry import rule
from harbor_author.checks.script import Script

if TYPE_CHECKING:
    from tree_sitter import Node


@rule(name="status-of-pipe", pack="harbor", severity="error")
def status_of_pipe(files: TaskFiles) -> Iterator[Problem]:
    """The status that decides the reward is that of `tee`, not of the tests.

    Why: `pytest ... | tee log; if [ $? -eq 0 ]` gave reward 1 to everyone: tee never fails.
    Bad: pytest /tests | tee log.txt; if [ $? -eq 0 ]; then echo 1 > reward.txt; fi
    Good: set -o pipefail first, or ${PIPESTATUS[0]}, or pytest /tests > log.txt
    Fix: begin the script with set -o pipefail.
    """
    for path in files.verifier_scripts:
        script = files.script(path)
        if "pipefail" in script.source or "PIPESTATUS" in script.source:
            continue
        for pipeline in script.nodes("pipeline"):
            parts = pipeline.named_children
            last = script.command(parts[-1]) if parts[-1].type == "command" else None
            first = (
                parts[0].child_by_field_name("body") if parts[0].type == "redirected_statement" else parts[0]
            )
            runs = script.command(first) if first is not None and first.type == "command" else None
            if (
                last is None
                or runs is None
                or last.name not in ("tee", "tail", "head", "cat", "sed", "ts", "sort")
            ):
                continue
            if runs.name not in INTERPRETERS:
                continue
            if _status_used(pipeline, script.slice):
                line, column = script.place(pipeline)
                yield Problem(
                    f"the status here is that of `{last.name}`, not of `{runs.name}`", path, line, column
                )


def _status_used(pipeline: object, text: object) -> bool:
    from tree_sitter import Node

    assert isinstance(pipeline, Node)
    assert callable(text)
    node: Node = pipeline
    while node.parent is not None and node.parent.type == "redirected_statement":
        node = node.parent
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "list":
        return True
    if parent.type == "if_statement":
        children = parent.children
        then = next((c.start_byte for c in children if c.type == "then"), 0)
        if node.start_byte < then:
            return True
    after = node.next_named_sibling
    return after is not None and "$?" in text(after)[:300]


@rule(name="node-quote-broken", pack="harbor", severity="error")
def node_quote_broken(files: TaskFiles) -> Iterator[Problem]:
    r"""A single quote inside `node -e '...'` ends the shell's quoted string.

    Why: `node -e 'fetch('http://...')'` reached node as another program than was written; its syntax error was read as
        a failure of the agent's route.
    Bad: node -e 'console.log('x')'
    Good: node -e 'console.log("x")'
    Fix: use double quotes or backticks inside, or put the program into a file below tests/.
    """
    for path in (p for p in files.shell_scripts if not p.startswith("environment/")):
        for command in files.script(path).commands:
            if command.name not in ("node", "python3", "python", "perl", "ruby", "deno", "bun"):
                continue
            node = command.node
            if node is None:
                continue
            children = node.named_children
            for flag, value in itertools.pairwise(children):
                text = files.script(path).slice(flag)
                # 'abc'def'ghi': a quoted part, bare text and another quoted part without a blank between.
                if text not in ("-e", "-c", "-p", "--eval") or value.type != "concatenation":
                    continue
                kinds = [child.type for child in value.named_children]
                if kinds[0] == "raw_string" and kinds[-1] == "raw_string" and "word" in kinds:
                    bare = [c for c in value.named_children if c.type == "word"]
                    if any(files.script(path).slice(c) not in ("\\'", '"\'"') for c in bare):
                        program = f"`{command.name} {text}`"
                        message = f"a single quote inside the program of {program} ends the shell's string"
                        yield Problem(message, path, command.line, command.column)
                        break


@rule(name="stale-status", pack="harbor", severity="error")
def stale_status(files: TaskFiles) -> Iterator[Problem]:
    """`$?` is asked after a command that never fails, so it says nothing about the tests.

    Why: an `echo "tests done"` was put between pytest and `if [ $? -eq 0 ]`; from then on every agent passed.
    Bad: pytest /tests; echo done; if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; fi
    Good: pytest /tests; status=$?; echo done; if [ "$status" -eq 0 ]; then ...
    Fix: keep the status in a variable right after the command, or put the command into the `if`.
    """
    for path in files.verifier_scripts:
        script = files.script(path)
        if "$?" not in script.source:
            continue
        for node in script.nodes("if_statement", "test_command", "variable_assignment"):
            asked = next((c for c in node.named_children if c.type == "test_command"), node)
            whole = node if node.type == "if_statement" else asked
            if "$?" not in script.slice(whole).split("then", 1)[0]:
                continue
            before = _before(node)
            fault = _never_fails(script, before) if before is not None else ""
            if fault:
                yield Problem(f"`$?` here is the status of {fault}", path, *script.place(asked))


def _before(node: Node) -> Node | None:
    """The statement before, when both stand in one block; comments are none."""
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is not None and node.parent is not None and node.parent.type in ("list", "pipeline"):
        return None
    return before


def _never_fails(script: Script, node: Node) -> str:
    """Why the status of a statement says nothing, in words; "" when it may say something."""
    if node.type == "redirected_statement":
        node = node.child_by_field_name("body") or node
    if node.type == "list":
        parts = node.named_children
        last = script.command(parts[-1]) if parts[-1].type == "command" else None
        if any(c.type == "||" for c in node.children) and last is not None and last.name in _ALWAYS_WELL:
            return f"`... || {last.name}`, which never fails"
        return ""
    if node.type == "declaration_command":
        command = script.command(node)
        inner = [n for n in script.nodes("command_substitution") if _within(n, node)]
        return f"`{command.name}`, not of the command in it" if inner else ""
    if node.type != "command":
        return ""
    command = script.command(node)
    if command.name in _ALWAYS_WELL:
        return f"`{command.name}`, which never fails"
    if command.name in ASIDE:
        earlier = _before(node)
        if earlier is not None and earlier.type == "redirected_statement":
            earlier = earlier.child_by_field_name("body") or earlier
        tests = script.command(earlier) if earlier is not None and earlier.type == "command" else None
        if tests is not None and tests.name in INTERPRETERS and any("test" in word for word in tests.argv):
            return f"`{command.name}`, not of `{tests.name}`"
    return ""


_ALWAYS_WELL = ("echo", "printf", "true", ":")


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


@rule(name="workspace-imports", pack="harbor", severity="warning")
def workspace_imports(files: TaskFiles) -> Iterator[Problem]:
    """The tests run where the agent's files shape them: its own tests and conftest.py, modules, PATH.

    Why: a judge ran `cd /app && pytest` and collected the agent's own conftest.py, which turned failures into passes;
        `python3 -m pytest` puts the working directory first on the import path, so an agent's `json.py` was imported.
    Bad: cd /app && python3 -m pytest /tests/test_outputs.py
    Good: cd / && pytest --confcutdir=/tests /tests/test_outputs.py, or python3 -I
    Fix: leave the agent's directory before the tests start, name the tests by absolute path, and use -I or -P.
    """
    for path in files.verifier_scripts:
        inside = _workdir(files)
        for command in files.script(path).commands:
            if command.name in ("cd", "pushd") and command.operands:
                inside = command.operands[0]
                continue
            variables = [a for a in command.args if re.match(r"(?:PYTHONPATH|PATH|NODE_PATH)=/app\b", a)]
            if command.name == "export" and variables:
                message = "the agent's directory is put first on a search path"
                yield Problem(message, path, command.line, command.column)
                continue
            if command.words[:1] in (("source",), (".",)) and command.args[:1]:
                if command.args[0].startswith(tuple(f"{place}/" for place in _WORKSPACES[:2])):
                    message = f"runs {command.args[0]} of the agent's inside the judge"
                    yield Problem(message, path, command.line, command.column)
                continue
            if not inside.startswith(_WORKSPACES):
                continue
            fault = _taken_from_workspace(command.argv)
            if fault and not _names_own_tests(files, path, command.argv):
                yield Problem(f"in {inside}, {fault}", path, command.line, command.column)


_WORKSPACES = ("/app", "/workspace", "/home", "/root", "/testbed", "/repo")


def _taken_from_workspace(argv: tuple[str, ...]) -> str:
    """What of the working directory shapes a test run, in words; "" when nothing does."""
    if "pytest" not in [word.rsplit("/", 1)[-1] for word in argv[:4]]:
        return ""
    if any(a.startswith(("--confcutdir", "--rootdir", "--noconftest")) for a in argv):
        return ""
    isolated = any(re.fullmatch(r"-[A-Za-z]*[IP][A-Za-z]*", a) for a in argv[1:3])
    if "-m" in argv and not isolated and re.fullmatch(r"(?:.*/)?python[\d.]*", argv[0]):
        return "`python -m pytest` imports the agent's modules first"
    if not any(a.startswith("/tests") for a in argv):
        return "pytest collects the agent's own tests and conftest.py"
    return ""


def _names_own_tests(files: TaskFiles, path: str, argv: tuple[str, ...]) -> bool:
    """It names the judge's tests by a relative path: they are not there at all (tests-directory-assumed)."""
    names = [word.split("::", 1)[0].removeprefix("./").removeprefix("tests/") for word in argv]
    folder = path.rpartition("/")[0]
    return any(name.endswith(".py") and files.is_file(f"{folder}/{name}") for name in names)


def _workdir(files: TaskFiles) -> str:
    """Where Harbor runs test.sh."""
    workdir = files.table("environment").get("workdir")
    if isinstance(workdir, str):
        return workdir
    image = agent_image(files)
    return image.workdir if image is not None and not files.separate_verifier else "/"
