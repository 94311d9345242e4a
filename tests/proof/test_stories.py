"""What a proof that did not pass tells its author: each fault once, with what to do about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harbor_author.output.bars import Style
from harbor_author.proof import ProofResult, Trial, report
from harbor_author.proof.contract import JudgeRun
from harbor_author.proof.reward import Check
from harbor_author.proof.trial import TrialRun
from harbor_author.proof.verdict import FULL, judge_trial

ORACLE = Trial("oracle", "pass", 1.0, "1")
LOW = Trial(
    "oracle", "fail", 0.0, "1", "reward-too-low", "reward 0, expected 1", "see why", judge_log="no file"
)


def story(*trials: Trial, verbose: bool = False) -> list[str]:
    first = next(trial for trial in trials if trial.cause)
    result = ProofResult("t", first.verdict, first.cause, first.message, first.hint, trials=trials)
    return report.text([result], verbose=verbose).splitlines()


def repeated(count: int) -> list[Trial]:
    return [
        replace(LOW, name=f"oracle#{number}", judge_log=f"run {number}") for number in range(2, count + 1)
    ]


def test_repetitions_that_fail_alike_are_told_once() -> None:
    lines = story(LOW, *repeated(5))
    assert sum("FAIL reward-too-low:" in line for line in lines) == 1
    assert "  repeated oracle: 0 x5" in lines
    assert sum("FAIL reward-too-low:" in line for line in story(LOW, *repeated(5), verbose=True)) == 5


def test_both_scripts_may_be_to_blame_for_a_low_reward_and_a_silent_one_is_said_to_be() -> None:
    assert "      solve.sh | (printed nothing)" in story(LOW)
    assert not any(
        "solve.sh" in line for line in story(replace(LOW, name="untouched", cause="reward-too-high"))
    )


def test_a_repetition_that_fails_otherwise_is_told() -> None:
    lines = story(
        ORACLE, *repeated(2), replace(LOW, name="oracle#3", message="reward 0.5, expected 1", reward=0.5)
    )
    assert [line.split()[0] for line in lines if "FAIL reward-too-low:" in line] == ["oracle#2", "oracle#3"]


def test_each_cause_has_its_fix_and_the_verdicts_comes_first() -> None:
    error = Trial("created", "error", None, "0", "reward-empty", "reward.txt is empty", "write a number")
    lines = story(error, LOW, replace(LOW, name="variant:a"))
    assert [line for line in lines if "fix" in line] == [
        "  fix: write a number",
        "  fix reward-too-low: see why",
    ]


def judged(**run: object) -> Trial:
    return judge_trial(
        "oracle", replace(TrialRun(rewards={"reward": 0.0}), **run), FULL, needs_judge_line=False
    )


@pytest.mark.parametrize(
    "run",
    [
        {},
        {"judge": JudgeRun(cause="reward-missing", message="none was written"), "rewards": None},
        {"judge": JudgeRun(cause="reward-empty", message="reward.txt is empty"), "rewards": None},
    ],
)
def test_what_still_ran_when_the_judge_ended_is_said_of_a_reward_that_is_missing(
    run: dict[str, object],
) -> None:
    trial = judged(leftovers=("process: sleep 2",), **run)
    assert trial.message.endswith("; something still ran when the judge ended")
    assert "must wait" in trial.hint
    assert "still ran" not in judged(leftovers=("path: /tmp/bench-a",), **run).message


def test_a_judge_that_printed_nothing_is_told_to_say_more() -> None:
    assert "--keep" in judged().hint
    assert "--keep" not in judged(judge=JudgeRun(output="wrong\n")).hint


def test_a_hint_of_the_trial_counts_for_its_reward_only() -> None:
    run = TrialRun(rewards={"reward": 0.0}, judge=JudgeRun(output="said\n"))
    assert (
        judge_trial("clock:oracle", run, FULL, needs_judge_line=False, hint="mind the date").hint
        == "mind the date"
    )
    broken = TrialRun(cause="judge-killed", message="killed")
    hint = judge_trial("clock:oracle", broken, FULL, needs_judge_line=False, hint="mind the date").hint
    assert "pkill" in hint


def test_the_same_story_is_told_once_and_named_after() -> None:
    error = Trial("untouched", "error", None, "0", "judge-error", "no host", "see it", reasons=("a", "b"))
    lines = story(error, replace(error, name="oracle"), replace(LOW, name="created", reasons=("a", "c")))
    assert lines.count("      - b") == 1
    assert [line.strip() for line in lines if "the same as" in line] == ["the same as untouched"]
    assert "      - c" in lines
    derived = story(LOW, replace(LOW, name="clock:oracle", why="another clock"))
    assert derived[-3:-1] == ["      tried: another clock", "      the same as oracle"]


def test_the_checks_that_made_the_reward_are_told_in_words_and_not_as_json() -> None:
    line = '{"score":50,"max":100,"reasons":[],"checks":[]}'
    checks = (Check("boots", 50, 0, "no signal"), Check("manifest", 50, 50))
    low = replace(LOW, checks=checks, reasons=("boots: no signal",), judge_log=f"booting\n{line}")
    assert [text.strip() for text in story(low) if "check " in text] == ["check boots: 0 of 50, no signal"]
    high = replace(low, name="untouched", cause="reward-too-high")
    assert [text.strip() for text in story(high) if "check " in text] == ["check manifest: 50 of 50"]
    assert sum("no signal" in text for text in story(low)) == 1
    assert "      judge | booting" in story(low)
    assert not any(line in text for text in story(low))


def test_the_times_of_a_trial_stay_together_on_a_terminal() -> None:
    trial = replace(
        LOW, message="reward 0 instead of what the reference solution gets, 1", duration_s=4.1, judge_s=0.5
    )
    result = ProofResult("t", "fail", trial.cause, trials=(trial,))
    for width in range(40, 90):
        text = report.text([result], style=Style(width))
        assert "(4.1 s, judge 0.5 s)" in text
        assert not any(line.endswith(" ") for line in text.splitlines())
