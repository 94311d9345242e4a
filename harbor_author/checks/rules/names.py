"""File names and links, on every file system that a task may be unpacked on."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?", re.IGNORECASE)
_PLAIN = re.compile(r"[\w@+=,-](?:[\w.@+=,-]{0,98}[\w@+=,-])?", re.ASCII)
_LONG_PATH = 200
_MAX_LINKS = 40


@rule(name="colliding-names", pack="harbor", severity="error")
def colliding_names(files: TaskFiles) -> Iterator[Problem]:
    """Two names in one directory are the same where case is folded or Unicode is normalised.

    Why: a task with README.md and Readme.md lost one of them on macOS, and its digest changed from machine to machine;
        an accented letter in two encodings does the same.
    Bad: data/Sales.csv beside data/sales.csv
    Good: names that differ in more than case
    Fix: rename one of them.
    """
    seen: dict[str, str] = {}
    for path in files.entries:
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in seen:
            yield Problem(
                f"has the same name as '{seen[folded]}' where case is folded or Unicode normalised", path
            )
        else:
            seen[folded] = path


@rule(name="unportable-name", pack="harbor", severity="error")
def unportable_name(files: TaskFiles) -> Iterator[Problem]:
    r"""A file's name cannot be stored on every system.

    Why: a checkout on Windows failed at a file called `aux.js`; a name with a line break ended a list of files that a
        script read line by line.
    Bad: environment/fixture/aux.js, or a name that ends in a dot or holds a colon
    Good: letters, digits, '.', '-' and '_'
    Fix: rename it.
    """
    for path, entry in files.entries.items():
        name = entry.name
        if _PLAIN.fullmatch(name) and len(path) <= _LONG_PATH and not _RESERVED.fullmatch(name):
            continue
        raw = os.fsencode(name)
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            yield Problem("the file's name is not UTF-8", path)
            continue
        if any(unicodedata.category(char) == "Cc" for char in name):
            yield Problem("the file's name holds a control character", path)
        elif re.search(r"[<>:\"|?*\\]", name):
            yield Problem("the file's name holds a character that Windows refuses", path)
        elif _RESERVED.fullmatch(name):
            yield Problem(f"'{name}' is a device's name on Windows", path)
        elif name.endswith((" ", ".")):
            yield Problem("the file's name ends in a blank or a dot, which Windows drops", path)
        elif len(raw) > 255 or len(os.fsencode(path)) > 1000:
            yield Problem("the file's name is too long", path)
        elif name != unicodedata.normalize("NFC", name):
            yield Problem("the file's name is not in Unicode's composed form (NFC)", path, severity="warning")
        elif len(path) > _LONG_PATH:
            yield Problem(
                f"the path is {len(path)} characters long; Windows takes 260 in all", path, severity="warning"
            )


@rule(name="bad-symlink", pack="harbor", severity="error")
def bad_symlink(files: TaskFiles) -> Iterator[Problem]:
    """A link leads out of the task, nowhere, or in a circle.

    Why: Harbor refuses such links when it uploads the task; a dangling link in a package aborted grading with reward
        0 for a right answer. Links are judged here by their text and never followed.
    Bad: environment/data -> /home/me/data
    Good: environment/data/current.csv -> sales.csv
    Fix: replace the link by what it points to.
    """
    for path, entry in files.entries.items():
        if entry.kind != "link":
            continue
        fault = _follow(files, path)
        if fault:
            yield Problem(fault, path)


def _follow(files: TaskFiles, start: str) -> str:
    """Why a link is bad, resolved over the list of entries alone; "" when it ends at something in the task."""
    current, seen = start, set()
    for _ in range(_MAX_LINKS):
        if current in seen:
            return "the link leads in a circle"
        seen.add(current)
        try:
            target = os.readlink(files.root / current)  # noqa: PTH115 - the text of the link, not a path
        except OSError as error:
            return f"the link cannot be read: {error.strerror}"
        if target.startswith("/"):
            return f"the link is absolute: {target}"
        parts = current.split("/")[:-1]
        for part in target.split("/"):
            if part == "..":
                if not parts:
                    return f"the link leads out of the task: {target}"
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        resolved = "/".join(parts)
        entry = files.entries.get(resolved)
        if not resolved or start.startswith(resolved + "/"):
            return "the link leads to a directory that holds it"
        if entry is None:
            above = next(
                (
                    resolved[: m.start()]
                    for m in re.finditer("/", resolved)
                    if _is_link(files, resolved[: m.start()])
                ),
                "",
            )
            if above or any(e.opaque and resolved.startswith(p + "/") for p, e in files.entries.items()):
                return ""
            return f"the link is dangling: {target}"
        if entry.kind != "link":
            return ""
        current = resolved
    return "the link leads through too many others"


def _is_link(files: TaskFiles, path: str) -> bool:
    entry = files.entries.get(path)
    return entry is not None and entry.kind == "link"


@rule(name="symlink-in-task", pack="suite", severity="error")
def symlink_in_task(files: TaskFiles) -> Iterator[Problem]:
    """A task of the suite holds a link.

    Why: the suite hashes and copies fixtures by content; a link can be pointed at something else between two runs, so
        links are refused altogether.
    Bad: solution/plugin/lib -> ../../environment/fixture/lib
    Good: a copy of the file
    Fix: replace the link by what it points to.
    """
    for path, entry in files.entries.items():
        if entry.kind == "link" and not _follow(files, path):
            yield Problem("links are refused in a task of the suite", path)


@rule(name="special-file", pack="harbor", severity="error")
def special_file(files: TaskFiles) -> Iterator[Problem]:
    """A pipe, socket or device lies in the task.

    Why: whatever copies the task blocks for ever on a pipe that nobody writes to.
    Bad: environment/fixture/ipc.sock
    Good: regular files and directories
    Fix: remove it; make it in the Dockerfile or in solve.sh where a test needs one.
    """
    for path, entry in files.entries.items():
        if entry.kind == "other":
            yield Problem("is neither a file nor a directory", path)


@rule(name="nested-git-folder", pack="harbor", severity="note")
def nested_git_folder(files: TaskFiles) -> Iterator[Problem]:
    """A folder with a .git of its own lies in the environment; an outer repository will not store its content.

    Why: git records such a folder as a bare link to a commit, so a fresh clone of the dataset has an empty directory
        where the fixture was.
    Bad: environment/fixture/.git in a task that is kept in git
    Good: RUN git init in the Dockerfile, on plain files
    Fix: remove the .git folder and make the repository in the Dockerfile.
    """
    if gitless(files):
        return
    for path, entry in files.entries.items():
        if entry.name == ".git" and entry.kind == "dir" and path != ".git":
            yield Problem("an outer git repository stores nothing of this folder but a commit's name", path)


def gitless(files: TaskFiles) -> bool:
    from harbor_author.checks.gitstate import toplevel

    return toplevel(files.root) is None
