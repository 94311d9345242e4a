"""What a report is worth under a task's own rubric: all that the ground truth asks is 100.

The same as `grading.mjs`, which grades in the container. One passage of the report proves one finding. A passage is a
paragraph, a table row, a list item, an item with all that is indented below it, or a section of moderate length with
its heading. Words scattered over the report prove nothing, nor do passages copied from the task's instruction or bare
identifiers of cards. Wording, order, severity, negation and language do not count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harbor_author.scoring.errors import TruthError
from harbor_author.scoring.matching import FindingIndex
from harbor_author.scoring.parsers.lines import is_heading
from harbor_author.scoring.text import (
    WS,
    ItemText,
    normalize_for_match,
    split_lines,
    trim,
    trim_start,
    utf16_prefix,
)
from harbor_author.scoring.truth import GroundTruth, read_truth

MAX_SCORE = 100
#: Longest section, in characters, that counts as one passage.
SECTION_LIMIT = 4000
#: Fewest words (a Chinese character counts as one) besides identifiers that make a passage say something.
FEWEST_WORDS = 3

_ITEM = re.compile(rf"(?:[-*+\u2022]|[0-9]+[.)]|[a-z][.)])(?=[{WS}])")
_CARD_ID = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9.]*[0-9][A-Za-z0-9.]*)+")
_HAN = (
    "\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufa6d\ufa70-\ufad9\U00016fe2-\U00016ff1\U00020000-\U000323af"
)
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]{{2,}}")


@dataclass(frozen=True, slots=True)
class Rubric:
    """Points by finding, which add up to 100, and caps: (finding that is missed, most that remains, reason)."""

    points: Mapping[str, float]
    caps: tuple[tuple[str, float, str], ...]


@dataclass(frozen=True, slots=True)
class Check:
    """What one finding earned and why."""

    id: str
    points: float
    earned: float
    reason: str


@dataclass(frozen=True, slots=True)
class Grade:
    """A graded report. `caps` are those that apply, as (limit, reason)."""

    score: float
    reasons: tuple[str, ...]
    checks: tuple[Check, ...]
    caps: tuple[tuple[float, str], ...]

    def to_json(self) -> dict[str, Any]:
        """The judge's result line."""
        return {
            "score": self.score,
            "max": MAX_SCORE,
            "reasons": list(self.reasons),
            "checks": [
                {"id": check.id, "points": check.points, "earned": check.earned, "reason": check.reason}
                for check in self.checks
            ],
            "caps": [{"limit": limit, "reason": reason} for limit, reason in self.caps],
        }


def read_rubric(document: Mapping[str, Any]) -> Rubric:
    """The `rubric` of a ground truth as parsed from JSON; without one, equal points for every finding.

    Raises:
        TruthError: it names no finding or an unknown one, or a number is out of range.
    """
    ids = [finding.id for finding in read_truth(document).findings]
    if not ids:
        raise TruthError("a ground truth without findings cannot be graded")
    rubric = document.get("rubric") or {}
    if not isinstance(rubric, Mapping):
        raise TruthError("rubric must be an object")
    points = rubric.get("points", {})
    if not isinstance(points, Mapping):
        raise TruthError("rubric.points must be an object")
    for name, value in points.items():
        if name not in ids:
            raise TruthError(f"rubric.points names {name}, which is no finding")
        if not _is_number(value) or value <= 0:
            raise TruthError(f"rubric.points.{name} must be a positive number")
    if points and len(points) < len(ids):
        raise TruthError("rubric.points must name every finding, or none")
    worth = [points.get(name, 1) for name in ids]
    total: float = 0
    for value in worth:  # as the container adds, which `sum` of later Pythons does not
        total += value
    return Rubric(
        {name: value * MAX_SCORE / total for name, value in zip(ids, worth, strict=True)},
        tuple(_read_cap(cap, ids) for cap in rubric.get("caps", [])),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _read_cap(cap: Any, ids: Sequence[str]) -> tuple[str, float, str]:
    without = cap.get("without") if isinstance(cap, Mapping) else None
    if without not in ids:
        raise TruthError(f"rubric.caps names {without}, which is no finding")
    limit = cap.get("limit")
    if not _is_number(limit) or not 0 <= limit <= MAX_SCORE:
        raise TruthError(f"the cap without {without} must be 0 to {MAX_SCORE}")
    return str(without), limit, str(cap.get("reason", f"{without} is not found"))


class Grader:
    """Grades reports against one ground truth (as parsed from JSON) and the instruction of its task.

    Raises:
        TruthError: the ground truth or its rubric cannot be used.
    """

    def __init__(self, document: Mapping[str, Any], *, prompt: str = "") -> None:
        self.truth: GroundTruth = read_truth(document)
        self.rubric = read_rubric(document)
        self.index = FindingIndex(self.truth)
        self._given = normalize_for_match(prompt)

    def grade(self, report: str) -> Grade:
        """Grade one report."""
        texts, copied, bare = self._proving(report)
        items = [ItemText(text) for text in texts]
        masks = [self.index.matched_by(item) for item in items]
        proof = _assign(masks, len(self.truth.findings))
        checks = []
        for order, finding in enumerate(self.truth.findings):
            worth = self.rubric.points[finding.id]
            at = proof[order]
            if at is None:
                checks.append(Check(finding.id, worth, 0, self._nearest(items, order)))
            else:
                checks.append(Check(finding.id, worth, worth, f'found: "{shortened(texts[at])}"'))
        missed = {check.id for check in checks if check.earned == 0}
        caps = tuple((limit, reason) for without, limit, reason in self.rubric.caps if without in missed)
        reasons = []
        if copied:
            reasons.append(f"{copied} passage(s) copied from the instruction prove nothing")
        if bare:
            reasons.append(f"{bare} passage(s) of identifiers alone prove nothing")
        total: float = 0
        for check in checks:
            total += check.earned
        score = min([total, *(limit for limit, _ in caps)])
        return Grade(math.floor(score * 100 + 0.5) / 100, tuple(reasons), tuple(checks), caps)

    def _proving(self, report: str) -> tuple[list[str], int, int]:
        """The passages that may prove something; and how many blocks are copies, and how many bare identifiers."""
        copied = bare = 0
        kept: list[_Block] = []
        for block in _blocks(report):
            normal = normalize_for_match(block.text)
            if normal and normal in self._given:
                copied += 1
            elif not _says_something(block.text):
                bare += 1
            else:
                kept.append(block)
        return [*(block.text for block in kept), *_with_indented(kept), *_sections(kept)], copied, bare

    def _nearest(self, items: Sequence[ItemText], order: int) -> str:
        finding = self.truth.findings[order]
        needed = min(entry.required for entry in finding.keyword_lists)
        best, least = "", needed
        for item in items:
            lacking = self.index.lacking(item, order)
            if lacking < least:
                best, least = item.text, lacking
        if least >= needed:
            return "not found"
        if least <= 0:
            return f'not found: the passage that names it proves another finding ("{shortened(best)}")'
        return f'not found: {least} more of its keywords are needed in "{shortened(best)}"'


def grade(report: str, truth: Mapping[str, Any], *, prompt: str = "") -> dict[str, Any]:
    """Grade a report as the container does: {score, max, reasons, checks, caps}.

    Raises:
        TruthError: the ground truth or its rubric cannot be used.
    """
    return Grader(truth, prompt=prompt).grade(report).to_json()


def passages(report: str) -> list[str]:
    """Every paragraph, table row and list item of a report, each as one text."""
    return [block.text for block in _blocks(report)]


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, table row or list item. `section` counts the headings above it, `heading` is the last one."""

    text: str
    indent: int
    section: int
    heading: str


def _says_something(text: str) -> bool:
    return len(_WORD.findall(_CARD_ID.sub(" ", text))) >= FEWEST_WORDS


def _blocks(report: str) -> list[_Block]:
    blocks: list[_Block] = []
    parts: list[str] = []
    indent = section = 0
    heading = ""

    def close() -> None:
        if parts:
            blocks.append(_Block(" ".join(parts), indent, section, heading))
            parts.clear()

    for line in split_lines(report):
        text = trim(line)
        if not text:
            close()
        elif text[0] in "#*" and is_heading(text):
            close()
            section, heading = section + 1, text
        elif (marker := _ITEM.match(text)) is not None or text[0] == "|" or not parts:
            close()
            indent = len(line) - len(trim_start(line))
            parts.append(trim_start(text[marker.end() :]) if marker else text)
            if text[0] == "|":
                close()
        else:
            parts.append(text)
    close()
    return blocks


def _with_indented(blocks: Sequence[_Block]) -> Iterator[str]:
    """Each outermost block that has blocks indented below it, as one text with them."""
    start = 0
    while start < len(blocks):
        first = blocks[start]
        end = start + 1
        while (
            end < len(blocks) and blocks[end].section == first.section and blocks[end].indent > first.indent
        ):
            end += 1
        if end > start + 1:
            yield " ".join(block.text for block in blocks[start:end])
        start = end


def _sections(blocks: Sequence[_Block]) -> Iterator[str]:
    """Each section of moderate length that has a heading, as one text with it."""
    start = 0
    while start < len(blocks):
        first = blocks[start]
        end = start + 1
        while end < len(blocks) and blocks[end].section == first.section:
            end += 1
        text = " ".join([first.heading, *(block.text for block in blocks[start:end])])
        if first.heading and len(text) <= SECTION_LIMIT:
            yield text
        start = end


def _assign(masks: Sequence[int], count: int) -> list[int | None]:
    """For each finding the passage that proves it, or None; as many findings are proved as can be."""
    fits: list[list[int]] = []
    for order in range(count):
        # More candidates than findings are never needed: some of them stays free.
        fitting: list[int] = []
        for at, mask in enumerate(masks):
            if mask >> order & 1:
                fitting.append(at)
                if len(fitting) == count:
                    break
        fits.append(fitting)
    holder: dict[int, int] = {}
    proof: list[int | None] = [None] * count

    def place(order: int, tried: set[int]) -> bool:
        for at in fits[order]:
            if at in tried:
                continue
            tried.add(at)
            other = holder.get(at)
            if other is None or place(other, tried):
                holder[at] = order
                proof[order] = at
                return True
        return False

    for order in range(count):
        place(order, set())
    return proof


def shortened(text: str) -> str:
    """At most 80 characters of a text, with an ellipsis when it goes on."""
    characters = utf16_prefix(text, 200)
    return f"{characters[:79]}…" if len(characters) > 80 else characters
