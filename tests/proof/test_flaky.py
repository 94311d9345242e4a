"""Repetition."""

from __future__ import annotations

from harbor_author.proof.flaky import spreads
from harbor_author.proof.reward import Check
from harbor_author.proof.verdict import Trial


def trial(name: str, reward: float | None, cause: str | None = None, **checks: float) -> Trial:
    ledger = tuple(Check(check, 50, earned) for check, earned in checks.items())
    return Trial(name, "pass", reward, "", cause=cause, checks=ledger)


def test_equal_outcomes_are_steady() -> None:
    (spread,) = spreads([trial("oracle", 1.0, a=50), trial("oracle#2", 1.0, a=50), trial("untouched", 0.0)])
    assert (spread.is_flaky, str(spread)) == (False, "oracle: 1 x2")


def test_each_reward_is_counted() -> None:
    trials = [trial("oracle", 1.0)] + [trial(f"oracle#{n}", float(n % 4 != 0)) for n in range(2, 9)]
    (spread,) = spreads(trials)
    assert spread.is_flaky
    assert dict(spread.outcomes) == {"1": 6, "0": 2}


def test_the_same_reward_by_other_checks_is_flaky() -> None:
    (spread,) = spreads([trial("oracle", 0.5, a=50, b=0), trial("oracle#2", 0.5, a=0, b=50)])
    assert spread.is_flaky


def test_an_error_is_an_outcome_of_its_own() -> None:
    (spread,) = spreads([trial("oracle", 1.0), trial("oracle#2", None, "judge-timeout")])
    assert dict(spread.outcomes) == {"1": 1, "judge-timeout": 1}
