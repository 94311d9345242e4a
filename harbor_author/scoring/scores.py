"""The eight scores of one report and the composite, added in the reference's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harbor_author.scoring.matching import Match, first_match
from harbor_author.scoring.parsers import ParsedReport
from harbor_author.scoring.truth import SEVERITIES, GroundTruth

#: Field names of the numeric scores, in the order in which reports list them.
NUMERIC_SCORES = (
    "truePositiveRate",
    "falsePositiveRate",
    "falseNegativeRate",
    "severityAccuracy",
    "missingCoverage",
    "perspectiveCoverage",
    "evidenceRate",
    "compositeScore",
)
#: Field names of the scores that are true or false.
BOOLEAN_SCORES = ("hasPreCommitment", "hasMultiPerspective", "hasGapAnalysis")


@dataclass(frozen=True, slots=True)
class Scores:
    """Rates from 0 to 1; a rate of nothing is 0."""

    true_positive_rate: float
    false_positive_rate: float
    false_negative_rate: float
    severity_accuracy: float
    missing_coverage: float
    perspective_coverage: float
    evidence_rate: float
    has_pre_commitment: bool
    has_multi_perspective: bool
    has_gap_analysis: bool
    composite_score: float

    def to_json(self) -> dict[str, Any]:
        return {
            "truePositiveRate": self.true_positive_rate,
            "falsePositiveRate": self.false_positive_rate,
            "falseNegativeRate": self.false_negative_rate,
            "severityAccuracy": self.severity_accuracy,
            "missingCoverage": self.missing_coverage,
            "perspectiveCoverage": self.perspective_coverage,
            "evidenceRate": self.evidence_rate,
            "hasPreCommitment": self.has_pre_commitment,
            "hasMultiPerspective": self.has_multi_perspective,
            "hasGapAnalysis": self.has_gap_analysis,
            "compositeScore": self.composite_score,
        }


def score_report(parsed: ParsedReport, truth: GroundTruth, match: Match, masks: Sequence[int]) -> Scores:
    """Score one report. `masks` say which findings each of `parsed.texts()` matches."""
    total = len(truth.findings)
    matched = set(match.matched_ids)
    true_positive = _rate(len(match.matched_ids), total)
    false_negative = _rate(len(match.missed_ids), total)
    false_positive = _rate(len(match.spurious_texts), match.total_report_findings)
    missing = _coverage(truth, matched, "missing")
    perspective = _coverage(truth, matched, "perspective")
    graded = (*parsed.critical, *parsed.major)
    evidence = _rate(sum(finding.has_evidence for finding in graded), len(graded))
    flags = (parsed.has_pre_commitment, parsed.has_multi_perspective, parsed.has_gap_analysis)
    process = sum(flags) / 3
    return Scores(
        true_positive_rate=true_positive,
        false_positive_rate=false_positive,
        false_negative_rate=false_negative,
        severity_accuracy=_severity_accuracy(parsed, truth, match, masks),
        missing_coverage=missing,
        perspective_coverage=perspective,
        evidence_rate=evidence,
        has_pre_commitment=flags[0],
        has_multi_perspective=flags[1],
        has_gap_analysis=flags[2],
        # Added left to right: another order changes the last digit.
        composite_score=0.25 * true_positive
        + 0.15 * (1 - false_negative)
        + 0.10 * (1 - false_positive)
        + 0.20 * missing
        + 0.10 * perspective
        + 0.10 * evidence
        + 0.10 * process,
    )


def severity_accepted(reported: str, expected: str) -> bool:
    """Whether two severities are at most one step apart."""
    return abs(SEVERITIES.index(reported) - SEVERITIES.index(expected)) <= 1


def _rate(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _coverage(truth: GroundTruth, matched: set[str], category: str) -> float:
    ids = [finding.id for finding in truth.findings if finding.category == category]
    return _rate(sum(one in matched for one in ids), len(ids))


def _severity_accuracy(parsed: ParsedReport, truth: GroundTruth, match: Match, masks: Sequence[int]) -> float:
    """A second pass over the findings with a severity only, which may pair otherwise than the first."""
    graded = (*parsed.critical, *parsed.major, *parsed.minor)
    orders: dict[str, int] = {}
    for order, finding in enumerate(truth.findings):
        orders.setdefault(finding.id, order)
    used: set[int] = set()
    correct = 0
    for one in match.matched_ids:
        position = first_match(masks, 1 << orders[one], used, len(graded))
        if position is not None:
            used.add(position)
            correct += severity_accepted(graded[position].severity, truth.findings[orders[one]].severity)
    return _rate(correct, len(match.matched_ids))
