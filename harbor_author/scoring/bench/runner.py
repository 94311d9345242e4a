"""The run loop: every agent on every fixture; a run that fails is told apart from one that scores nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from harbor_author.scoring.bench.api import Answer, Model, with_retries
from harbor_author.scoring.bench.inputs import Agent, Fixture, Inputs
from harbor_author.scoring.bench.journal import Journal
from harbor_author.scoring.bench.kinds import Kind
from harbor_author.scoring.grading import shortened
from harbor_author.scoring.jsnumber import to_fixed
from harbor_author.scoring.matching import FindingIndex, match_findings, match_masks
from harbor_author.scoring.parsers import parse_report
from harbor_author.scoring.scores import score_report
from harbor_author.scoring.truth import GroundTruth

Result = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """How a benchmark is run.

    Attributes:
        say: takes the progress that people read, in pieces that may end inside a line.
        warn: takes a line about an error.
        clock_ms: a steady clock in milliseconds.
    """

    kind: Kind
    model: Model
    say: Callable[[str], None]
    warn: Callable[[str], None]
    jobs: int = 1
    sleep: Callable[[float], None] = time.sleep
    clock_ms: Callable[[], float] = lambda: time.perf_counter() * 1000


class _StepError(Exception):
    """A step of one run failed; `label` is what the progress line says."""

    def __init__(self, reason: str, label: str, cause: Exception | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.label = label
        self.cause = cause


def run_benchmark(inputs: Inputs, run: Run, *, journal: Journal | None = None) -> list[Result]:
    """Run all agents on all fixtures.

    Args:
        journal: takes each result as soon as it is there, and gives back those of an interrupted run.

    Returns:
        One result for each pair, agents outer, fixtures inner, in whatever order they ended.
    """
    pairs = [(agent, fixture) for agent in inputs.agents for fixture in inputs.fixtures]
    if run.jobs == 1:
        return [_one(agent, fixture, inputs, run, run.say, journal) for agent, fixture in pairs]
    lock = threading.Lock()

    def apart(pair: tuple[Agent, Fixture]) -> Result:
        said: list[str] = []
        result = _one(*pair, inputs, run, said.append, journal)
        with lock:
            run.say("".join(said))
        return result

    with ThreadPoolExecutor(max_workers=run.jobs) as pool:
        futures = [pool.submit(apart, pair) for pair in pairs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            # Calls under way are let finish, so that the journal keeps what was paid for.
            for future in futures:
                future.cancel()
            raise


def _one(
    agent: Agent,
    fixture: Fixture,
    inputs: Inputs,
    run: Run,
    say: Callable[[str], None],
    journal: Journal | None,
) -> Result:
    truth = inputs.truths.get(fixture.key)
    known = journal.find(agent, fixture, truth) if journal else None
    if known is not None:
        say(f"Keeping {agent.name} on {fixture.id}\n")
        return known
    say(f"Running {agent.name} on {fixture.id}... ")
    result: dict[str, Any] = {"fixtureId": fixture.id, "domain": fixture.domain, "agentType": agent.name}
    telemetry: dict[str, Any] = {}
    try:
        outcome = _steps(agent, fixture, truth, run, say, telemetry)
    except _StepError as error:
        say(f"FAILED ({error.label})\n")
        if error.cause is not None:
            run.warn(f"{agent.name} on {fixture.id}: {shortened(str(error.cause) or repr(error.cause))}")
        result |= {"completion": "failed", "failureReason": error.reason}
        if error.reason == "missing-ground-truth":
            result["groundTruthMissing"] = True
        outcome = {"matchedFindings": [], "missedFindings": [], "spuriousFindings": []}
    else:
        say(f"done ({_ms(telemetry['latencyMs'])})\n")
        result["completion"] = "completed"
    result |= outcome | telemetry
    if journal:
        journal.add(agent, fixture, truth, result)
    return result


def _steps(
    agent: Agent,
    fixture: Fixture,
    truth: GroundTruth | None,
    run: Run,
    say: Callable[[str], None],
    telemetry: dict[str, Any],
) -> dict[str, Any]:
    """The parts of a completed result; `telemetry` is filled as far as the run gets."""
    message = _step("prompt", lambda: run.kind.message(fixture.text))
    began = run.clock_ms()
    try:
        answer: Answer = with_retries(
            lambda: run.model(system=agent.prompt, message=message), say=say, sleep=run.sleep
        )
    except Exception as error:
        telemetry["latencyMs"] = run.clock_ms() - began
        raise _StepError("api", _ms(telemetry["latencyMs"]), error) from error
    answered = run.clock_ms()
    telemetry["latencyMs"] = answered - began
    try:
        return _score(agent, answer, truth, run)
    finally:
        telemetry["harnessOverheadMs"] = run.clock_ms() - answered
        for name, value in (
            ("inputTokens", answer.input_tokens),
            ("outputTokens", answer.output_tokens),
            ("totalTokens", answer.total_tokens),
        ):
            if value is not None:
                telemetry[name] = value


def _score(agent: Agent, answer: Answer, truth: GroundTruth | None, run: Run) -> dict[str, Any]:
    parsed = _step("parse", lambda: parse_report(answer.text, run.kind.parser(agent.name)))
    if truth is None:
        raise _StepError("missing-ground-truth", "missing ground truth", None)
    texts = parsed.texts()
    masks = _step("match", lambda: match_masks(texts, FindingIndex(truth)))
    match = _step("match", lambda: match_findings(texts, masks, truth))
    scores = _step("score", lambda: score_report(parsed, truth, match, masks))
    return {
        "parsedOutput": {**parsed.to_json(), "rawOutput": parsed.raw},
        "scores": scores.to_json(),
        "matchedFindings": list(match.matched_ids),
        "missedFindings": list(match.missed_ids),
        "spuriousFindings": list(match.spurious_texts),
    }


def _step(reason: str, action: Callable[[], T]) -> T:
    try:
        return action()
    except Exception as error:
        raise _StepError(reason, reason, error) from error


def _ms(value: float) -> str:
    return f"{to_fixed(value, 1)}ms"


def failed_count(results: Sequence[Result]) -> int:
    """How many runs did not complete."""
    return sum(result["completion"] != "completed" for result in results)
