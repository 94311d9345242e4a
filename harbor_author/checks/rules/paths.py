"""Paths that the judge's scripts name, and failures that they swallow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import agent_image
from harbor_author.checks.programs import INTERPRETERS
from harbor_author.checks.registry import rule
from harbor_author.checks.script import Command

_PLACE = re.compile(r"^/(?P<root>tests|solution)/(?P<path>[^\s*?\[\]{}$\ufffc]+)$")


@rule(name="missing-test-path", pack="harbor", severity="error")
def missing_test_path(files: TaskFiles) -> Iterator[Problem]:
    """A script names a file below /tests or /solution that the task does not have.

    Why: a judge's helper was renamed, its call was `python3 /tests/missing.py || true`, and every later line ran
        without what it should have prepared; the task looked green for months.
    Bad: python3 /tests/missing.py || true
    Good: python3 /tests/check.py, and tests/check.py is there
    Fix: correct the path or add the file.
    """
    scripts = [(p, "tests") for p in files.verifier_scripts]
    scripts += [(p, "solution") for p in files.shell_scripts if p.startswith(tuple(files.solution_prefixes))]
    for path, home in scripts:
        made = _made(files, path)
        for command in files.script(path).commands:
            for word in (*command.argv, *(r.target for r in command.redirects if r.operator.endswith("<"))):
                match = _PLACE.match(word)
                if match is None or command.name in (
                    "mkdir",
                    "rm",
                    "touch",
                    "ls",
                    "chmod",
                    "tee",
                    "export",
                    "[",
                ):
                    continue
                if command.name in ("cp", "mv", "install", "ln", "tar") and word == command.argv[-1]:
                    continue
                if match["root"] != home and home == "tests":
                    # In a shared container the oracle alone brings /solution; a judge that needs it is wrong too.
                    yield Problem(
                        f"/solution is not there while judging: {word}", path, command.line, command.column
                    )
                    continue
                if match["root"] == "tests" and home == "solution":
                    yield Problem(
                        f"/tests is not there while the oracle runs: {word}",
                        path,
                        command.line,
                        command.column,
                    )
                    continue
                if _exists(files, match["root"], match["path"].rstrip("/")) or word in made:
                    continue
                hidden = ", and `|| true` hides that" if _swallowed(command) else ""
                message = f"{word} does not exist: the task has no {match['root']}/{match['path']}{hidden}"
                yield Problem(message, path, command.line, command.column)


def _exists(files: TaskFiles, root: str, path: str) -> bool:
    prefixes = files.tests_prefixes if root == "tests" else files.solution_prefixes
    if any(f"{prefix}{path}" in files.entries for prefix in prefixes):
        return True
    # A separate verifier's image may hold more than the folder.
    docker = files.dockerfiles.get("tests/Dockerfile")
    return root == "tests" and docker is not None


def _made(files: TaskFiles, path: str) -> set[str]:
    """Paths that a script writes itself."""
    made: set[str] = set()
    for command in files.script(path).commands:
        made.update(r.target for r in command.redirects if ">" in r.operator)
        if command.name in (
            "cp",
            "mv",
            "install",
            "ln",
            "tee",
            "touch",
            "mkdir",
            "curl",
            "wget",
            "git",
            "python3",
            "node",
        ):
            if command.name in ("cp", "mv", "install", "ln", "touch", "mkdir", "tee") and command.operands:
                made.add(command.operands[-1])
            for option, value in zip(command.args, command.args[1:], strict=False):
                if option in ("-o", "-O", "--output", "--out"):
                    made.add(value)
    return made


#: A node's parent is found from the root down, so a deep one is costly.
_MAX_CLIMB = 40


def _swallowed(command: Command) -> bool:
    """The command's failure is thrown away: `command || true`, or the same with `:`."""
    node = command.node
    for _ in range(_MAX_CLIMB):
        if node is None or node.parent is None:
            break
        parent = node.parent
        if parent.type == "list" and parent.named_children[0] == node:
            operator = next((c.type for c in parent.children if c.type in ("&&", "||")), "")
            other = parent.named_children[-1]
            text = other.text.decode("utf-8", "replace").strip() if other.text else ""
            if operator == "||":
                return text in ("true", ":", "/bin/true")
            return False
        if parent.type not in ("list", "redirected_statement", "pipeline"):
            return False
        node = parent
    return False


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
        for command in files.script(path).commands:
            if command.name not in INTERPRETERS or not _swallowed(command):
                continue
            if not any("/tests" in word for word in command.argv) and command.name != "pytest":
                continue
            kept = any(">" in r.operator and r.target != "/dev/null" for r in command.redirects)
            written = any(re.search(r"--(?:ctrf|junit|json|out|report)", word) for word in command.argv)
            if kept or written or _captured(command) or _writes_reward(files, command):
                continue
            message = f"nothing looks at whether `{' '.join(command.words)[:60]}` succeeds"
            yield Problem(message, path, command.line, command.column)


#: A program that writes its verdict into a file.
_LEAVES_SOMETHING = re.compile(r"/logs/verifier|writeFile|write_text|\.write\(|json\.dump\(|>\s*/tmp/")


def _writes_reward(files: TaskFiles, command: Command) -> bool:
    for word in command.argv:
        match = _PLACE.match(word)
        if match and match["root"] == "tests":
            for prefix in files.tests_prefixes:
                path = prefix + match["path"]
                if not files.is_file(path):
                    continue
                if _LEAVES_SOMETHING.search(files.text(path)):
                    return True
    return False


def _captured(command: Command) -> bool:
    node = command.node
    for _ in range(_MAX_CLIMB):
        if node is None:
            break
        if node.type in ("command_substitution", "pipeline", "if_statement"):
            return True
        node = node.parent
    return False


@rule(name="tests-directory-assumed", pack="harbor", severity="error")
def tests_directory_assumed(files: TaskFiles) -> Iterator[Problem]:
    """A script names one of its own files relative to the working directory, which is not /tests.

    Why: Harbor runs /tests/test.sh in the image's WORKDIR. `python3 check.py` worked where the author tried it, in
        tests/, and failed in every trial.
    Bad: python3 check.py
    Good: python3 /tests/check.py
    Fix: write the absolute path, or `cd "$(dirname "$0")"` first.
    """
    image = agent_image(files)
    # What the image has in its working directory may well be meant.
    copies = [c for c in image.copies if c.target == image.workdir] if image is not None else []
    given = {p.rsplit("/", 1)[-1] for c in copies for p in c.files}
    for path in files.verifier_scripts:
        folder = path.rsplit("/", 1)[0] + "/"
        moved = False
        for command in files.script(path).commands:
            if command.name in ("cd", "pushd"):
                moved = True
            if moved or command.name in ("[", "echo", "printf", "export", "local", "pytest", "cd"):
                continue
            runs = command.name in ("bash", "sh", "node", "python3", "python")
            words = command.args if runs else command.argv
            if command.name in ("cp", "mv", "install", "ln", "tee", "touch", "mkdir", "rm"):
                words = words[:-1] if command.name in ("cp", "mv", "install", "ln") else ()
            for word in [*words, *(r.target for r in command.redirects if r.operator.endswith("<"))]:
                plain = word.removeprefix("./").removeprefix("tests/")
                if "/" in plain and not word.startswith(("tests/", "./")):
                    continue
                known = re.fullmatch(r"[\w.-]+\.\w+", plain) and files.is_file(folder + plain)
                if known and not word.startswith("/") and plain != "test.sh" and plain not in given:
                    message = f"'{word}' is relative, but the working directory is the image's, not /tests"
                    yield Problem(message, path, command.line, command.column, f"write /tests/{plain}")
                    break
