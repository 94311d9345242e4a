"""An extraction becomes files, and the files a task directory: whole or not at all."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harbor_author.integrity.temporary import temporary_folder
from harbor_author.mining.errors import MiningError
from harbor_author.mining.extract import (
    TRAP_CAP,
    Extraction,
    ExtractRequest,
    condition_words,
    read_extraction,
)
from harbor_author.mining.oracle import plan, solve_script
from harbor_author.mining.states import Tree
from harbor_author.scaffold import (
    DEFAULT_SLUG,
    TaskRequest,
    check_request,
    one_line,
    render,
    task_files,
    task_words,
    templates_dir,
)
from harbor_author.suite import Suite, TaskName, next_id, reserve_task, slugify

_SCAFFOLD_ONLY = ("environment/fixture/", "solution/", "tests/judge.mjs", "tests/service.mjs")
_LOCK_TIMEOUT_S = 90
_LOCK_FILE = "environment/runtime/package-lock.json"


@dataclass(frozen=True)
class TaskFile:
    """A file of the task: bytes and mode."""

    data: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Extracted:
    """A task that was made or, in a dry run, would be."""

    name: TaskName
    path: Path
    extraction: Extraction
    files: Mapping[str, TaskFile]

    @property
    def locked(self) -> bool:
        """Whether every package that is installed has a lock file's digest."""
        return not self.extraction.dependencies or _LOCK_FILE in self.files


def extract_task(
    suite: Suite, request: ExtractRequest, task: TaskRequest, *, dry_run: bool = False
) -> Extracted:
    """Make a task of a commit.

    Args:
        task: series, slug, title, cards, mode and language as for a scaffolded task; a default slug and title are
            made from the package's name.

    Raises:
        MiningError, ScaffoldError, SuiteError: it cannot be done; nothing is left behind.
    """
    check_request(suite, task)
    series = suite.settings.series[task.series]
    if (task.mode or series.mode) == "readonly":
        raise MiningError(
            f"series {task.series} asks for a report on a fixture that stays as it is, which no commit answers",
            hint="Use a series whose tasks may be changed, such as M or H.",
        )
    found = read_extraction(request, known_cards=tuple(suite.cards().cards), host_runs=series.host)
    task = _named(task, found)
    if dry_run:
        task_id = next_id(suite, task.series)
        name = TaskName(task_id.series, task_id.number, task.slug)
        return Extracted(
            name, suite.tasks_dir / str(name), found, all_files(suite, task, name, found, lock=False)
        )
    with reserve_task(suite, task.series, task.slug) as reservation:
        files = all_files(suite, task, reservation.name, found, lock=True)
        for path, file in files.items():
            target = reservation.staging / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)
            target.chmod(file.mode)
    return Extracted(reservation.name, reservation.final, found, files)


def _named(task: TaskRequest, found: Extraction) -> TaskRequest:
    name = (found.package or found.source.name).rpartition("/")[2]
    slug = task.slug if task.slug != DEFAULT_SLUG else (slugify(name) or DEFAULT_SLUG)
    cards = tuple(dict.fromkeys((*task.cards, *found.cards)))
    title = task.title if task.title is not None else f"Migrate {one_line(name)[:100]} to its new host"
    return replace(task, slug=slug, cards=cards, title=title)


def all_files(
    suite: Suite, task: TaskRequest, name: TaskName, found: Extraction, *, lock: bool
) -> dict[str, TaskFile]:
    """Every file of the task, by path.

    Args:
        lock: ask the package manager for a lock file of the runtime dependencies (needs the network).
    """
    files = {
        file.path: TaskFile(file.data, file.mode)
        for file in task_files(suite, task, name)
        if not file.path.startswith(_SCAFFOLD_ONLY)
    }
    words = task_words(suite, task, name) | _words(found)
    for rendered in render([templates_dir() / "extract"], words):
        files[rendered.path] = TaskFile(rendered.data, rendered.mode)
    files |= _tree_files("environment/fixture", found.fixture)
    files |= _solution(
        "solution", found.fixture, found.after, purpose="The reference migration, file by file."
    )
    if found.between is not None:
        files |= _decoy(found, found.between)
    files |= _provenance(found)
    # A checkout of the suite must not convert line ends, or the digests no longer hold.
    files[".gitattributes"] = TaskFile(b"environment/fixture/** -text\nsolution/** -text\n")
    if found.dependencies:
        files |= _runtime_install(files["environment/Dockerfile"], found, lock=lock)
    return dict(sorted(files.items()))


def _words(found: Extraction) -> dict[str, Any]:
    points = [
        {
            "id": item.point.id,
            "title": item.point.title,
            "cards": item.point.cards,
            "points": item.points,
            "conditions": [condition_words(condition) for condition in item.point.conditions],
        }
        for item in found.points
    ]
    return {
        "package": found.package or found.source.name,
        "points": [point for point in points if point["conditions"]],
        "all_points": points,
        "runtime": found.runtime,
        "contexts": list(found.contexts),
        "is_plugin": found.is_plugin,
        "trap": [condition_words(condition) for condition in found.trap],
        "trap_cap": TRAP_CAP,
        "copies": len(found.plan.copies),
        "removals": len(found.plan.removals),
    }


def _tree_files(folder: str, tree: Tree) -> dict[str, TaskFile]:
    return {f"{folder}/{path}": TaskFile(file.data, file.mode) for path, file in tree.items()}


def _solution(folder: str, before: Tree, after: Tree, *, purpose: str) -> dict[str, TaskFile]:
    steps = plan(before, after)
    script = solve_script(steps, after, purpose=purpose)
    files = {f"{folder}/solve.sh": TaskFile(script.encode("utf-8"), 0o755)}
    return files | _tree_files(f"{folder}/plugin", {path: after[path] for path in steps.copies})


def _decoy(found: Extraction, between: Tree) -> dict[str, TaskFile]:
    folder = "solution/decoys/halfway"
    lines = [
        f"max_score = {TRAP_CAP}",
        'why = "What the real migration looked like before its last commit: it seems done, and is not."',
    ]
    return _solution(
        folder, found.fixture, between, purpose="The first attempt: the state before the last commit."
    ) | {f"{folder}/decoy.toml": TaskFile(("\n".join(lines) + "\n").encode("utf-8"))}


def _provenance(found: Extraction) -> dict[str, TaskFile]:
    source, licence = found.source, found.licence
    document = {
        "schema": "author/provenance/1",
        "repository": {"name": source.name, "url": source.remote, "folder": source.subdir or None},
        "commits": {"before": source.before, "after": source.after, "migration": list(source.commits)},
        "licence": {
            "declared": licence.declared,
            "file": licence.path,
            "text": licence.text_is,
            "accepted_by": licence.accepted_by,
            "accepted_why": licence.accepted_why,
        },
        "fixture": _digests("environment/fixture", found.fixture, found.upstream_before),
        "solution": _digests(
            "solution/plugin", {path: found.after[path] for path in found.plan.copies}, found.upstream_after
        ),
        "removed_by_solution": list(found.plan.removals),
        "left_out": [
            {"path": item.path, "why": item.why, "changed": item.changed} for item in found.left_out
        ],
        "edited": [{"path": edit.path, "what": edit.what} for edit in found.edits],
    }
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    files = {"provenance/provenance.json": TaskFile(text.encode("utf-8"))}
    if licence.text is not None:
        files["provenance/LICENSE"] = TaskFile(licence.text)
    if "package.json" in found.upstream_before:
        files["provenance/package.json"] = TaskFile(found.upstream_before["package.json"].data)
    return files


def _digests(folder: str, tree: Tree, upstream: Tree) -> list[dict[str, Any]]:
    """SHA-256 of each file as it lies in the task, and of upstream's where that differs (null: the task added it)."""
    digests = []
    for path, file in sorted(tree.items()):
        entry: dict[str, Any] = {"path": f"{folder}/{path}", "sha256": hashlib.sha256(file.data).hexdigest()}
        if path not in upstream:
            entry["upstream"] = None
        elif upstream[path].data != file.data:
            entry["upstream"] = {"sha256": hashlib.sha256(upstream[path].data).hexdigest()}
        digests.append(entry)
    return digests


def _runtime_install(dockerfile: TaskFile, found: Extraction, *, lock: bool) -> dict[str, TaskFile]:
    """A locked install at the root of the image: found from the fixture and from the judge's copy of it."""
    known = {item.name: item.version for item in found.dependencies if item.version is not None}
    manifest = {"name": "runtime", "version": "1.0.0", "private": True, "dependencies": known}
    text = json.dumps(manifest, indent=2) + "\n"
    files = {"environment/runtime/package.json": TaskFile(text.encode("utf-8"))}
    lock_text = _lock(text) if lock and known else None
    if lock_text is not None:
        files[_LOCK_FILE] = TaskFile(lock_text)
    command = "ci" if lock_text is not None else "install"
    block = (
        "# What the plugin imports when it starts and its repository does not hold.\n"
        "COPY runtime/ /opt/runtime/\n"
        f"RUN npm {command} --prefix /opt/runtime --ignore-scripts --no-audit --no-fund \\\n"
        "    && ln -s /opt/runtime/node_modules /node_modules && npm cache clean --force > /dev/null 2>&1\n\n"
    )
    before, marker, rest = dockerfile.data.decode("utf-8").partition("WORKDIR /app\n")
    files["environment/Dockerfile"] = TaskFile(
        (before + block + marker + rest).encode("utf-8"), dockerfile.mode
    )
    return files


def _lock(manifest: str) -> bytes | None:
    """A package-lock.json, or None when npm is not here or cannot reach its registry."""
    with temporary_folder("lock") as folder:
        (folder / "package.json").write_text(manifest, "utf-8")
        command = ("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund")
        try:
            done = subprocess.run(
                # Without it the lock names this machine's registry, which may be a mirror that nobody else reaches.
                [*command, "--omit-lockfile-registry-resolved"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LOCK_TIMEOUT_S,
                check=False,
            )
            return (folder / "package-lock.json").read_bytes() if done.returncode == 0 else None
        except (OSError, subprocess.TimeoutExpired):
            return None
