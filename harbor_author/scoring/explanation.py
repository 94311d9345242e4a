"""Why a report scored as it did: the words that matched, and what the nearest text lacked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harbor_author.scoring.evaluation import Evaluation
from harbor_author.scoring.grading import passages
from harbor_author.scoring.text import ItemText
from harbor_author.scoring.truth import GroundTruth, KeywordList, TruthFinding


@dataclass(frozen=True, slots=True)
class Words:
    """The keywords of one language that a text holds and those that it lacks, against the number that it needs."""

    language: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...]
    required: int

    @property
    def missing(self) -> int:
        """How many more keywords the text would need; 0 when it matches."""
        return max(0, self.required - len(self.holds))

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "holds": list(self.holds),
            "lacks": list(self.lacks),
            "required": self.required,
        }
        return {"language": self.language, **document} if self.language else document


@dataclass(frozen=True, slots=True)
class Matched:
    """A finding of the truth, the report's text that was given to it, and the words that decided."""

    finding: TruthFinding
    text: str
    words: Words


@dataclass(frozen=True, slots=True)
class Missed:
    """A finding that the report does not name, with the text that comes nearest to it, if any word of it occurs.

    `taken_by` is the finding that this text was given to; `was_read` is False when the parser passes over the text,
    because it stands under a heading that announces no findings or is no list item.
    """

    finding: TruthFinding
    nearest: str | None
    words: Words | None
    taken_by: str | None
    was_read: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one scored report."""

    matched: tuple[Matched, ...]
    missed: tuple[Missed, ...]
    spurious: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "matched": [
                {**_finding_json(one.finding), "text": one.text, "words": one.words.to_json()}
                for one in self.matched
            ],
            "missed": [
                {
                    **_finding_json(one.finding),
                    "nearest": one.nearest,
                    "words": one.words.to_json() if one.words else None,
                    "takenBy": one.taken_by,
                    "wasRead": one.was_read,
                }
                for one in self.missed
            ],
            "spurious": list(self.spurious),
        }


def _finding_json(finding: TruthFinding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": finding.severity,
        "category": finding.category,
        "summary": finding.summary,
    }


def words_in(finding: TruthFinding, item: ItemText) -> Words:
    """The language whose threshold the text comes nearest to, with the words it holds and lacks."""
    return min((_words(entry, item) for entry in finding.keyword_lists), key=lambda words: words.missing)


def _words(entry: KeywordList, item: ItemText) -> Words:
    holds = tuple(keyword.raw for keyword in entry.keywords if keyword.matches(item))
    lacks = tuple(keyword.raw for keyword in entry.keywords if not keyword.matches(item))
    return Words(entry.language, holds, lacks, entry.required)


def explain(evaluation: Evaluation, truth: GroundTruth) -> Explanation:
    """Explain the score of one report."""
    items = [ItemText(text) for text in evaluation.texts]
    taken = {position: name for name, position in evaluation.match.pairs.items()}
    read = set(evaluation.texts)
    unread = [ItemText(text) for text in passages(evaluation.parsed.raw) if text not in read]
    matched, missed = [], []
    for finding in truth.findings:
        position = evaluation.match.pairs.get(finding.id)
        if position is not None:
            matched.append(Matched(finding, items[position].text, words_in(finding, items[position])))
        else:
            missed.append(_missed(finding, items, taken, unread))
    return Explanation(tuple(matched), tuple(missed), evaluation.match.spurious_texts)


def _missed(
    finding: TruthFinding, items: list[ItemText], taken: dict[int, str], unread: Iterable[ItemText]
) -> Missed:
    best: tuple[Words, str, str | None, bool] | None = None
    candidates = [(item, taken.get(position), True) for position, item in enumerate(items)]
    for item, holder, was_read in [*candidates, *((item, None, False) for item in unread)]:
        words = words_in(finding, item)
        if words.holds and (best is None or words.missing < best[0].missing):
            best = (words, item.text, holder, was_read)
    if best is None:
        return Missed(finding, None, None, None, True)
    return Missed(finding, best[1], best[0], best[2], best[3])
