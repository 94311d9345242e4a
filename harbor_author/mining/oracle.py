"""The reference solution: what must be copied and removed so that one tree becomes another."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from harbor_author.mining.states import Tree

FIXTURE = "/app/fixture"


@dataclass(frozen=True)
class Plan:
    """Sorted paths; a copy also sets the file's mode."""

    copies: tuple[str, ...]
    removals: tuple[str, ...]

    @property
    def empty(self) -> bool:
        return not self.copies and not self.removals


def plan(before: Tree, after: Tree) -> Plan:
    """The steps from `before` to `after`: bytes and executable bits count."""
    return Plan(
        copies=tuple(sorted(path for path, file in after.items() if before.get(path) != file)),
        removals=tuple(sorted(path for path in before if path not in after)),
    )


def solve_script(steps: Plan, after: Tree, *, folder: str = "plugin", purpose: str) -> str:
    """A shell script that carries out `steps` in the container, from the files beside it in `folder`.

    Removals come first, because a file may become a folder or the reverse. Git knows no empty folders, so one that
    a removal empties goes, too.
    """
    lines = [
        "#!/bin/bash",
        f"# {purpose}",
        "set -euo pipefail",
        'here=$(cd "$(dirname "$0")" && pwd)',
        f"cd {FIXTURE}",
        "",
    ]
    for path in steps.removals:
        lines.append(f"rm -f -- {_quote(path)}")
    for parent in _emptied(steps, after):
        lines.append(f"rmdir -- {_quote(parent)} 2> /dev/null || true")
    for path in steps.copies:
        mode = "755" if after[path].executable else "644"
        source = f'"$here"/{folder}/{shlex.quote(path)}'
        lines.append(f"install -D -m {mode} -- {source} {_quote(path)}")
    return "\n".join(lines) + "\n"


def _quote(path: str) -> str:
    return shlex.quote("./" + path)


def _emptied(steps: Plan, after: Tree) -> list[str]:
    """Folders of removed files that hold nothing afterwards, the deepest first."""
    kept = {parent for path in after for parent in _parents(path)}
    gone = {parent for path in steps.removals for parent in _parents(path)} - kept
    return sorted(gone, key=lambda parent: (-parent.count("/"), parent))


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
