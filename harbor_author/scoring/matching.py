"""Which findings of the truth a report names: greedy, one text for one finding, in the order of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harbor_author.scoring.parsers import ParsedReport
from harbor_author.scoring.text import ItemText
from harbor_author.scoring.truth import GroundTruth


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


def prepared_texts(parsed: ParsedReport) -> list[ItemText]:
    """The texts of a report ready for matching."""
    return [ItemText(text) for text in parsed.texts()]


def match_findings(texts: Sequence[ItemText], truth: GroundTruth) -> Match:
    """Give each finding, in file order, the first text not yet taken that matches it."""
    free = list(range(len(texts)))
    pairs: dict[str, int] = {}
    missed: list[str] = []
    for finding in truth.findings:
        for place, index in enumerate(free):
            if finding.matches(texts[index]):
                pairs.setdefault(finding.id, index)
                del free[place]
                break
        else:
            missed.append(finding.id)
    return Match(
        matched_ids=tuple(pairs),
        missed_ids=tuple(missed),
        spurious_texts=tuple(texts[index].text for index in free),
        total_report_findings=len(texts),
        pairs=pairs,
    )
