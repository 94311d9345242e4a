"""What a suite asks of git, always read-only and deaf to the user's and the repository's own settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git_environment() -> dict[str, str]:
    """The environment for a git child: no `GIT_*` from outside, no global or system configuration."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    return environment


def git_output(directory: Path, *arguments: str, timeout_s: float = 30) -> bytes | None:
    """Standard output of `git <arguments>` in `directory`; None when git is missing, fails or hangs."""
    safe = [
        "-c",
        f"safe.directory={directory.resolve()}",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
    ]
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *safe, *arguments],
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def branch_task_names(root: Path, *, remotes: bool = False) -> dict[str, str]:
    """Names below `tasks/` on the branches of the checkout that holds `root`: name -> branch.

    Empty outside a git checkout. `remotes` adds remote-tracking branches.
    """
    patterns = ["refs/heads", "refs/remotes"] if remotes else ["refs/heads"]
    listed = git_output(root, "for-each-ref", "--format=%(refname)", *patterns)
    prefix = git_output(root, "rev-parse", "--show-prefix")
    if not listed or prefix is None:
        return {}
    inside = prefix.decode("utf-8", "surrogateescape").strip("\n")
    found: dict[str, str] = {}
    for ref in listed.decode("utf-8", "surrogateescape").splitlines():
        names = git_output(root, "ls-tree", "--name-only", "--full-tree", "-z", f"{ref}:{inside}tasks")
        for name in (names or b"").decode("utf-8", "surrogateescape").split("\0"):
            if name:
                found.setdefault(name, ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"))
    return found
