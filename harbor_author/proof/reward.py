"""Reading what a judge wrote: the reward files as Harbor does, and the judge's own JSON line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

_FULL = 1e-9
#: How our templates' test.sh begins its own remarks, which it may print after the judge's output.
_TEST_REMARK = "[test] "


@dataclass(frozen=True)
class Check:
    """One line of the judge's ledger: how many points it gave, of how many, and why."""

    id: str
    points: float
    earned: float
    reason: str = ""


@dataclass(frozen=True)
class JudgeLine:
    """The judge's verdict: `score` of `max`, its reasons and ledger, and `error` when it could not judge."""

    score: float | None
    max: float
    reasons: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    error: str | None = None


class RewardError(Exception):
    """No reward can be read; `cause` is `reward-missing`, `reward-empty` or `reward-unparsable`."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def parse_rewards(reward_json: bytes | None, reward_txt: bytes | None) -> dict[str, float]:
    """The rewards by key, from the files' contents (None: no such file). reward.json wins, as in Harbor.

    Raises:
        RewardError: there is no reward to be read.
    """
    if reward_json is not None:
        return _from_json(reward_json)
    if reward_txt is not None:
        return {"reward": _from_text(reward_txt)}
    raise RewardError("reward-missing", "neither /logs/verifier/reward.txt nor reward.json was written")


def _from_text(data: bytes) -> float:
    if not data:
        raise RewardError("reward-empty", "reward.txt is empty")
    try:
        value = float(data.decode())
    except ValueError as error:
        raise RewardError("reward-unparsable", f"reward.txt holds {_shown(data)}, not one number") from error
    if not math.isfinite(value):
        raise RewardError("reward-unparsable", f"reward.txt holds {value}, which is not finite")
    return value


def _from_json(data: bytes) -> dict[str, float]:
    if not data:
        raise RewardError("reward-empty", "reward.json is empty")
    try:
        document = json.loads(data)
    except ValueError as error:
        raise RewardError("reward-unparsable", f"reward.json is not JSON: {_shown(data)}") from error
    except RecursionError as error:
        raise RewardError("reward-unparsable", "reward.json is nested too deeply") from error
    if not isinstance(document, dict):
        # Harbor's parser lets a bare number through, and its result model then refuses it.
        raise RewardError(
            "reward-unparsable", f"reward.json holds {_shown(document)}, not an object of numbers"
        )
    for key, value in document.items():
        if not isinstance(value, (int, float)):
            raise RewardError(
                "reward-unparsable", f"reward.json holds {_shown(value)} for {key!r}, not a number"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise RewardError(
                "reward-unparsable", f"reward.json holds {value} for {key!r}, which is not finite"
            )
    return {str(key): float(value) for key, value in document.items()}


def main_reward(rewards: Mapping[str, float]) -> float | None:
    """The reward that a verdict looks at, the one named `reward`; None when there is none of that name."""
    return rewards.get("reward")


def is_full(reward: float) -> bool:
    """Whether a reward is full marks."""
    return abs(reward - 1.0) <= _FULL


def parse_judge_line(output: str) -> JudgeLine | None:
    """The verdict on the last line of a judge's output that is not blank; None when it is no verdict.

    Only the last line counts: a judge that searches back may find an older verdict.
    """
    lines = output.rstrip().splitlines()
    while lines and lines[-1].startswith(_TEST_REMARK):
        lines.pop()
    if not lines:
        return None
    try:
        document = json.loads(lines[-1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not ("score" in document or "error" in document):
        return None
    error = document.get("error")
    score = document.get("score")
    maximum = document.get("max", 100)
    if not _is_number(score) and not error:
        return None
    return JudgeLine(
        score=float(score) if _is_number(score) else None,
        max=float(maximum) if _is_number(maximum) and maximum > 0 else 100.0,
        reasons=tuple(_short(reason) for reason in _list(document.get("reasons"))),
        checks=tuple(_check(check) for check in _list(document.get("checks")) if isinstance(check, dict)),
        error=_short(error) if error else None,
    )


def _check(document: Mapping[str, Any]) -> Check:
    def number(key: str) -> float:
        value = document.get(key)
        return float(value) if _is_number(value) else 0.0

    return Check(
        id=_short(document.get("id", "?")),
        points=number("points"),
        earned=number("earned"),
        reason=_short(document.get("reason") or ""),
    )


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _list(value: Any) -> list[Any]:
    return value[:1000] if isinstance(value, list) else []


def _short(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:2000]


def _shown(value: Any) -> str:
    return repr(value.decode(errors="replace") if isinstance(value, bytes) else value)[:80]
