"""Rewards and judge lines, as Harbor and our suites write them."""

from __future__ import annotations

import json

import pytest

from harbor_author.proof.reward import RewardError, main_reward, parse_judge_line, parse_rewards


@pytest.mark.parametrize(
    ("text", "reward"), [(b"1", 1.0), (b"\n  1e0 \n\n", 1.0), (b"-1", -1.0), (b"2.5\n", 2.5), (b"0", 0.0)]
)
def test_text_is_one_number(text: bytes, reward: float) -> None:
    assert parse_rewards(None, text) == {"reward": reward}


@pytest.mark.parametrize(
    ("document", "text", "cause"),
    [
        (None, None, "reward-missing"),
        (None, b"", "reward-empty"),
        (None, b"yes", "reward-unparsable"),
        (None, b"1\n0\n", "reward-unparsable"),
        (None, b"nan", "reward-unparsable"),
        (None, b"inf", "reward-unparsable"),
        (b"", b"1", "reward-empty"),
        (b"{", b"1", "reward-unparsable"),
        (b'{"reward": "1"}', b"1", "reward-unparsable"),
        (b'{"reward": 1e309}', None, "reward-unparsable"),
        (b"0.25", None, "reward-unparsable"),
        (b"[1]", None, "reward-unparsable"),
        (b"[" * 100_000, None, "reward-unparsable"),
    ],
)
def test_what_is_no_reward_has_its_cause(document: bytes | None, text: bytes | None, cause: str) -> None:
    with pytest.raises(RewardError) as caught:
        parse_rewards(document, text)
    assert caught.value.cause == cause


def test_json_wins_and_a_boolean_is_a_number() -> None:
    assert parse_rewards(b'{"reward": true, "style": 0.5}', b"0") == {"reward": 1.0, "style": 0.5}


def test_the_main_reward_is_the_one_of_that_name() -> None:
    assert main_reward({"reward": 0.0, "style": 1.0}) == 0.0
    assert main_reward({"a": 1.0, "b": 0.0}) is None
    assert main_reward({}) is None


def test_only_the_last_line_is_the_verdict() -> None:
    old, new = ({"score": score, "max": 100, "reasons": []} for score in (100, 0))
    line = parse_judge_line(f"{json.dumps(old)}\nnoise\n{json.dumps(new)}\n\n")
    assert line is not None
    assert line.score == 0
    assert parse_judge_line(f"{json.dumps(old)}\nnoise") is None


def test_a_remark_of_test_sh_after_the_line_is_no_output_of_the_judge() -> None:
    line = parse_judge_line('{"score":0,"max":100,"error":"no host"}\n[test] the judge could not judge\n')
    assert line is not None
    assert line.error == "no host"


def test_the_ledger_is_read() -> None:
    line = parse_judge_line(
        '{"score":40,"checks":[{"id":"a","points":60,"earned":40,"reason":"half"}],"reasons":["x"]}'
    )
    assert line is not None
    assert [(check.id, check.points, check.earned, check.reason) for check in line.checks] == [
        ("a", 60, 40, "half")
    ]
    assert line.reasons == ("x",)


@pytest.mark.parametrize("text", ["", "{}", "1", "null", '{"score": "100"}', '{"score": NaN}', "[" * 100_000])
def test_what_is_no_verdict_is_none(text: str) -> None:
    assert parse_judge_line(text) is None
