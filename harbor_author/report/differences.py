"""How the reference solution changes the fixture, read from the files of the task alone."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from harbor_author.report.model import FileDiff
from harbor_author.suite import read_plain

MAX_LINE = 200
_MAX_LINES = 160
_MAX_BYTES = 200_000
#: Of one task, characters of all differences together.
_MAX_TASK = 60_000
#: Lines before times lines after, over which a comparison takes too long.
_MAX_WORK = 4_000_000
#: Folders of `solution/` that hold other submissions.
_OTHERS = ("decoys", "variants")
_OWN = ("solve.sh", "SOLUTION.md")


def differences(task_dir: Path) -> tuple[FileDiff, ...]:
    """The script, then each file that it places over the fixture or removes from it.

    A folder such as `solution/plugin/` holds files by their paths in the fixture; what lies directly in `solution/`,
    such as a report, is new. A file is removed when a line of `rm` in the script names it.
    """
    solution, fixture = task_dir / "solution", task_dir / "environment" / "fixture"
    script = _lines(solution / "solve.sh") or []
    found: list[FileDiff] = []
    if script:
        found.append(_diff("solve.sh", "script", [f" {line}" for line in script]))
    if not solution.is_dir() or solution.is_symlink():
        return tuple(found)
    placed = set()
    room = _MAX_TASK
    for name, path in _placed(solution):
        placed.add(name)
        before, after = _lines(fixture / name), _lines(path)
        one = _changed(name, before, after)
        if one is None:
            continue
        room -= sum(map(len, one.lines))
        found.append(one if room >= 0 else FileDiff(name, one.what, (), len(one.lines) + one.cut))
    for name in _removed(script, fixture):
        if name not in placed:
            lines = _lines(fixture / name)
            found.append(_diff(name, "removed", [f"-{line}" for line in lines or ["(not text)"]]))
    return tuple(found)


def _placed(solution: Path) -> Iterator[tuple[str, Path]]:
    """(path in the fixture, file) of what the solution brings."""
    for top in sorted(solution.iterdir()):
        if top.is_symlink() or top.name in (*_OTHERS, *_OWN):
            continue
        if top.is_file():
            yield top.name, top
        elif top.is_dir():
            for name in _files(top):
                yield name, top / name


def _files(folder: Path) -> list[str]:
    """The files below a folder by relative path; links are not followed."""
    if folder.is_symlink():
        return []
    found = [Path(where, name) for where, _, names in os.walk(folder) for name in names]
    return sorted(path.relative_to(folder).as_posix() for path in found if not path.is_symlink())


def _changed(name: str, before: list[str] | None, after: list[str] | None) -> FileDiff | None:
    what = "changed" if before else "added"
    if before is None or after is None:
        return FileDiff(name, what, ("(not text)",))
    if before == after:
        return None
    if not before:
        return _diff(name, what, [f"+{line}" for line in after])
    if len(before) * len(after) > _MAX_WORK:
        return FileDiff(name, what, ("(too large to compare here)",))
    return _diff(
        name, what, list(difflib.unified_diff(before, after, "fixture", "solution", lineterm=""))[2:]
    )


def _diff(name: str, what: str, lines: list[str]) -> FileDiff:
    return FileDiff(
        name, what, tuple(line[:MAX_LINE] for line in lines[:_MAX_LINES]), max(len(lines) - _MAX_LINES, 0)
    )


def _removed(script: list[str], fixture: Path) -> Iterator[str]:
    removing = " ".join(line for line in script if re.match(r"\s*(?:git\s+)?rm\s", line))
    for name in _files(fixture) if removing else ():
        # As `/app/fixture/name`, `"$fixture/name"` or by its bare name; `other/name` is another file.
        if re.search(rf"(?:[\s\"']|(?i:fixture)[}}\"]?/){re.escape(name)}(?=[\s\"';]|$)", removing):
            yield name


def _lines(path: Path) -> list[str] | None:
    """A text file's lines, none where it is not; None for what is no text or too large."""
    try:
        data = read_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None
    return None if b"\0" in data or len(data) > _MAX_BYTES else data.decode("utf-8", "replace").splitlines()
