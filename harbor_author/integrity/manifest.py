"""The manifest of a suite: which version of each task there is, why it changed, and which may be compared."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harbor_author.integrity.baseline import read_baseline
from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.package import file_digest, package_files
from harbor_author.integrity.treehash import tree_hash
from harbor_author.suite import Suite, SuiteError, Task, parse_ranges, parse_task_id, parse_toml, read_text

FILE_NAME = "manifest.json"
SCHEMA = "author/manifest/1"
CHANGES_FILES = ("CHANGES.md", "CHANGES")
#: What an entry of a task's CHANGES explains, in English or Chinese.
EXPLAINED = {
    "Intent": re.compile(r"^[^\w\n]*(?:intent|意图|目的)[^\w\n:：]*[:：]", re.IGNORECASE | re.MULTILINE),
    "Grading": re.compile(r"^[^\w\n]*(?:grading|评分)[^\w\n:：]*[:：]", re.IGNORECASE | re.MULTILINE),
    "Comparability": re.compile(
        r"^[^\w\n]*(?:comparability|可比性?)[^\w\n:：]*[:：]", re.IGNORECASE | re.MULTILINE
    ),
}
_HEADING = re.compile(r"^##\s+(\S.*)$", re.MULTILINE)
_FIXTURE = "environment/fixture"
#: Where an entry begins, as `manifest_text` writes it.
_ENTRY_LINE = re.compile(r'    "([A-Z][1-9]\d*)": \{$')


@dataclass(frozen=True)
class Version:
    """The hashes that make a version of a task.

    Attributes:
        definition: of what is asked and how it is judged: task.toml, instruction.md, tests/, steps/.
        environment: of everything below environment/, which an image is built from.
        fixture: the tree hash of environment/fixture; "" when there is none.
        package: Harbor's digest of the whole.
    """

    definition: str
    environment: str
    fixture: str
    package: str


@dataclass(frozen=True)
class Entry:
    """One task in the manifest.

    Attributes:
        baseline: what the untouched fixture's own tests must give, as task.toml declares it; None when it does not.
        changes: headings of the task's CHANGES that were there when the version was recorded.
        history: earlier versions, the oldest first, each with the heading that explains its end.
        retired: why it is; "" while it is not. Its version is the last valid one.
    """

    name: str
    version: Version
    baseline: Mapping[str, Any] | None = None
    changes: tuple[str, ...] = ()
    history: tuple[tuple[Version, str], ...] = ()
    retired: str = ""


@dataclass(frozen=True)
class ManifestFinding:
    """What is wrong with one task's entry, where, and whether writing the manifest would set it right.

    `path` is relative to the suite; `line` is 0 when it is about the file as a whole.
    """

    task: str
    message: str
    fix: str
    writable: bool = False
    path: str = FILE_NAME
    line: int = 0


@dataclass(frozen=True)
class ManifestPlan:
    """The manifest as it is and as it would be written, and what falls short."""

    path: Path
    before: Mapping[str, Entry]
    after: Mapping[str, Entry]
    findings: tuple[ManifestFinding, ...]


@dataclass(frozen=True)
class Comparison:
    """Two manifests: the tasks whose results may be compared, and for each other one why not."""

    common: tuple[str, ...]
    excluded: Mapping[str, str] = field(default_factory=dict)


def task_version(task: Task) -> Version:
    """The version of a task as it lies on disk.

    Raises:
        IntegrityError: it cannot be packaged or its fixture cannot be hashed.
    """
    try:
        digests = {relative: file_digest(task.path / relative) for relative in package_files(task.path)}
        fixture = task.path / _FIXTURE
        fixture_hash = tree_hash(fixture) if fixture.is_dir() else ""
    except IntegrityError as error:
        where = task.name if error.path is None else f"{task.name}/{error.path}"
        raise IntegrityError(error.message, path=where, hint=error.hint) from error
    return Version(
        definition=_digest(
            {
                relative: digest
                for relative, digest in digests.items()
                if relative in ("task.toml", "instruction.md") or relative.startswith(("tests/", "steps/"))
            }
        ),
        environment=_digest(
            {relative: digest for relative, digest in digests.items() if relative.startswith("environment/")}
        ),
        fixture=fixture_hash,
        package=_digest(digests),
    )


def read_manifest(path: Path) -> dict[str, Entry]:
    """The entries of a manifest; none when there is no file.

    Raises:
        IntegrityError: it is not a manifest of this schema.
    """
    if not path.exists():
        return {}
    try:
        document = json.loads(read_text(path))
        if document["schema"] != SCHEMA:
            raise IntegrityError(
                f"has the schema {printable(str(document['schema']))}, not {SCHEMA}", path=path
            )
        return {id_: _entry(value) for id_, value in document["tasks"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise IntegrityError(
            "is not a manifest", path=path, hint="restore it from version control"
        ) from error


def manifest_text(entries: Mapping[str, Entry]) -> str:
    """A manifest as it is written: one entry a task, by ID."""
    tasks = {id_: asdict(entries[id_]) for id_ in sorted(entries, key=_order)}
    return json.dumps({"schema": SCHEMA, "tasks": tasks}, ensure_ascii=False, indent=2) + "\n"


def plan_manifest(suite: Suite) -> ManifestPlan:
    """What `author manifest` would write, and what is wrong; nothing is written.

    A changed version enters only with a new entry in the task's CHANGES. The entry of a retired task stays as it was
    when it was retired, whether its directory does or not.

    Raises:
        IntegrityError: the manifest cannot be read. A task that cannot is a finding.
    """
    path = suite.root / FILE_NAME
    before = read_manifest(path)
    retired = {
        str(task_id): reason
        for text, reason in suite.settings.retired.items()
        for task_id in parse_ranges([text])
    }
    after: dict[str, Entry] = {}
    lines = _entry_lines(path)
    findings: list[ManifestFinding] = []
    for id_, entry in before.items():
        if id_ in retired:
            after[id_] = replace(entry, retired=retired[id_])
            if entry.retired != retired[id_]:
                findings.append(_stale(id_, "is retired, and its entry does not say so"))
    for task in suite.tasks():
        if task.id is None or task.id in retired:
            continue
        recorded = before.get(task.id)
        planned: Entry | None
        try:
            planned, found = _plan_task(task, recorded)
        except (IntegrityError, SuiteError) as error:
            finding = ManifestFinding(
                task.id,
                f"has no version: {error.path}: {error.message}",
                error.hint or "mend what cannot be read or packaged",
                path=f"tasks/{task.name}",
            )
            planned, found = recorded, [finding]
        if planned is not None:
            after[task.id] = planned
        findings += found
    for id_ in before.keys() - after.keys():
        after[id_] = before[id_]
        findings.append(
            ManifestFinding(
                id_,
                f"{before[id_].name} is in the manifest and has no directory",
                f"'author retire {id_} --reason ...' keeps its evidence, and its number from being used again",
                line=lines.get(id_, 0),
            )
        )
    findings += _reused(suite, before, retired)
    return ManifestPlan(
        path, before, after, tuple(sorted(findings, key=lambda finding: _order(finding.task)))
    )


def compare(first: Mapping[str, Entry], second: Mapping[str, Entry]) -> Comparison:
    """The tasks on which runs made under two manifests may be compared: in the same version, retired in neither."""
    common, excluded = [], {}
    for id_ in sorted(first.keys() | second.keys(), key=_order):
        one, other = first.get(id_), second.get(id_)
        if one is None or other is None:
            excluded[id_] = "only in the second" if one is None else "only in the first"
        elif one.retired or other.retired:
            excluded[id_] = f"retired: {one.retired or other.retired}"
        elif one.name != other.name:
            excluded[id_] = f"another task: {one.name} and {other.name}"
        elif changed := _changed(one.version, other.version):
            excluded[id_] = f"not directly comparable: {' and '.join(changed)} changed"
        else:
            common.append(id_)
    return Comparison(tuple(common), excluded)


def _plan_task(task: Task, recorded: Entry | None) -> tuple[Entry, list[ManifestFinding]]:
    label = task.label
    baseline, findings = _baseline(task)
    headings = _headings(task)
    now = Entry(task.name, task_version(task), baseline, tuple(headings))
    if recorded is None:
        return now, [*findings, _stale(label, "is not in the manifest")]
    if recorded.retired:
        finding = ManifestFinding(
            label,
            "was retired, and author.toml no longer says so",
            "add it to [registry] retired again",
            path="author.toml",
        )
        return recorded, [*findings, finding]
    changed = _changed(recorded.version, now.version)
    if not changed:
        if replace(now, history=recorded.history) != recorded:
            findings.append(_stale(label, "is recorded with another name, package, baseline or change log"))
        return replace(now, history=recorded.history), findings
    new = [heading for heading in headings if heading not in recorded.changes]
    what = " and ".join(changed)
    lacking = [word for word, pattern in EXPLAINED.items() if not new or not pattern.search(headings[new[0]])]
    if lacking:
        why = (
            f"its new entry {printable(new[0])!r} lacks {', '.join(lacking)}"
            if new
            else "CHANGES.md has no new entry"
        )
        fix = "add '## <date>: <what>' to the task's CHANGES.md, with lines 'Intent:', 'Grading:' and 'Comparability:'"
        name, line = _change_log(task, new[0] if new else None)
        where = f"tasks/{task.name}/{name}"
        return recorded, [
            *findings,
            ManifestFinding(label, f"the {what} changed, and {why}", fix, path=where, line=line),
        ]
    findings.append(_stale(label, f"the {what} changed ({printable(new[0])})"))
    return replace(now, history=(*recorded.history, (recorded.version, new[0]))), findings


def _reused(suite: Suite, before: Mapping[str, Entry], retired: Mapping[str, str]) -> list[ManifestFinding]:
    found = []
    for task in suite.tasks(retired=True):
        known = before.get(task.id or "")
        if known is not None and task.id in retired and known.name != task.name:
            found.append(
                ManifestFinding(
                    task.label,
                    f"the number of the retired {known.name} is used again by {task.name}",
                    f"rename {task.name} to the next free number ('author next-id')",
                    path=f"tasks/{task.name}",
                )
            )
    return found


def _changed(one: Version, other: Version) -> list[str]:
    return [
        name
        for name in ("definition", "environment", "fixture")
        if getattr(one, name) != getattr(other, name)
    ]


def _stale(label: str, message: str) -> ManifestFinding:
    return ManifestFinding(label, message, "run 'author manifest' and commit what it writes", writable=True)


def _baseline(task: Task) -> tuple[Mapping[str, Any] | None, list[ManifestFinding]]:
    path = task.path / "task.toml"
    line = 0
    try:
        source = parse_toml(read_text(path), path=path)
        metadata = source.document.get("metadata")
        line = source.line("metadata", "baseline") or 0
        declared = metadata.get("baseline") if isinstance(metadata, dict) else None
        if declared is not None:
            read_baseline(declared)
    except (SuiteError, IntegrityError) as error:
        return None, [
            ManifestFinding(
                task.label,
                error.message,
                error.hint or "mend [metadata.baseline] in task.toml",
                path=f"tasks/{task.name}/task.toml",
                line=error.line or line,
            )
        ]
    return declared, []


def _headings(task: Task) -> dict[str, str]:
    """Heading -> text of each entry of the task's change log."""
    for name in CHANGES_FILES:
        path = task.path / name
        if path.is_file() and not path.is_symlink():
            text = read_text(path)
            matches = list(_HEADING.finditer(text))
            ends = [*(match.start() for match in matches[1:]), len(text)]
            return {
                match[1].strip(): text[match.end() : end] for match, end in zip(matches, ends, strict=True)
            }
    return {}


def _change_log(task: Task, heading: str | None) -> tuple[str, int]:
    """The name of a task's change log, and the line of one of its headings; 0: of none."""
    for name in CHANGES_FILES:
        path = task.path / name
        if path.is_file() and not path.is_symlink():
            text = read_text(path)
            for match in _HEADING.finditer(text):
                if match[1].strip() == heading:
                    return name, text.count("\n", 0, match.start()) + 1
            return name, 0
    return CHANGES_FILES[0], 0


def _entry_lines(path: Path) -> dict[str, int]:
    """The line of each task's entry in a manifest as we write it."""
    found = {}
    if path.is_file():
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if match := _ENTRY_LINE.match(line):
                found[match[1]] = number
    return found


def _digest(digests: Mapping[str, str]) -> str:
    """Harbor's way of hashing files, over a part of them."""
    whole = hashlib.sha256()
    for relative in sorted(digests):
        whole.update(f"{relative}\0{digests[relative]}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def _entry(value: Mapping[str, Any]) -> Entry:
    return Entry(
        name=value["name"],
        version=Version(**value["version"]),
        baseline=value["baseline"],
        changes=tuple(value["changes"]),
        history=tuple((Version(**version), reason) for version, reason in value["history"]),
        retired=value["retired"],
    )


def _order(id_: str) -> tuple[str, int, str]:
    task_id = parse_task_id(id_)
    return (task_id.series, task_id.number, "") if task_id else ("~", 0, id_)


def retire_entries(
    entries: Mapping[str, Entry], task: Task | None, id_: str, reason: str
) -> dict[str, Entry]:
    """The manifest with one task retired: its entry as recorded, or of the directory when it was never recorded."""
    found = dict(entries)
    if id_ not in found and task is not None:
        found[id_] = _entry_of(task)
    if id_ in found:
        found[id_] = replace(found[id_], retired=reason)
    return found


def _entry_of(task: Task) -> Entry:
    """The entry of a task that was never recorded; one that cannot be hashed has no last valid version."""
    try:
        version = task_version(task)
    except IntegrityError:
        version = Version("", "", "", "")
    return Entry(task.name, version, _baseline(task)[0])
