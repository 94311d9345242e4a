"""What the oracle changes: the files of a container before and after it."""

from __future__ import annotations

import posixpath
import re
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harbor_author.proof.contract import run_agent
from harbor_author.proof.session import Session, open_session
from harbor_author.proof.submission import Submission
from harbor_author.proof.trial import FIXTURE, Bench
from harbor_author.sandbox import EngineError

_LIMIT_BYTES = 256 << 20
_FILE_BYTES = 1 << 20
_FILES = 20_000
_MEMORY_BYTES = 16 << 20
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".pnpm-store"})
_ABSOLUTE = re.compile(r"(?<![\w/.:~-])(/(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*)")
#: Never the subject of a task: what Harbor and the kernel put there.
_NEVER = ("/dev", "/logs", "/proc", "/run", "/solution", "/sys", "/tests")
#: No working directory that is worth looking through as a whole.
_SYSTEM = ("/", "/bin", "/etc", "/home", "/lib", "/opt", "/root", "/sbin", "/tmp", "/usr", "/var")  # noqa: S108


@dataclass(frozen=True)
class FileState:
    """A regular file: permission bits and content."""

    mode: int
    data: bytes

    @property
    def text(self) -> str | None:
        """The content as text, or None when it is none."""
        if b"\0" in self.data:
            return None
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


Files = Mapping[str, FileState]


@dataclass(frozen=True)
class Change:
    """A file that the oracle made, changed or removed; `path` is absolute, a missing state is None."""

    path: str
    before: FileState | None
    after: FileState | None


@dataclass(frozen=True)
class OracleChanges:
    """What the oracle did. `outputs` are the files that it made outside the fixture, such as a report."""

    changes: tuple[Change, ...]
    before: Files
    after: Files
    outputs: tuple[str, ...]


def observe(bench: Bench, oracle: Submission, instruction: str) -> OracleChanges:
    """Run the oracle in a container of its own and compare what was there before.

    Looks at the fixture, the working directory and the paths that the instruction names; not at links and special
    files, files over 1 MiB, version control and installed packages.

    Raises:
        TrialAbortedError, EngineError: as a trial.
    """
    config = bench.config
    with open_session(
        bench.engine,
        bench.image,
        config.environment,
        task=bench.task,
        phases=(config.agent.network_mode,),
        cancellation=bench.cancellation,
        limits=bench.limits,
        remove=bench.remove,
    ) as session:
        session.healthcheck(config.environment.healthcheck)
        roots = _roots(bench, instruction)
        before = _read_all(session, roots)
        run_agent(session, bench.task_dir, config, oracle)
        after = _read_all(session, roots)
    changes = tuple(
        Change(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )
    outputs = tuple(
        change.path
        for change in changes
        if change.before is None and not change.path.startswith(FIXTURE + "/")
    )
    return OracleChanges(changes, before, after, outputs)


def instructed_paths(instruction: str) -> list[str]:
    """The absolute paths that an instruction names, in order."""
    found = [match.rstrip(".") for match in _ABSOLUTE.findall(instruction)]
    return list(dict.fromkeys(path for path in found if f"/{path.split('/')[1]}" not in _NEVER))


def _roots(bench: Bench, instruction: str) -> list[str]:
    wanted = [FIXTURE] if (bench.task_dir / "environment" / "fixture").is_dir() else []
    workdir = bench.config.environment.workdir or bench.image.workdir
    wanted += [path for path in (workdir, *instructed_paths(instruction)) if path not in _SYSTEM]
    roots: list[str] = []
    for path in sorted({posixpath.normpath(path) for path in wanted}):
        if not any(path == root or path.startswith(root + "/") for root in roots):
            roots.append(path)
    return roots


def _read_all(session: Session, roots: Iterable[str]) -> dict[str, FileState]:
    session.flush()
    files: dict[str, FileState] = {}
    for root in roots:
        with tempfile.SpooledTemporaryFile(_MEMORY_BYTES) as archive:
            try:
                found = session.engine.archive(session.container, root, _LIMIT_BYTES, archive)
            except EngineError as error:
                if "larger than" not in error.message:
                    raise
                continue  # too much to look through: its files count as unchanged
            if found:
                archive.seek(0)
                _take(archive, posixpath.dirname(root), files)
    return files


def _take(archive: IO[bytes], parent: str, files: dict[str, FileState]) -> None:
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        for member in tar:
            parts = member.name.split("/")
            if len(files) >= _FILES:
                return
            if (
                not member.isreg()
                or member.size > _FILE_BYTES
                or _SKIPPED.intersection(parts)
                or ".." in parts
            ):
                continue
            content = tar.extractfile(member)
            assert content is not None
            path = posixpath.normpath(posixpath.join(parent, member.name))
            files[path] = FileState(member.mode & 0o777, content.read())


def read_instruction(task_dir: Path) -> str:
    """The instruction's text, or an empty one."""
    path = task_dir / "instruction.md"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
