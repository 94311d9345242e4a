"""Files that git keeps from everybody but the author."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from harbor_author.checks import gitstate
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.ignore import gitignore
from harbor_author.checks.images import images
from harbor_author.checks.registry import rule

_JUNK = re.compile(
    r"(?:^|/)(?:__pycache__|\.DS_Store|\.git|\.pytest_cache|\.venv|\.idea|\.vscode)(?:/|$)|\.(?:pyc|swp|swo)$|~$"
)


@rule(name="ignored-by-git", pack="harbor", severity="error")
def ignored_by_git(files: TaskFiles) -> Iterator[Problem]:
    """Files that the image, the judge or the oracle needs are ignored by git, so only the author has them.

    Why: `*.csv` in a .gitignore kept the fixture's data out of the commit. The task built on the author's machine and
        nowhere else; Harbor's packager honours the same file and leaves them out of the package too.
    Bad: .gitignore with *.csv, and COPY data/ /app/data/ with environment/data/sales.csv
    Good: !environment/data/*.csv below it, or no such line
    Fix: narrow the pattern that is named, or add the files with `git add -f`.
    """
    needed = [p for image in images(files) for copy in image.copies for p in copy.files]
    needed += [e.path for p in (*files.tests_prefixes, *files.solution_prefixes) for e in files.files(p)]
    top = gitstate.toplevel(files.root)
    index = gitstate.index(top) if top is not None else None
    groups: dict[tuple[str, str, int], list[str]] = {}
    for path in dict.fromkeys(needed):
        if _JUNK.search(path):
            continue
        found = _ignoring(files, path, top)
        if found is None:
            continue
        where, pattern, line = found
        tracked = top is not None and index is not None and in_top(files, top, path) in index
        if tracked and where != ".gitignore":
            continue
        groups.setdefault((where, pattern, line), []).append(path)
    for (where, pattern, line), paths in groups.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        message = f"{paths[0]}{more} is ignored by git: '{pattern}' at line {line} of {where}"
        inside = not where.startswith(("/", ".."))
        yield Problem(message, where if inside else paths[0], line if inside else None)


def in_top(files: TaskFiles, top: Path | None, path: str) -> str:
    return posixpath.join(posixpath.relpath(str(files.root), str(top)), path).removeprefix("./")


def _ignoring(files: TaskFiles, path: str, top: Path | None) -> tuple[str, str, int] | None:
    """The .gitignore (relative to the task when inside it), pattern and line that ignore a file."""

    parts = path.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        folder = "/".join(parts[:depth])
        name = f"{folder}/.gitignore" if folder else ".gitignore"
        if files.is_file(name):
            pattern = gitignore(files.text(name)).match("/".join(parts[depth:]))
            if pattern is not None:
                return name, pattern.text, pattern.line
    if top is None:
        return None
    outer = str(files.root)
    while len(outer) > len(str(top)):
        outer, _, name = outer.rpartition("/")
        path = f"{name}/{path}"
        text = gitstate.ignore_file(f"{outer}/.gitignore")
        if text:
            pattern = gitignore(text).match(path)
            if pattern is not None:
                return f"{outer}/.gitignore", pattern.text, pattern.line
    return None
