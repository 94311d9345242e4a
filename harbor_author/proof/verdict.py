"""From what a trial gave to whether that is right: expectations, trials as reported, the verdict over a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harbor_author.proof.causes import CAUSES, NOT_THE_TASK
from harbor_author.proof.reward import Check, JudgeLine, is_full, main_reward, parse_judge_line

if TYPE_CHECKING:
    from harbor_author.proof.trial import TrialRun

_AGREES = 1e-6
_LESS_THAN_FULL = 0.999
_SHOWN_KEYS = 5
#: Causes that a judge may have which ends before what it has started does.
_TOO_EARLY = ("reward-missing", "reward-empty", "reward-too-low")
_STILL_RAN = "see what still ran (left behind): what the judge has started, it must wait for"
_SILENT = (
    "the judge printed nothing: let it print what it expected and found, or look into the container (--keep)"
)
#: A test.sh may round; more than this between line and reward is another verdict.
_ROUNDING = 0.005


@dataclass(frozen=True)
class Expectation:
    """The rewards that a submission may get, both ends included; `full` means full marks and a clean solve.sh."""

    low: float = float("-inf")
    high: float = float("inf")
    full: bool = False
    clean: bool = False

    def __str__(self) -> str:
        if self.full:
            return "1"
        if self.low == self.high:
            return f"{self.low:g}"
        if self.low == float("-inf") and self.high == float("inf"):
            return "any"
        if self.low == float("-inf") and self.high == _LESS_THAN_FULL:
            return "less than 1"
        if self.low == float("-inf"):
            return f"at most {self.high:g}"
        return f"{self.low:g} to {self.high:g}"


ZERO = Expectation(0.0, 0.0)
ANY = Expectation()
FULL = Expectation(1.0, 1.0, full=True, clean=True)
LESS_THAN_FULL = Expectation(high=_LESS_THAN_FULL)


@dataclass(frozen=True)
class Trial:
    """One trial as it is reported and kept in the receipt. Times in seconds; `reward` is as Harbor would have it."""

    name: str
    verdict: str
    reward: float | None
    expected: str
    cause: str | None = None
    message: str = ""
    hint: str = ""
    score: float | None = None
    max: float | None = None
    reasons: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    leftovers: tuple[str, ...] = ()
    duration_s: float = 0.0
    solve_s: float = 0.0
    judge_s: float = 0.0
    solve_exit: int | None = None
    judge_exit: int | None = None
    solve_log: str = field(default="", repr=False)
    judge_log: str = field(default="", repr=False)
    why: str = ""
    container: str = ""
    note: str = ""

    @property
    def checks_earned(self) -> tuple[tuple[str, float], ...]:
        """The ledger as (check, points earned)."""
        return tuple((check.id, check.earned) for check in self.checks)

    @property
    def harbor_error(self) -> str | None:
        """The exception that Harbor would record, or None."""
        recorded = CAUSES[self.cause].harbor if self.cause else None
        # A script that cannot run or was killed is no exception by itself: only the reward that then is missing.
        return None if recorded == "RewardFileNotFoundError" and self.reward is not None else recorded


def judge_trial(
    name: str,
    run: TrialRun,
    expectation: Expectation,
    *,
    needs_judge_line: bool,
    why: str = "",
    hint: str = "",
    advisory: bool = False,
) -> Trial:
    """The verdict over one trial.

    Args:
        needs_judge_line: the judge must end in its JSON line; else a last line that is one is used all the same.
        why: what the submission is meant to show, for the reader.
        hint: what to do about a reward that is not the expected one; empty: what the cause says.
        advisory: what is not as expected is worth a note, not a failure.
    """
    reward = main_reward(run.rewards) if run.rewards is not None else None
    line = parse_judge_line(run.judge.output)
    if line is not None and not needs_judge_line and not _agree(line, reward):
        line = None  # something else that looks like one
    cause, message = _cause(run, reward, line, expectation, needs_judge_line)
    if cause in _TOO_EARLY and any(text.startswith("process: ") for text in run.leftovers):
        message += "; something still ran when the judge ended"
        hint = hint or _STILL_RAN
    elif cause in ("reward-too-low", "reward-unexpected") and line is None and not run.judge.log.strip():
        hint = hint or _SILENT
    elif cause not in ("reward-too-low", "reward-too-high", "reward-unexpected"):
        hint = ""
    note = ""
    if advisory and cause is not None and cause not in NOT_THE_TASK and cause != "not-applicable":
        cause, note = None, message
    return Trial(
        name=name,
        verdict=_verdict(cause),
        reward=reward,
        expected=str(expectation),
        cause=cause,
        message=message,
        hint=(hint or CAUSES[cause].hint) if cause else "",
        score=line.score if line else None,
        max=line.max if line else None,
        reasons=line.reasons if line else (),
        checks=line.checks if line else (),
        leftovers=run.leftovers,
        duration_s=run.duration_s,
        solve_s=run.agent.duration_s,
        judge_s=run.judge.duration_s,
        solve_exit=run.agent.exit_code,
        judge_exit=run.judge.exit_code,
        solve_log=run.agent.log or run.judge.agent_log,
        judge_log=run.judge.log or run.log,
        why=why,
        container=run.container,
        note=note,
    )


def _verdict(cause: str | None) -> str:
    if cause is None:
        return "pass"
    if cause == "not-applicable":
        return "skip"
    return "error" if CAUSES[cause].is_error else "fail"


def _cause(
    run: TrialRun, reward: float | None, line: JudgeLine | None, expectation: Expectation, needs_line: bool
) -> tuple[str | None, str]:
    if run.cause is not None:
        return run.cause, run.message
    if run.agent.cause == "solution-missing":
        return "solution-missing", run.agent.message
    if run.judge.cause is not None:
        return run.judge.cause, run.judge.message
    if line is not None and line.error is not None:
        return "judge-error", f"the judge says: {line.error}"
    if line is None and needs_line:
        return "judge-line-unparsable", "the last line of the judge's output is no JSON verdict"
    if reward is None:
        # Harbor takes the file all the same; whoever asks for its `reward` finds none.
        named = ", ".join(sorted(run.rewards or ())[:_SHOWN_KEYS]) or "nothing"
        return "reward-unnamed", f"reward.json holds {named}, and no reward"
    if line is not None and line.score is not None and needs_line:
        share = line.score / line.max
        if abs(share - reward) > _ROUNDING:
            return (
                "judge-disagrees",
                f"the judge's line says {line.score:g} of {line.max:g}, the reward is {reward:g}",
            )
    return _against(expectation, run, reward)


def _agree(line: JudgeLine, reward: float | None) -> bool:
    return line.score is None or reward is None or abs(line.score / line.max - reward) <= _ROUNDING


def _against(expectation: Expectation, run: TrialRun, reward: float) -> tuple[str | None, str]:
    if expectation.full and not is_full(reward):
        if run.agent.cause is not None:
            return run.agent.cause, f"{run.agent.message}; reward {reward:g}, expected 1"
        return "reward-too-low" if reward < 1 else "reward-unexpected", f"reward {reward:g}, expected 1"
    if expectation.clean and run.agent.cause is not None:
        return run.agent.cause, f"{run.agent.message}; the reward is {reward:g} all the same"
    if not expectation.full and reward > expectation.high + _AGREES:
        return "reward-too-high", f"reward {reward:g}, expected {expectation}"
    if not expectation.full and reward < expectation.low - _AGREES:
        cause = "reward-unexpected" if expectation.low == expectation.high else "reward-too-low"
        return cause, f"reward {reward:g}, expected {expectation}"
    return None, ""


def overall(trials: Sequence[Trial]) -> tuple[str, str | None]:
    """The verdict and cause over all trials of a task: an error outranks a failure, which outranks a pass."""
    for verdict in ("error", "fail"):
        for trial in trials:
            if trial.verdict == verdict:
                return verdict, trial.cause
    return "pass", None
