"""Which tasks git says were touched, and waiting for files to change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from harbor_author.checks import gitstate
from harbor_author.checks.errors import CheckError
from harbor_author.checks.tree import walk
from harbor_author.suite import Suite, Task


def changed_tasks(tasks: Sequence[Task], *, base: str | None = None) -> list[Task]:
    """The tasks in which a file differs from `base` (default HEAD), was added, removed or is untracked.

    A change of author.toml or of a card concerns every task of the suite.

    Raises:
        CheckError: a task lies outside of a git checkout, or there is no such revision.
    """
    touched: dict[Path, set[Path]] = {}
    found = []
    for task in tasks:
        top = gitstate.toplevel(task.path)
        if top is None:
            raise CheckError("is in no git checkout", path=task.path, hint="leave --changed out")
        if top not in touched:
            touched[top] = _touched(top, base)
        if any(path.is_relative_to(task.path) for path in touched[top]) or _suite_touched(
            task.suite, touched[top]
        ):
            found.append(task)
    return found


def _suite_touched(suite: Suite | None, touched: set[Path]) -> bool:
    if suite is None:
        return False
    shared = [suite.settings.path, *suite.reference_dirs]
    return any(path == place or path.is_relative_to(place) for path in touched for place in shared)


def _touched(top: Path, base: str | None) -> set[Path]:
    revision = base or "HEAD"
    # Against the point where the work began, so that what others did on the base since then is left out.
    start = gitstate.run_git(["merge-base", revision, "HEAD"], cwd=top) if base else None
    commit = os.fsdecode(start).strip() if start else revision
    if (
        gitstate.run_git(
            ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"], cwd=top
        )
        is None
    ):
        if base is None:
            return _listed(
                gitstate.run_git(["ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=top), top
            )
        raise CheckError(f"there is no revision '{base}'", path=top, hint="name a branch, tag or commit")
    differing = gitstate.run_git(["diff", "--name-only", "--no-renames", "-z", commit, "--"], cwd=top)
    untracked = gitstate.run_git(["ls-files", "-z", "-o", "--exclude-standard"], cwd=top)
    if differing is None or untracked is None:
        raise CheckError("git cannot tell what changed", path=top, hint="run 'git status' there")
    return _listed(differing, top) | _listed(untracked, top)


def _listed(output: bytes | None, top: Path) -> set[Path]:
    return {top / os.fsdecode(name) for name in (output or b"").split(b"\0") if name}


def watch(roots: Sequence[Path], *, interval_s: float = 0.5) -> Iterator[None]:
    """Yield once at first, then each time that a file below `roots` changes and the writing has ceased."""
    before = _snapshot(roots)
    yield
    while True:
        time.sleep(interval_s)
        now = _snapshot(roots)
        if now == before:
            continue
        while True:
            # An editor writes several files, or one in several steps: wait until nothing moves.
            time.sleep(interval_s / 5)
            later = _snapshot(roots)
            if later == now:
                break
            now = later
        before = now
        yield


def _snapshot(roots: Sequence[Path]) -> dict[str, tuple[int, int, int]]:
    state: dict[str, tuple[int, int, int]] = {}
    for root in roots:
        names = walk(root).entries if root.is_dir() else {"": None}
        for name in names:
            path = f"{root}/{name}" if name else str(root)
            try:
                info = os.lstat(path)
            except OSError:
                continue
            state[path] = (info.st_mtime_ns, info.st_size, info.st_mode)
    return state
