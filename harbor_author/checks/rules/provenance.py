"""A fixture that was cut from a real repository: licence, source, commit, digests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from harbor_author.checks.context import READ_LIMIT, TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule

_FOLDERS = ("environment/fixture/provenance/", "environment/provenance/", "provenance/")
_DIGEST = re.compile(r"\b(?P<digest>[0-9a-f]{64})\b[ \t]+\*?(?P<path>\S[^\n]*?)[ \t]*$", re.MULTILINE)
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")


def _folder(files: TaskFiles) -> str:
    return next((folder for folder in _FOLDERS if files.is_dir(folder.rstrip("/"))), "")


def _documents(files: TaskFiles, folder: str) -> str:
    return "\n".join(files.text(e.path) for e in files.files(folder) if not files.is_binary(e.path))


@rule(name="provenance-incomplete", pack="harbor", severity="error")
def provenance_incomplete(files: TaskFiles) -> Iterator[Problem]:
    """A provenance/ folder lacks the source, the commit or the files' digests.

    Why: a slice of a repository said "from upstream, last spring"; when its licence was asked for, nobody could tell
        which commit it came from.
    Bad: provenance/README.md with a project's name alone
    Good: the repository's address, the full commit, and a SHA-256 for each file
    Fix: add what is named; 'author extract' writes all three.
    """
    folder = _folder(files)
    if not folder:
        return
    text = _documents(files, folder)
    path = folder.rstrip("/")
    if not re.search(r"https://\S+|git@\S+|\bgit://\S+", text):
        if _recorded(files, folder, "repository", "name"):
            # A repository that was never pushed has a name and no address; whoever publishes the task adds one.
            yield Problem("provenance/ names a repository without its address", path, severity="warning")
        else:
            yield Problem("provenance/ names no source", path)
    if not _COMMIT.search(text):
        yield Problem("provenance/ names no full commit (40 hexadecimal digits)", path)
    if not _digests(files, folder):
        yield Problem("provenance/ holds no SHA-256 of a file", path)


def _recorded(files: TaskFiles, folder: str, table: str, key: str) -> bool:
    """Whether a JSON document of provenance/ holds a text under `table` and `key`."""
    for entry in files.files(folder):
        if entry.name.endswith(".json") and not files.is_binary(entry.path):
            value, _ = files.json(entry.path)
            inner = value.get(table) if isinstance(value, dict) else None
            if isinstance(inner, dict) and isinstance(inner.get(key), str) and inner[key].strip():
                return True
    return False


def _digests(files: TaskFiles, folder: str) -> dict[str, tuple[str, str, int | None]]:
    """File as named -> (digest, document, line), from sha256sum lists and from JSON."""
    found: dict[str, tuple[str, str, int | None]] = {}
    for entry in files.files(folder):
        if files.is_binary(entry.path):
            continue
        text = files.text(entry.path)
        if entry.name.endswith(".json"):
            value, _ = files.json(entry.path)
            for name, digest in _from_json(value, 0):
                found[name] = (digest, entry.path, None)
            continue
        for match in _DIGEST.finditer(text):
            found[match["path"]] = (match["digest"], entry.path, text.count("\n", 0, match.start()) + 1)
    return found


def sliced(files: TaskFiles) -> frozenset[str]:
    """Files of the environment that provenance/ lists: upstream's state before, so no copy of the solution.

    A migration that moves a file leaves most of its lines as they were; provenance-mismatch guards the digests.
    """
    folder = _folder(files)
    listed = _digests(files, folder) if folder else {}
    return frozenset(name for name in listed if name.startswith("environment/") and files.is_file(name))


def _from_json(value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """{"path": ..., "sha256": ...} records, and {"a/b.js": "<digest>"} tables, at any depth."""
    if depth > 6:
        return
    if isinstance(value, dict):
        name, digest = value.get("path"), value.get("sha256")
        if isinstance(name, str) and isinstance(digest, str):
            yield name, digest.removeprefix("sha256:")
        for key, item in value.items():
            if isinstance(item, str) and re.fullmatch(r"(?:sha256:)?[0-9a-f]{64}", item) and key != "sha256":
                yield str(key), item.removeprefix("sha256:")
            else:
                yield from _from_json(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _from_json(item, depth + 1)


@rule(name="provenance-mismatch", pack="harbor", severity="error")
def provenance_mismatch(files: TaskFiles) -> Iterator[Problem]:
    """A file differs from the digest that provenance/ gives for it, or is gone.

    Why: a fixture was "cleaned up" after it had been cut out; it no longer showed the fault that the real commit had,
        and its digests still said that it was the original.
    Bad: provenance/SHA256SUMS with the digest of another index.js
    Good: digests of the files as they lie there
    Fix: restore the file, or write its digest anew and say in provenance/ what was changed and why.
    """
    folder = _folder(files)
    if not folder:
        return
    base = folder.removesuffix("provenance/")
    for name, (digest, document, line) in _digests(files, folder).items():
        clean = name.removeprefix("./")
        candidates = (base + clean, "environment/fixture/" + clean, clean, folder + clean)
        path = next((p for p in candidates if files.is_file(p)), None)
        if path is None:
            yield Problem(f"{clean[:100]} is listed but does not exist", document, line)
        elif files.entries[path].size <= READ_LIMIT:
            actual = hashlib.sha256(files.data(path)).hexdigest()
            if actual != digest:
                yield Problem(f"{clean[:100]} is not the file that {document} describes", path)


@rule(name="licence-missing", pack="harbor", severity="error")
def licence_missing(files: TaskFiles) -> Iterator[Problem]:
    """A slice of a real repository has no licence text.

    Why: the MIT licence asks for its text in every copy; a dataset with forty slices had to be taken offline until the
        texts were found again.
    Bad: a fixture with provenance/ and no LICENSE
    Good: LICENSE, as the source has it, beside the files
    Fix: copy the licence file of the source at that commit.
    """
    folder = _folder(files)
    if not folder:
        return
    base = folder.removesuffix("provenance/")
    for entry in files.files():
        name = entry.name.lower()
        licence = re.match(r"(?:licen[cs]e|copying|unlicense|notice)(?:[.-].*)?$", name) and entry.size > 0
        if licence and entry.path.startswith((base, "environment/")):
            return
    if _recorded(files, folder, "licence", "accepted_by"):
        return  # somebody decided, and provenance/ says who and why
    yield Problem("the slice has no licence file", folder.rstrip("/"))
