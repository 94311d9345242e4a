"""The reports that a ground truth is calibrated with, and what each of them must find.

Beside the reports, by default in `solution/reports/`, stands `reports.toml` (or `reports.json` of the same shape):

    [[report]]
    file = "half.md"
    kind = "partial"
    finds = ["renamed-service"]      # exactly these
    # min_score, max_score: a band, for judges whose rubric gives other points
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.files import read_report

#: kind -> what it must find when the report does not say it itself: "all", "none", "floor" or "" (it must say it).
KINDS: Mapping[str, str] = {
    "right": "all",
    "paraphrased": "all",
    "other-language": "all",
    "negated": "all",
    "partial": "",
    "wrong": "none",
    "prompt-copy": "floor",
    "ids-only": "floor",
    "empty": "floor",
}
_FILES = ("reports.toml", "reports.json")
_FIELDS = ("file", "kind", "finds", "min_score", "max_score")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One report and what it must come to. `finds` is None where only the score is bounded. Scores from 0 to 100."""

    name: str
    kind: str
    text: str
    finds: frozenset[str] | None
    min_score: float = 0
    max_score: float = 100


@dataclass(frozen=True, slots=True)
class ReportSet:
    """The declared reports of a folder and the files in it that no entry names."""

    expectations: tuple[Expectation, ...]
    undeclared: tuple[str, ...]


def load_reports(folder: Path, ids: Sequence[str], floor: float) -> ReportSet:
    """The reports of a folder. `ids` are all findings of the truth; `floor` is the most a copied prompt may score.

    Raises:
        ScoringError: the declaration is wrong, or names a file that is not there.
    """
    path = next((folder / name for name in _FILES if (folder / name).is_file()), None)
    if path is None:
        raise ScoringError(
            "there is no reports.toml",
            path=folder,
            hint="declare what each report must find; see docs/scoring.md",
        )
    entries = _read_entries(path)
    expectations = [_read_entry(entry, place, path, ids, floor) for place, entry in enumerate(entries, 1)]
    names = [expectation.name for expectation in expectations]
    for name in names:
        if names.count(name) > 1:
            raise ScoringError(f"{name} is declared twice", path=path)
    others = (entry.name for entry in folder.iterdir() if entry.suffix in (".md", ".txt"))
    return ReportSet(tuple(expectations), tuple(sorted(set(others) - set(names))))


def expected(
    name: str, kind: str, text: str, ids: Sequence[str], floor: float, finds: Sequence[str] | None = None
) -> Expectation:
    """A report with what its kind, or `finds`, requires."""
    rule = KINDS[kind]
    if finds is None and rule == "floor":
        return Expectation(name, kind, text, None, max_score=floor)
    found = finds if finds is not None else ids if rule == "all" else ()
    return Expectation(name, kind, text, frozenset(found))


def _read_entries(path: Path) -> list[Any]:
    text = read_report(path)
    try:
        document: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise ScoringError(f"the declaration cannot be parsed: {error}", path=path) from error
    entries = document.get("report") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise ScoringError("it declares no report", path=path, hint="one [[report]] table a file")
    return entries


def _read_entry(entry: Any, place: int, path: Path, ids: Sequence[str], floor: float) -> Expectation:
    def wrong(what: str, hint: str | None = None) -> ScoringError:
        return ScoringError(f"report {place}: {what}", path=path, hint=hint)

    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise wrong("names no file")
    unknown = sorted(set(entry) - set(_FIELDS))
    if unknown:
        raise wrong(f"unknown field {unknown[0]}", f"known are {', '.join(_FIELDS)}")
    name, kind = entry["file"], entry.get("kind", "partial")
    if kind not in KINDS:
        raise wrong(f"unknown kind {kind!r}", f"known are {', '.join(KINDS)}")
    if Path(name).name != name:
        raise wrong(f"{name} is not a file of this folder")
    finds = entry.get("finds")
    if finds is not None and not (isinstance(finds, list) and all(isinstance(one, str) for one in finds)):
        raise wrong("finds must be a list of finding ids")
    for one in finds or ():
        if one not in ids:
            raise wrong(f"finds names {one}, which is no finding of the ground truth")
    low, high = _score(entry, "min_score", wrong), _score(entry, "max_score", wrong)
    bounded = low is not None or high is not None
    if finds is None and not bounded and not KINDS[kind]:
        raise wrong("says nothing about what must come out", "give finds, min_score or max_score")
    base = expected(name, kind, read_report(path.parent / name), ids, floor, finds)
    return Expectation(
        name,
        kind,
        base.text,
        None if bounded and finds is None else base.finds,
        base.min_score if low is None else low,
        base.max_score if high is None else high,
    )


def _score(entry: Mapping[str, Any], field: str, wrong: Any) -> float | None:
    value = entry.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        raise wrong(f"{field} must be a number from 0 to 100")
    return float(value)
