"""What git knows of a task's files: which checkout they lie in, what its index holds; and other repositories' objects.

git runs with no configuration but its own defaults, in foreign repositories without hooks, and never writes.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harbor_author.checks.checkout import git_dir
from harbor_author.checks.gitcopy import repository_copy
from harbor_author.integrity import temporary_folder

_TIMEOUT_S = 30.0


def run_git(arguments: Sequence[str], *, cwd: Path) -> bytes | None:
    """Standard output of a read-only git command; None when git is missing, fails or hangs."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    # Owned by another user, or with a hostile configuration: look, but run nothing of it.
    safe = ["-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    try:
        done = subprocess.run(
            ["git", *safe, *arguments],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def toplevel(directory: Path) -> Path | None:
    """The checkout that holds `directory`, found by its `.git`; None outside of any.

    A `.git` *file*, as worktrees and submodules have it, does not count in `directory` itself: a task could point it
    anywhere.
    """
    if git_dir(str(directory)) == f"{directory}/.git":
        return directory
    return _above(directory.parent) if directory.parent != directory else None


@lru_cache(maxsize=4096)
def _above(directory: Path) -> Path | None:
    # Kept for each folder on the way up, which the tasks of a dataset share.
    if git_dir(str(directory)) is not None:
        return directory
    return _above(directory.parent) if directory.parent != directory else None


@lru_cache(maxsize=64)
def index(top: Path) -> dict[str, int] | None:
    """Tracked files of a checkout, relative path -> mode (0o100644, 0o100755, ...); None when git cannot say."""
    place = git_dir(str(top))
    if place is None:
        return None
    with repository_copy(Path(place), index_only=True) as copy:
        listing = ["--git-dir", str(copy), "ls-files", "-s", "-z"]
        output = run_git(listing, cwd=copy) if copy is not None else None
    if output is None:
        return None
    found = {}
    for record in output.split(b"\0"):
        head, tab, name = record.partition(b"\t")
        if tab:
            found[os.fsdecode(name)] = int(head.split(b" ", 1)[0], 8)
    return found


@lru_cache(maxsize=256)
def ignore_file(path: str) -> str:
    """The text of a .gitignore above a task; empty when there is none."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")[: 64 << 10]
    except OSError:
        return ""


def look_anew() -> None:
    """Forget what this process knows of checkouts: between two runs of a watch, files are added and ignored."""
    for known in (_above, index, ignore_file):
        known.cache_clear()


@dataclass(frozen=True)
class History:
    """What a repository holds besides the commit that HEAD names.

    Attributes:
        ancestors: commits before HEAD.
        later: commits that HEAD does not reach: other branches, tags, stashes, reflogs, dropped ones.
        loose: blobs and trees that HEAD's own history does not hold.
        names: refs that lead to later commits.
        subjects: of some later commits.
    """

    ancestors: int
    later: int
    loose: int
    names: tuple[str, ...]
    subjects: tuple[str, ...]


def history(directory: Path) -> History | None:
    """What the repository at `directory` (a `.git` folder or a bare repository) holds; None when git cannot read it."""
    with repository_copy(directory) as copy:
        return _history(copy) if copy is not None else None


def bundle_commits(path: Path) -> int | None:
    """How many commits a git bundle carries; None when git cannot read it."""
    with temporary_folder("git") as target:
        if run_git(["init", "--quiet", "--bare", "."], cwd=target) is None:
            return None
        if run_git(["fetch", "--quiet", str(path.resolve()), "refs/*:refs/*"], cwd=target) is None:
            return None
        output = run_git(["rev-list", "--all", "--count"], cwd=target)
    return int(output) if output is not None and output.strip().isdigit() else None


def _history(directory: Path) -> History | None:
    here = ["--git-dir", str(directory)]
    every = run_git(
        [*here, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"], cwd=directory
    )
    if every is None:
        return None
    kinds = {}
    for line in every.split(b"\n"):
        name, blank, kind = line.partition(b" ")
        if blank:
            kinds[name] = kind
    reached = run_git([*here, "rev-list", "--objects", "--no-object-names", "HEAD"], cwd=directory) or b""
    own = set(reached.split())
    commits = {name for name, kind in kinds.items() if kind == b"commit"}
    later = commits - own
    refs = run_git([*here, "for-each-ref", "--format=%(objectname) %(refname)"], cwd=directory) or b""
    names = []
    for line in refs.split(b"\n"):
        name, _, ref = line.partition(b" ")
        if name in later or (name in kinds and kinds[name] == b"tag" and name not in own):
            names.append(os.fsdecode(ref))
    subjects = []
    for name in sorted(later)[:3]:
        subject = run_git([*here, "log", "-1", "--format=%s", name.decode("ascii")], cwd=directory)
        subjects.append(os.fsdecode((subject or b"").strip())[:60])
    loose = sum(1 for name in kinds if name not in own and kinds[name] in (b"blob", b"tree"))
    return History(max(0, len(commits & own) - 1), len(later), loose, tuple(names[:5]), tuple(subjects))
