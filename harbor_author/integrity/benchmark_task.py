"""Loading one benchmark task of the general form: a directory with `task.json` and fixtures."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.integrity import manifest_fields as fields
from harbor_author.integrity.baseline import Baseline
from harbor_author.integrity.errors import IntegrityError, TaskDefinitionError, printable
from harbor_author.integrity.treehash import VERSION, tree_hash

MANIFEST = "task.json"
FIXTURES = "fixtures"

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_MAX_MANIFEST_BYTES = 1 << 20


@dataclass(frozen=True)
class BenchmarkTask:
    """A task whose definition was checked whole; there is no half-checked one.

    `fixture` is the absolute, real path of the source, which nobody but `with_fixture_copy` may be given. Definition
    and fixture hash together are the task's unique version: results of different versions are not comparable.
    """

    id: str
    title: str
    category: str
    prompt: str
    path: Path
    fixture: Path
    fixture_version: str
    fixture_hash: str
    definition_hash: str
    timeout_s: float
    budgets: Mapping[str, float]
    grader: fields.Grader
    variables: Mapping[str, str]
    lockfile: str | None
    network: str
    conditions: fields.Conditions
    baseline: Baseline | None

    @property
    def version(self) -> str:
        """Definition and fixture in one string; equal exactly when results may be compared."""
        return f"{self.definition_hash}+{self.fixture_hash}"


def load_benchmark_task(root: Path, id: str) -> BenchmarkTask:  # noqa: A002 - the interface's own word
    """Load and check the task `id` below `root`.

    Order: the id as a string, before any file is touched; the real directory; the manifest; the fixture.

    Raises:
        TaskDefinitionError: the id, the place or the manifest is wrong. It names the field, never a value of the file.
    """
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise TaskDefinitionError(
            "id",
            "任务 ID 无效 (invalid task id)",
            hint="lower-case letters, digits and inner hyphens: ^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
        )
    directory = _task_directory(root, id)
    document, definition_hash = _manifest(directory)
    known = fields.read(document, id)
    fixture = _fixture(directory, known.fixture)
    _check_lockfile(fixture, known.lockfile)
    try:
        fixture_hash = tree_hash(fixture)
    except IntegrityError as error:
        raise TaskDefinitionError(
            "schema", f"任务 schema 无效 (invalid fixture: {error.message})", field="fixture"
        ) from error
    if known.fixture_version.startswith(f"{VERSION}:") and known.fixture_version != fixture_hash:
        raise fields.invalid("fixtureVersion", "is not the fixture's tree hash")
    return BenchmarkTask(
        id=id,
        title=known.title,
        category=known.category,
        prompt=known.prompt,
        path=directory,
        fixture=fixture,
        fixture_version=known.fixture_version,
        fixture_hash=fixture_hash,
        definition_hash=definition_hash,
        timeout_s=known.timeout_s,
        budgets=known.budgets,
        grader=known.grader,
        variables=known.variables,
        lockfile=known.lockfile,
        network=known.network,
        conditions=known.conditions,
        baseline=known.baseline,
    )


def is_outside(root: Path, path: Path) -> bool:
    """Whether `path` lies outside `root`, told by the way from one to the other and not by how they are spelt."""
    way = os.path.relpath(path, root)
    return way == ".." or way.startswith(".." + os.sep) or Path(way).is_absolute()


def _task_directory(root: Path, id_: str) -> Path:
    try:
        base = Path(os.path.realpath(root, strict=True))
        listed = base / id_
        status = listed.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise TaskDefinitionError(
                "outside" if is_outside(base, Path(os.path.realpath(listed))) else "link",
                "任务超出基准目录 (the task's directory is a symbolic link)",
                hint="put the directory itself below the benchmark's root",
            )
        if not stat.S_ISDIR(status.st_mode):
            raise TaskDefinitionError("missing", f"there is no task directory {id_}")
        directory = Path(os.path.realpath(listed, strict=True))
    except (OSError, ValueError) as error:
        raise TaskDefinitionError(
            "missing",
            f"the benchmark's root, or the task {id_} below it, does not exist or cannot be read",
        ) from error
    if is_outside(base, directory):
        raise TaskDefinitionError("outside", "任务超出基准目录 (the task lies outside the benchmark's root)")
    return directory


def _manifest(directory: Path) -> tuple[dict[str, Any], str]:
    path = directory / MANIFEST
    try:
        data = _read_regular(path)
    except OSError as error:
        raise fields.invalid(None, f"{MANIFEST} cannot be read ({error.strerror})") from error
    try:
        document = json.loads(data.decode(), parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (ValueError, RecursionError):
        # Without the cause: its text quotes the file.
        raise fields.invalid(None, f"{MANIFEST} is not strict JSON in UTF-8") from None
    if not isinstance(document, dict):
        raise fields.invalid(None, f"{MANIFEST} is not an object")
    return document, f"td1:{hashlib.sha256(canonical.encode()).hexdigest()}"


def _check_lockfile(fixture: Path, lockfile: str | None) -> None:
    """A fixture with dependencies carries the lock that makes their installation the same everywhere."""
    if lockfile is not None:
        if not (fixture / lockfile).is_file():
            raise fields.invalid("lockfile", "does not exist in the fixture")
        return
    try:
        document = json.loads(_read_regular(fixture / "package.json"))
    except (OSError, ValueError, RecursionError):
        return  # there is none, or a broken one is what the task is about
    if isinstance(document, dict) and any(document.get(key) for key in ("dependencies", "devDependencies")):
        raise fields.invalid("lockfile", "must be named: the fixture's package.json has dependencies")


def _read_regular(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_MANIFEST_BYTES:
            raise OSError(0, "it is not a regular file of at most 1 MiB")
        return stream.read(_MAX_MANIFEST_BYTES + 1)


def _no_constant(_: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key stands twice")
    return document


def _fixture(directory: Path, relative: str) -> Path:
    """The fixture's real directory; no component on the way from the task may be a link."""
    path = directory
    for part in relative.split("/"):
        path /= part
        try:
            status = path.lstat()
        except (OSError, ValueError):
            raise fields.invalid("fixture", "does not exist") from None
        if stat.S_ISLNK(status.st_mode):
            raise fields.invalid("fixture", "is, or lies behind, a symbolic link")
        if not stat.S_ISDIR(status.st_mode):
            raise fields.invalid("fixture", "is not a directory")
    real = Path(os.path.realpath(path, strict=True))
    if is_outside(directory / FIXTURES, real):
        raise fields.invalid("fixture", f"lies outside the task's {FIXTURES}/ ({printable(relative)})")
    return real
