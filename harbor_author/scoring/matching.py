"""Which findings of the truth a report names: greedy, one text for one finding, in the order of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harbor_author.scoring.text import ItemText, Keyword
from harbor_author.scoring.truth import GroundTruth


class FindingIndex:
    """Answers which findings of a ground truth a text matches, looking for each distinct keyword once.

    An answer is a bit mask: bit i is set when the text matches finding i.
    """

    def __init__(self, truth: GroundTruth) -> None:
        self.truth = truth
        self._required: list[int] = []
        self._bits: list[int] = []
        self._always = 0
        holders: dict[Keyword, list[int]] = {}
        for position, finding in enumerate(truth.findings):
            for entry in finding.keyword_lists:
                for keyword in entry.keywords:
                    holders.setdefault(keyword, []).append(len(self._required))
                self._required.append(entry.required)
                self._bits.append(1 << position)
                if entry.required == 0:
                    self._always |= 1 << position
        self._keywords = tuple((keyword, tuple(lists)) for keyword, lists in holders.items())
        # On an ASCII text these need no more than one look into the normalised form.
        self._plain = tuple(
            (keyword.parts[0], lists)
            for keyword, lists in self._keywords
            if keyword.shortcut and len(keyword.parts) == 1
        )
        self._others = tuple(
            (keyword, lists)
            for keyword, lists in self._keywords
            if not (keyword.shortcut and len(keyword.parts) == 1)
        )

    def matched_by(self, item: ItemText) -> int:
        """The findings that a text matches: those of which it holds enough keywords of some one language."""
        if item.is_ascii:
            normal = item.normal
            hits = [lists for part, lists in self._plain if part in normal]
            hits += [lists for keyword, lists in self._others if keyword.matches(item)]
        else:
            hits = [lists for keyword, lists in self._keywords if keyword.matches(item)]
        mask = self._always
        if not hits:
            return mask
        lacking = self._required.copy()
        for lists in hits:
            for index in lists:
                lacking[index] -= 1
                if lacking[index] == 0:
                    mask |= self._bits[index]
        return mask

    def lacking(self, item: ItemText, order: int) -> int:
        """How many keywords a text lacks of the threshold of finding `order`, in the language that comes nearest."""
        return min(
            entry.required - sum(keyword.matches(item) for keyword in entry.keywords)
            for entry in self.truth.findings[order].keyword_lists
        )


@dataclass(frozen=True, slots=True)
class Match:
    """The outcome of matching one report against one ground truth."""

    matched_ids: tuple[str, ...]
    missed_ids: tuple[str, ...]
    spurious_texts: tuple[str, ...]
    total_report_findings: int
    #: matched finding's id -> index of its text in `ParsedReport.texts()`
    pairs: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        return {
            "matchedIds": list(self.matched_ids),
            "missedIds": list(self.missed_ids),
            "spuriousTexts": list(self.spurious_texts),
            "totalAgentFindings": self.total_report_findings,
        }


def match_masks(texts: Sequence[str], index: FindingIndex) -> list[int]:
    """For each text the mask of the findings that it matches; equal texts are looked at once."""
    known: dict[str, int] = {}
    masks: list[int] = []
    for text in texts:
        mask = known.get(text)
        if mask is None:
            mask = known[text] = index.matched_by(ItemText(text))
        masks.append(mask)
    return masks


def first_match(masks: Sequence[int], bit: int, used: set[int], limit: int) -> int | None:
    """The first of the first `limit` texts that has the bit and is not used."""
    for position in range(limit):
        if masks[position] & bit and position not in used:
            return position
    return None


def match_findings(texts: Sequence[str], masks: Sequence[int], truth: GroundTruth) -> Match:
    """Give each finding, in file order, the first text not yet taken that matches it."""
    used: set[int] = set()
    pairs: dict[str, int] = {}
    missed: list[str] = []
    for order, finding in enumerate(truth.findings):
        position = first_match(masks, 1 << order, used, len(masks))
        if position is None:
            missed.append(finding.id)
        else:
            used.add(position)
            pairs.setdefault(finding.id, position)
    return Match(
        matched_ids=tuple(pairs),
        missed_ids=tuple(missed),
        spurious_texts=tuple(text for position, text in enumerate(texts) if position not in used),
        total_report_findings=len(texts),
        pairs=pairs,
    )
