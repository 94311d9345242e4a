"""Taking a task out of every new run without losing what it proved, or ever using its number again."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.files import reap_siblings, write_atomic
from harbor_author.integrity.manifest import FILE_NAME, manifest_text, read_manifest, retire_entries
from harbor_author.suite import Suite, SuiteError, parse_ranges, parse_task_id, read_text, used_ids


def retire(suite: Suite, id_: str, reason: str) -> list[Path]:
    """Mark a task as retired in author.toml and in the manifest, where its last valid version stays; return both files.

    The task's directory and its receipt are left alone.

    Raises:
        IntegrityError: the ID is none, was never used here, or is retired already; the reason is empty.
        SuiteError: author.toml cannot be read.
    """
    task_id = parse_task_id(id_)
    if task_id is None:
        raise IntegrityError(
            f"{printable(id_)!r} is not the ID of a task", hint=_near(suite, id_, "write it as H23")
        )
    reason = " ".join(reason.split())
    if not reason or not reason.isprintable():
        raise IntegrityError("a retirement needs a reason of one line", hint='--reason "the answer leaked"')
    if task_id in parse_ranges(suite.settings.retired):
        raise IntegrityError(
            f"{id_} is retired already: {suite.settings.retired.get(id_, 'see author.toml')}",
            path=suite.settings.path,
        )
    manifest = suite.root / FILE_NAME
    entries = read_manifest(manifest)
    if task_id not in used_ids(suite) and id_ not in entries:
        raise IntegrityError(
            f"there never was a task {id_}", hint=_near(suite, id_, "'author list' shows the tasks")
        )
    task = next((task for task in suite.tasks() if task.id == id_), None)
    entries = retire_entries(entries, task, id_, reason)
    reap_siblings(suite.root)
    # The manifest first: when the second write fails, `author manifest` says so and nothing is lost.
    write_atomic(manifest, manifest_text(entries))
    write_atomic(suite.settings.path, _with_retired(suite.settings.path, id_, reason))
    return [suite.settings.path, manifest]


def _with_retired(path: Path, id_: str, reason: str) -> str:
    """author.toml with one more retired ID, its comments and order kept."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(read_text(path))
        registry = document.setdefault("registry", tomlkit.table())
        if not isinstance(registry.get("retired", {}), Mapping):
            raise IntegrityError("[registry] retired is not a table", path=path)
        registry.setdefault("retired", tomlkit.inline_table())[id_] = reason
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise SuiteError(
            f"cannot be changed: {error}", path=path, hint=f'add {id_} = "{reason}" by hand'
        ) from error


def _near(suite: Suite, word: str, otherwise: str) -> str:
    ids = {name: task.id for task in suite.tasks() if task.id for name in (task.id, task.name)}
    near = get_close_matches(word, ids, n=1, cutoff=0.5)
    return f"did you mean {ids[near[0]]}?" if near else otherwise
