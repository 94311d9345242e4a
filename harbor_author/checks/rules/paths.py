"""Paths that the judge's scripts name, and failures that they swallow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import agent_image
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.swallowed import PLACE, swallowed
from harbor_author.checks.script import UNKNOWN, Command, Script

if TYPE_CHECKING:
    pass


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
                match = PLACE.match(word)
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
                hidden = ", and `|| true` hides that" if swallowed(files.script(path), command) else ""
                message = f"{word} does not exist: the task has no {match['root']}/{match['path']}{hidden}"
                yield Problem(message, path, command.line, command.column)
        if home == "tests":
            yield from _missing_beside(files, path)


def _missing_beside(files: TaskFiles, path: str) -> Iterator[Problem]:
    """Programs that a script runs by a relative name after it went to its own folder, where they are not."""
    made = {word.rsplit("/", 1)[-1] for word in _made(files, path)}
    for command, word, place in _relative(files, path):
        plain = word.removeprefix("./")
        runs = command.name in _RUNNERS or command.name == "pytest"
        if place != _OWN or not runs or not re.search(r"\.(?:py|sh|bash|mjs|cjs|js)$", plain):
            continue
        here = path.rpartition("/")[0] + "/"
        if not any(f"{folder}{plain}" in files.entries for folder in (here, "tests/")) and plain not in made:
            message = f"'{word}' does not exist: {here} has no such file"
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


@rule(name="tests-directory-assumed", pack="harbor", severity="error")
def tests_directory_assumed(files: TaskFiles) -> Iterator[Problem]:
    """A script names one of its own files relative to the working directory, which is not /tests.

    Why: Harbor runs /tests/test.sh in the image's WORKDIR. `python3 check.py` worked where the author tried it, in
        tests/, and failed in every trial.
    Bad: python3 check.py
    Good: python3 /tests/check.py
    Fix: write the absolute path, or `cd "$(dirname "$0")"` first.
    """
    for path in files.verifier_scripts:
        for command, word, place in _relative(files, path):
            plain = word.removeprefix("./").removeprefix("tests/")
            if place == _OWN or not _own_file(files, path, word, place):
                continue
            where = "the image's" if place == "" else place
            message = f"'{word}' is relative, but the working directory is {where}, not /tests"
            yield Problem(message, path, command.line, command.column, f"write /tests/{plain}")
    yield from _programs_that_assume(files)


#: The folder of the script itself.
_OWN = "its own"
_UNCLEAR = "unclear"


def _relative(files: TaskFiles, path: str) -> Iterator[tuple[Command, str, str]]:
    """Words of a script that may name one of its files, not absolute, and the directory that it stands in there.

    The directory is "" at the start, `_OWN` after `cd /tests` or `cd "$(dirname "$0")"`, else an absolute path.
    """
    script = files.script(path)
    place = ""
    for command in script.commands:
        if command.name in ("cd", "pushd", "popd"):
            place = _entered(files, script, command, path)
            continue
        if place == _UNCLEAR or command.name in ("[", "echo", "printf", "export", "local", "cd"):
            continue
        testing = "pytest" in [word.rsplit("/", 1)[-1] for word in command.argv[:8]]
        runs = testing or command.name in _RUNNERS
        words = command.args if runs else command.argv
        if command.name in ("cp", "mv", "install", "ln", "tee", "touch", "mkdir", "rm"):
            words = words[:-1] if command.name in ("cp", "mv", "install", "ln") else ()
        reads = [r.target for r in command.redirects if r.operator.endswith("<")]
        for word in [*words, *reads]:
            word = word.split("::", 1)[0]
            plain = word.removeprefix("./").removeprefix("tests/")
            if "/" in plain and not word.startswith(("tests/", "./")):
                continue
            if re.fullmatch(r"[\w.-]+\.\w+", plain) and plain != "test.sh":
                yield command, word, place
                break


_RUNNERS = ("bash", "sh", "node", "python3", "python", "source", ".")


def _entered(files: TaskFiles, script: Script, command: Command, path: str) -> str:
    """The directory after a `cd`."""
    node = command.node
    parent = node.parent if node is not None else None
    while parent is not None and parent.type in ("list", "redirected_statement"):
        parent = parent.parent
    target = command.operands[0] if command.operands else ""
    if command.name == "popd" or parent is None or parent.type != "program":
        return _UNCLEAR
    text = script.slice(node) if node is not None else ""
    if re.fullmatch(r"/tests/?", target) and path.rpartition("/")[0] + "/" in files.tests_prefixes:
        return _OWN
    if UNKNOWN in target and re.search(r"dirname|BASH_SOURCE|\$\{0%", text):
        return _OWN if re.search(r"\)\"?$", text.strip()) or "%/*" in text else _UNCLEAR
    return target.rstrip("/") if target.startswith("/") and not target.startswith("/tests") else _UNCLEAR


def _own_file(files: TaskFiles, path: str, word: str, place: str) -> bool:
    """The word names a file beside the script, and none that stands in the directory where it is asked for."""
    plain = word.removeprefix("./").removeprefix("tests/")
    if not files.is_file(path.rpartition("/")[0] + "/" + plain):
        return False
    return not _present(files, plain, place) and not _brought(files, path, plain)


def _present(files: TaskFiles, name: str, place: str) -> bool:
    """The image, or the agent by its task, has a file of that name in a directory ("" for the working directory)."""
    image = agent_image(files)
    copies = image.copies if image is not None else ()
    # What the image has in its working directory may well be meant.
    wanted = [c for c in copies if place or (image is not None and c.target == image.workdir)]
    if any(p.rsplit("/", 1)[-1] == name for c in wanted for p in c.files):
        return True
    folder = place or (image.workdir if image is not None else "")
    for path in files.instructions:
        for match in re.finditer(rf"(?P<folder>[\w./-]*?){re.escape(name)}(?![\w-])", files.text(path)):
            written = match["folder"]
            if not written.startswith("/") or written.rstrip("/") == folder.rstrip("/"):
                return True
    return False


def _brought(files: TaskFiles, path: str, name: str) -> bool:
    """The script copies or links the file, or the whole of /tests, to where it works."""
    for command in files.script(path).commands:
        if command.name in ("cp", "ln", "mv", "install", "rsync", "tar") and any(
            (word.rsplit("/", 1)[-1] in (name, "tests", "*", ".", "") and "/tests" in word)
            or (UNKNOWN in word and word.endswith((name, "/*", "/.")))
            for word in command.operands
        ):
            return True
    return False


#: A name relative to the working directory that a program opens.
_OPENS = {
    ".py": re.compile(r"\b(?:open|Path|read_csv|read_json)\(\s*[\"'](?P<name>(?:tests/)?[\w-]+\.\w+)[\"']"),
    ".js": re.compile(r"\breadFile(?:Sync)?\(\s*[\"'`](?P<name>(?:\./)?(?:tests/)?[\w-]+\.\w+)[\"'`]"),
}


def _programs_that_assume(files: TaskFiles) -> Iterator[Problem]:
    """Programs of the judge that open one of its files by a relative name, where no script goes to /tests first."""
    for prefix in files.tests_prefixes:
        scripts = [p for p in files.verifier_scripts if p.startswith(prefix)]
        if any(re.search(r"\b(?:cd|pushd)\b|--chdir|--rootdir|-C /tests", files.text(p)) for p in scripts):
            continue
        for entry in files.files(prefix):
            suffix = ".js" if entry.name.endswith((".mjs", ".cjs", ".js")) else entry.name[-3:]
            pattern = _OPENS.get(suffix)
            if pattern is None or entry.path.count("/") != prefix.count("/") or files.is_binary(entry.path):
                continue
            text = files.text(entry.path)
            if re.search(r"\bchdir\b|monkeypatch|tmp_path|\bcwd=", text):
                continue
            for match in pattern.finditer(text):
                start = text.rfind("\n", 0, match.start()) + 1
                name = match["name"].removeprefix("./").removeprefix("tests/")
                known = files.is_file(prefix + name) and not _present(files, name, "")
                written = re.match(r"\s*,\s*[\"'](?:mode=)?[wax]", text[match.end() :])
                if not known or written or text[start : match.start()].lstrip().startswith(("#", "//", "*")):
                    continue
                if any(_brought(files, p, name) for p in scripts):
                    continue
                message = (
                    f"'{match['name']}' is relative, but the working directory is the image's, not /tests"
                )
                yield Problem(
                    message,
                    entry.path,
                    text.count("\n", 0, match.start()) + 1,
                    match.start("name") - start + 1,
                    f"write /tests/{name}",
                )
