"""The room's main door: one report against one ground truth."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harbor_author.scoring.matching import FindingIndex, Match, match_findings, match_masks
from harbor_author.scoring.parsers import ParsedReport, parse_report
from harbor_author.scoring.scores import Scores, score_report
from harbor_author.scoring.truth import GroundTruth, read_truth, trust_truth

ParserName = Literal["generic", "harsh-critic", "critic"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A report read, matched and scored."""

    parsed: ParsedReport
    match: Match
    scores: Scores
    #: what may match, in the order of matching; `match.pairs` points into it
    texts: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        return {
            "parsed": self.parsed.to_json(),
            "match": self.match.to_json(),
            "scores": self.scores.to_json(),
        }


class Evaluator:
    """Scores many reports against one ground truth, which is prepared once."""

    def __init__(self, truth: GroundTruth, *, parser: str = "generic") -> None:
        self.truth = truth
        self.parser = parser
        self.index = FindingIndex(truth)

    def evaluate(self, report: str) -> Evaluation:
        """Read, match and score a report."""
        parsed = parse_report(report, self.parser)
        texts = parsed.texts()
        masks = match_masks(texts, self.index)
        match = match_findings(texts, masks, self.truth)
        return Evaluation(parsed, match, score_report(parsed, self.truth, match, masks), texts)


class _LatestEvaluator:
    """Keeps the evaluator of the latest ground truth, with a copy of the document to know it again by."""

    def __init__(self) -> None:
        self._latest: tuple[str, Any, Evaluator] | None = None

    def get(self, document: Mapping[str, Any], parser: str) -> Evaluator:
        latest = self._latest
        if (
            latest is not None
            and latest[0] == parser
            and latest[1] == document
            # Python holds True and 1 for equal, the schema does not.
            and latest[1].get("isCleanBaseline") is document.get("isCleanBaseline")
        ):
            return latest[2]
        truth = read_truth(document) if parser == "generic" else trust_truth(document)
        evaluator = Evaluator(truth, parser=parser)
        self._latest = (parser, copy.deepcopy(document), evaluator)
        return evaluator


_latest = _LatestEvaluator()


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
    return _latest.get(truth, parser).evaluate(report).to_json()
