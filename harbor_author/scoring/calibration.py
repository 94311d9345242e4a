"""Does a ground truth separate right reports from wrong ones? What it finds in reports whose worth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.expectations import Expectation, expected, load_reports
from harbor_author.scoring.explanation import words_in
from harbor_author.scoring.files import read_report
from harbor_author.scoring.grading import Grade, Grader, passages, shortened
from harbor_author.scoring.text import ItemText
from harbor_author.scoring.truth import KeywordList, TruthFinding, load_truth_document, read_truth
from harbor_author.suite import Task, find_citations, parse_toml, read_plain

DEFAULT_FLOOR = 20.0
#: A near miss is told for at most so many passages a finding.
_MOST_FLIPS = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """One report graded. `problems` say how it missed its expectation."""

    expectation: Expectation
    grade: Grade
    found: frozenset[str]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """One finding over all reports of which it is known whether they name it."""

    id: str
    hits: int
    misses: int
    false_alarms: int
    rejections: int


@dataclass(frozen=True, slots=True)
class Weakness:
    """Something that makes a ground truth fragile, though no declared expectation is missed for it."""

    kind: str
    finding: str
    message: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """All that a calibration shows."""

    outcomes: tuple[Outcome, ...]
    confusion: tuple[Confusion, ...]
    weaknesses: tuple[Weakness, ...]
    undeclared: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not any(outcome.problems for outcome in self.outcomes)

    def to_json(self) -> dict[str, Any]:
        return {
            "reports": [_outcome_json(outcome) for outcome in self.outcomes],
            "confusion": [
                {
                    "id": row.id,
                    "hits": row.hits,
                    "misses": row.misses,
                    "falseAlarms": row.false_alarms,
                    "rejections": row.rejections,
                }
                for row in self.confusion
            ],
            "weaknesses": [
                {"kind": one.kind, "finding": one.finding, "message": one.message} for one in self.weaknesses
            ],
            "undeclared": list(self.undeclared),
            "summary": {
                "reports": len(self.outcomes),
                "missed": sum(bool(outcome.problems) for outcome in self.outcomes),
                "weaknesses": len(self.weaknesses),
            },
        }


def _outcome_json(outcome: Outcome) -> dict[str, Any]:
    expectation = outcome.expectation
    return {
        "name": expectation.name,
        "kind": expectation.kind,
        "score": outcome.grade.score,
        "found": sorted(outcome.found),
        "expected": {
            "finds": None if expectation.finds is None else sorted(expectation.finds),
            "minScore": expectation.min_score,
            "maxScore": expectation.max_score,
        },
        "ok": not outcome.problems,
        "problems": list(outcome.problems),
    }


def calibrate(task: Task, *, folder: Path | None = None) -> Calibration:
    """Grade the reports of `folder` (default: the task's `solution/reports/`, if it has one) and some of our own:
    the reference report, the reports of variants and decoys, the instruction itself, the cards' IDs alone, and nothing.

    Raises:
        ScoringError: the task has no usable ground truth, or the reports' declaration is wrong.
    """
    path = task.path / "tests" / "ground-truth.json"
    document = load_truth_document(path)
    truth = read_truth(document)
    prompt = task.path / "tests" / "prompt.md"
    try:
        grader = Grader(document, prompt=read_report(prompt) if prompt.is_file() else "")
    except ScoringError as error:
        raise ScoringError(error.message, path=path) from error
    ids = [finding.id for finding in truth.findings]
    floor = _floor(task)
    expectations = list(_own_reports(task, ids, floor))
    undeclared: tuple[str, ...] = ()
    default = task.path / "solution" / "reports"
    if folder is not None or default.is_dir():
        declared = load_reports(folder or default, ids, floor)
        expectations.extend(declared.expectations)
        undeclared = declared.undeclared
    outcomes = tuple(_judge(expectation, grader) for expectation in expectations)
    weaknesses = [
        *_stale_prompt(task, prompt),
        *_idle_words(grader, outcomes),
        *_flips(grader, outcomes),
        *_overlaps(grader, outcomes),
    ]
    return Calibration(outcomes, tuple(_confusion(ids, outcomes)), tuple(weaknesses), undeclared)


def _floor(task: Task) -> float:
    path = task.path / "task.toml"
    if not path.is_file():
        return DEFAULT_FLOOR
    metadata = parse_toml(read_report(path), path=path).document.get("metadata", {})
    value = metadata.get("report_floor") if isinstance(metadata, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else DEFAULT_FLOOR


def _max_score(path: Path) -> float | None:
    value = parse_toml(read_report(path), path=path).document.get("max_score") if path.is_file() else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _own_reports(task: Task, ids: Sequence[str], floor: float) -> Iterator[Expectation]:
    reference = task.path / "solution" / "report.md"
    if reference.is_file():
        yield expected("(reference report)", "right", read_report(reference), ids, floor)
    for path in sorted((task.path / "solution" / "variants").glob("*/*.md")):
        yield expected(f"(variant {path.parent.name})", "right", read_report(path), ids, floor)
    for path in sorted((task.path / "solution" / "decoys").glob("*/*.md")):
        limit = _max_score(path.parent / "decoy.toml")
        if limit is not None:
            yield Expectation(
                f"(decoy {path.parent.name})", "wrong", read_report(path), None, max_score=limit
            )
    instruction = task.path / "instruction.md"
    if instruction.is_file():
        yield expected("(instruction)", "prompt-copy", read_report(instruction), ids, floor)
    texts = [read_report(path) for path in sorted((task.path / "solution").glob("*.md"))]
    cards = dict.fromkeys(card for text in texts for one in find_citations(text) for card in one.ids)
    if cards:
        yield expected("(card IDs)", "ids-only", "\n".join(f"- {card}" for card in cards), ids, floor)
    yield expected("(nothing)", "empty", "", ids, floor)


def _judge(expectation: Expectation, grader: Grader) -> Outcome:
    grade = grader.grade(expectation.text)
    found = frozenset(check.id for check in grade.checks if check.earned > 0)
    problems = []
    if expectation.finds is not None:
        reasons = {check.id: check.reason for check in grade.checks}
        problems += [
            f"{name} is not found ({reasons[name].removeprefix('not found: ')})"
            for name in sorted(expectation.finds - found)
        ]
        problems += [f"{name} is found ({reasons[name]})" for name in sorted(found - expectation.finds)]
    if not expectation.min_score <= grade.score <= expectation.max_score:
        problems.append(
            f"scores {grade.score:g}, expected {expectation.min_score:g} to {expectation.max_score:g}"
        )
    return Outcome(expectation, grade, found, tuple(problems))


def _confusion(ids: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[Confusion]:
    for name in ids:
        cells: Counter[tuple[bool, bool]] = Counter()
        for outcome in outcomes:
            if outcome.expectation.finds is not None:
                cells[name in outcome.expectation.finds, name in outcome.found] += 1
        yield Confusion(name, cells[True, True], cells[True, False], cells[False, True], cells[False, False])


def _stale_prompt(task: Task, prompt: Path) -> Iterator[Weakness]:
    instruction = task.path / "instruction.md"
    try:
        stale = read_plain(prompt) != read_plain(instruction)
    except OSError:
        return  # one of them is not there, or is no file; that is not for this check to say
    if stale:
        yield Weakness("stale-prompt", "", "tests/prompt.md is not the instruction any more; copy it again")


def _lists(grader: Grader) -> Iterator[tuple[TruthFinding, KeywordList]]:
    for finding in grader.truth.findings:
        for entry in finding.keyword_lists:
            yield finding, entry


def _idle_words(grader: Grader, outcomes: Sequence[Outcome]) -> Iterator[Weakness]:
    """Keywords that occur in no report, or as often in those that name the finding as in those that do not."""
    items = [(ItemText(outcome.expectation.text), outcome.expectation.finds) for outcome in outcomes]
    for finding, entry in _lists(grader):
        for keyword in dict.fromkeys(entry.keywords):
            naming = [keyword.matches(item) for item, finds in items if finds and finding.id in finds]
            others = [
                keyword.matches(item)
                for item, finds in items
                if (finds is None or finding.id not in finds) and item.text
            ]
            what = None
            if not any(naming) and not any(others):
                what = "occurs in no report"
            elif naming and others and all(naming) and all(others):
                what = "occurs in every report, also in those that do not name the finding"
            elif naming and not any(naming) and any(others):
                what = "occurs only in reports that do not name the finding"
            if what is not None:
                yield Weakness("idle-word", finding.id, f"{keyword.raw!r}{_in(entry)} {what}")
    for finding, entry in _lists(grader):
        if entry.required == 1:
            yield Weakness(
                "single-word", finding.id, f"one word{_in(entry)} is enough: {entry.keywords[0].raw!r}"
            )


def _in(entry: KeywordList) -> str:
    return f" ({entry.language})" if entry.language else ""


def _flips(grader: Grader, outcomes: Sequence[Outcome]) -> Iterator[Weakness]:
    """Passages of reports that do not name a finding and lack a single word of its threshold."""
    for finding in grader.truth.findings:
        seen: dict[str, None] = {}
        for outcome in outcomes:
            finds = outcome.expectation.finds
            if finds is None or finding.id in finds:
                continue
            for passage in passages(outcome.expectation.text):
                words = words_in(finding, ItemText(passage))
                if words.holds and words.missing == 1:
                    message = (
                        f"{outcome.expectation.name}: one more word would do in {shortened(passage)!r} "
                        f"(it holds {', '.join(words.holds)})"
                    )
                    seen[message] = None
        for message in list(seen)[:_MOST_FLIPS]:
            yield Weakness("flip", finding.id, message)
        if len(seen) > _MOST_FLIPS:
            yield Weakness("flip", finding.id, f"and {len(seen) - _MOST_FLIPS} more passages lack one word")


def _overlaps(grader: Grader, outcomes: Sequence[Outcome]) -> Iterator[Weakness]:
    """Pairs of findings that one passage, or shared keywords alone, would prove both."""
    for first, second in combinations(range(len(grader.truth.findings)), 2):
        one, other = grader.truth.findings[first], grader.truth.findings[second]
        both = 1 << first | 1 << second
        passage = next(
            (
                text
                for outcome in outcomes
                for text in passages(outcome.expectation.text)
                if grader.index.matched_by(ItemText(text)) & both == both
            ),
            None,
        )
        shared = _shared(one, other)
        if shared:
            yield Weakness("overlap", one.id, f"shares enough keywords with {other.id}: {', '.join(shared)}")
        elif passage is not None:
            yield Weakness(
                "overlap", one.id, f"one passage proves {other.id} as well: {shortened(passage)!r}"
            )


def _shared(one: TruthFinding, other: TruthFinding) -> list[str]:
    for mine in one.keyword_lists:
        for theirs in other.keyword_lists:
            words = {keyword.parts: keyword.raw for keyword in mine.keywords}
            common = [words[keyword.parts] for keyword in theirs.keywords if keyword.parts in words]
            if mine.language == theirs.language and len(common) >= min(mine.required, theirs.required):
                return common
    return []
