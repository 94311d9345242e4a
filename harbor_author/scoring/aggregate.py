"""Scores of many reports made one set of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harbor_author.scoring.scores import BOOLEAN_SCORES, NUMERIC_SCORES


def mean(values: Sequence[float]) -> float:
    """Left-to-right sum over the count; 0 for nothing. Another way of adding changes the last digit."""
    total: float = 0
    for value in values:
        total += value
    return total / len(values) if values else 0


def aggregate(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means of the numeric scores (the composite's, too) and majorities of the others, where a tie is false.

    Args:
        scores: scores as `evaluate` gives them. None at all gives zeros.
    """
    document: dict[str, Any] = {name: mean([one[name] for one in scores]) for name in NUMERIC_SCORES}
    for name in BOOLEAN_SCORES:
        document[name] = sum(bool(one[name]) for one in scores) > len(scores) / 2
    return document


def aggregate_completed(results: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The aggregate over the completed of some run results; None when none is."""
    scores = [result["scores"] for result in results if result["completion"] == "completed"]
    return aggregate(scores) if scores else None


def score_deltas(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, float]:
    """First minus second, for each numeric score."""
    return {name: first[name] - second[name] for name in NUMERIC_SCORES}
