"""What may leave a failed run: named kinds of text, redacted, bounded, kept for a time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.files import write_atomic
from harbor_author.integrity.redaction import redact, truncate
from harbor_author.integrity.removal import remove_tree

#: The only files that a failed run may leave, and the most characters of each.
KINDS: Mapping[str, int] = {
    "judge-output.txt": 200_000,
    "fixture.diff": 400_000,
    "checks.json": 200_000,
    "oracle.txt": 200_000,
    "build.log": 400_000,
    "trial.json": 100_000,
    "summary.txt": 50_000,
}
_MARK = ".author-artefacts"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


@dataclass(frozen=True)
class ArtefactFolder:
    """The folder that `--artifacts DIR` names: `DIR/<task>/<trial>/<kind>`."""

    path: Path

    def save(
        self, task: str, trial: str, kind: str, text: str, *, paths: Mapping[str | Path, str] | None = None
    ) -> Path:
        """Write one artefact, redacted (see `redact`) and cut to its kind's size; return where.

        Raises:
            IntegrityError: the kind is not on the list, or it cannot be written.
        """
        if kind not in KINDS:
            raise IntegrityError(f"{printable(kind)!r} is no artefact; the kinds are {', '.join(KINDS)}")
        folder = self.path / _part(task)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / _MARK).exists():
                write_atomic(folder / _MARK, "")
            (folder / _part(trial)).mkdir(exist_ok=True)
        except OSError as error:
            raise IntegrityError(f"cannot be made ({error.strerror})", path=printable(str(folder))) from error
        target = folder / _part(trial) / kind
        write_atomic(target, truncate(redact(text, paths=paths), KINDS[kind]))
        return target

    def expire(self, older_than_s: float, *, dry_run: bool = False) -> list[Path]:
        """Remove the artefacts of tasks that were last written longer ago; return their folders.

        Only folders that `save` made are touched.
        """
        removed: list[Path] = []
        if not self.path.is_dir():
            return removed
        limit_s = time.time() - older_than_s
        for folder in sorted(self.path.iterdir()):
            if folder.is_symlink() or not (folder / _MARK).is_file():
                continue
            newest_s = max(path.lstat().st_mtime for path in folder.rglob("*"))
            if newest_s < limit_s:
                if not dry_run:
                    remove_tree(folder)
                removed.append(folder)
        return removed


def _part(name: str) -> str:
    """A folder's name for a task or a trial such as `decoy:rename-only`."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip(".-")
    if not _SAFE.fullmatch(safe):
        raise IntegrityError(f"{printable(name)!r} cannot name a folder of artefacts")
    return safe
