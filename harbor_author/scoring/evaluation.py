"""The room's main door: one report against one ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harbor_author.scoring.matching import Match, match_findings, prepared_texts
from harbor_author.scoring.parsers import ParsedReport, parse_report
from harbor_author.scoring.scores import Scores, score_report
from harbor_author.scoring.text import ItemText
from harbor_author.scoring.truth import GroundTruth, read_truth, trust_truth

ParserName = Literal["generic", "harsh-critic", "critic"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A report read, matched and scored."""

    parsed: ParsedReport
    match: Match
    scores: Scores
    texts: Sequence[ItemText]

    def to_json(self) -> dict[str, Any]:
        return {
            "parsed": self.parsed.to_json(),
            "match": self.match.to_json(),
            "scores": self.scores.to_json(),
        }


def evaluate_report(report: str, truth: GroundTruth, *, parser: str = "generic") -> Evaluation:
    """Read, match and score a report against a ground truth that is already validated."""
    parsed = parse_report(report, parser)
    texts = prepared_texts(parsed)
    match = match_findings(texts, truth)
    return Evaluation(parsed, match, score_report(parsed, truth, match, texts), texts)


def evaluate(report: str, truth: Mapping[str, Any], *, parser: ParserName = "generic") -> dict[str, Any]:
    """Score a report exactly as the reference suite does.

    Args:
        report: the agent's output.
        truth: a ground truth as parsed from JSON (schema: docs/scoring.md). Validated for the generic parser; for the
            critics' parsers it is taken as it is, because their benchmark of the reference validates nothing.
        parser: how the report is read.

    Returns:
        `{"parsed": {verdict, criticalFindings, ...}, "match": {matchedIds, missedIds, spuriousTexts,
        totalAgentFindings}, "scores": {truePositiveRate, ..., compositeScore}}`.

    Raises:
        TruthError: the ground truth cannot be used; its message is the reference's.
        ScoringError: there is no such parser.
    """
    validated = read_truth(truth) if parser == "generic" else trust_truth(truth)
    return evaluate_report(report, validated, parser=parser).to_json()
