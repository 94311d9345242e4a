"""Submissions made of file states: the shell text and the files that put a container's files into a given state."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping

from harbor_author.proof.snapshot import FileState

_FOLDER = ".author"


def set_files(states: Mapping[str, FileState | None]) -> tuple[str, dict[str, bytes | None]]:
    """Shell text that gives files (absolute paths) their states, None meaning no file, and the overlay it needs.

    A file that is there keeps its owner.
    """
    lines, overlay = ["set -e"], dict[str, bytes | None]()
    for number, (path, state) in enumerate(sorted(states.items())):
        target = shlex.quote(path)
        if state is None:
            lines.append(f"rm -f -- {target}")
            continue
        name = f"{_FOLDER}/{number}"
        overlay[name] = state.data
        folder = shlex.quote(posixpath.dirname(path))
        lines += [
            f"mkdir -p -- {folder}",
            f"cat /solution/{name} > {target}",
            f"chmod {state.mode:o} {target}",
        ]
    lines.append(f"rm -rf /solution/{_FOLDER} 2>/dev/null || true")
    return "\n".join(lines), overlay
