"""Trials by real Harbor, in any of its environments; its results become our trials and receipts."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harbor_author.errors import AuthorError
from harbor_author.integrity.package import package_digest
from harbor_author.integrity.temporary import temporary_folder
from harbor_author.proof import receipts
from harbor_author.proof.causes import CAUSES
from harbor_author.proof.config import load_config
from harbor_author.proof.contract import AgentRun, JudgeRun, tail
from harbor_author.proof.errors import ProofError, TaskRefusedError
from harbor_author.proof.prepare import refuse_crlf
from harbor_author.proof.progress import Progress, Silent
from harbor_author.proof.trial import TrialRun, has_judge_line
from harbor_author.proof.verdict import FULL, ZERO, Trial, judge_trial, overall
from harbor_author.proof.workflow import ProofResult, outcome
from harbor_author.sandbox.archives import copy_tree
from harbor_author.suite import Task

DEFAULT_COMMAND = "harbor"
_TIMEOUT_S = 4 * 3600
_AGENTS = {"untouched": ("nop", ZERO), "oracle": ("oracle", FULL)}
#: Harbor's exceptions and what we call them; any other is `engine-failed`.
_CAUSES = {
    "RewardFileNotFoundError": "reward-missing",
    "RewardFileEmptyError": "reward-empty",
    "VerifierOutputParseError": "reward-unparsable",
    "ValidationError": "reward-unparsable",
    "VerifierTimeoutError": "judge-timeout",
    "HealthcheckError": "healthcheck-failed",
    "EnvironmentStartTimeoutError": "build-timeout",
    "RuntimeError": "environment-failed",
}
#: What rich draws around a traceback, with the line breaks between.
_FRAME = re.compile(r"\s*[│╭╰─╯╮]*\s+")
_AGENT_CAUSES = {"AgentTimeoutError": "agent-timeout", "FileNotFoundError": "solution-missing"}


@dataclass(frozen=True)
class HarborRunner:
    """How to reach Harbor: its command (words split as a shell does), its environment, and its trials at once."""

    command: str = DEFAULT_COMMAND
    environment: str = "docker"
    jobs: int = 2


def check_by_harbor(
    tasks: Sequence[Task], runner: HarborRunner, *, progress: Progress | None = None
) -> list[ProofResult]:
    """Prove tasks by Harbor's own oracle and nop agents; receipts are written as for our own trials.

    Raises:
        ProofError: there is no such command.
    """
    words = shlex.split(runner.command)
    if not words or shutil.which(words[0]) is None:
        raise ProofError(
            f"there is no command {words[0] if words else runner.command!r}",
            hint="install Harbor, or name its command by --harbor",
        )
    said = progress or Silent()
    return [_check(task, words, runner, said) for task in tasks]


def _check(task: Task, words: Sequence[str], runner: HarborRunner, progress: Progress) -> ProofResult:
    started = time.monotonic()
    try:
        load_config(task.path)
        refuse_crlf(task.path)
        before = package_digest(task.path)
        with temporary_folder("runner") as work:
            copy = work / task.name
            copy.mkdir()
            copy_tree(task.path, copy)
            trials = [_trial(name, task, copy, work, words, runner, progress) for name in _AGENTS]
    except TaskRefusedError as error:
        return ProofResult(task.label, "error", error.cause, error.message, CAUSES[error.cause].hint)
    except AuthorError as error:
        return ProofResult(task.label, "error", "task-invalid", str(error))
    verdict, cause = overall(trials)
    if package_digest(task.path) != before:
        verdict, cause = "error", "contamination"
    first = next((trial for trial in trials if trial.cause == cause), None)
    details = {"runner": {"name": "harbor", "environment": runner.environment}}
    path = None
    if cause not in ("contamination", "engine-failed"):
        inputs = receipts.gather_inputs(task, {}, "harbor")
        path = receipts.write_receipt(task, inputs, trials, verdict=verdict, cause=cause, extra=details)
    return ProofResult(
        task.label,
        verdict,
        cause,
        f"{first.name}: {first.message}" if first and cause else "",
        CAUSES[cause].hint if cause else "",
        trials=tuple(trials),
        duration_s=time.monotonic() - started,
        receipt=path,
        details=details,
    )


def _trial(
    name: str,
    task: Task,
    copy: Path,
    work: Path,
    words: Sequence[str],
    runner: HarborRunner,
    progress: Progress,
) -> Trial:
    agent, expectation = _AGENTS[name]
    progress.stage(task.label, name, f"harbor {agent} in {runner.environment}")
    started = time.monotonic()
    jobs = work / "jobs"
    command = [
        *words, "run", "-p", str(copy), "-a", agent, "-e", runner.environment, "-n", str(runner.jobs),
        "-o", str(jobs), "--job-name", name, "-y", "-q",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        log = done.stdout + done.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        log = str(error)
    run = read_run(jobs / name, log, time.monotonic() - started)
    trial = judge_trial(name, run, expectation, needs_judge_line=has_judge_line(task.path))
    progress.done(task.label, name, outcome(trial))
    return trial


def read_run(job: Path, log: str, duration_s: float) -> TrialRun:
    """A trial of a Harbor job, as our own runs are. A job without exactly one result could not be judged."""
    results = sorted(job.glob("*/result.json"))
    if len(results) != 1:
        unsupported = "is not supported by" in _FRAME.sub(" ", log)
        return TrialRun(
            cause="unsupported-here" if unsupported else "engine-failed",
            message=f"harbor gave {len(results)} results for one trial",
            log=tail(log),
            duration_s=duration_s,
        )
    try:
        result = json.loads(results[0].read_bytes())
    except ValueError:
        return TrialRun(
            cause="engine-failed", message="harbor's result.json cannot be read", duration_s=duration_s
        )
    folder = results[0].parent
    exception: Mapping[str, Any] = result.get("exception_info") or {}
    kind = str(exception.get("exception_type") or "")
    message = str(exception.get("exception_message") or "")[:1000]
    rewards = (result.get("verifier_result") or {}).get("rewards")
    agent = AgentRun(
        _exit_code(folder), _seconds(result.get("agent_execution")), _text(folder / "agent/oracle.txt")
    )
    if kind in _AGENT_CAUSES:
        agent = AgentRun(
            agent.exit_code, agent.duration_s, agent.log, _AGENT_CAUSES[kind], f"{kind}: {message}"
        )
    elif agent.exit_code:
        text = f"solve.sh ended with exit status {agent.exit_code}"
        agent = AgentRun(agent.exit_code, agent.duration_s, agent.log, "solve-failed", text)
    cause = None if not kind or kind in _AGENT_CAUSES else _CAUSES.get(kind, "engine-failed")
    judge = JudgeRun(
        None,
        _seconds(result.get("verifier")),
        _text(folder / "verifier/test-stdout.txt"),
        rewards,
        cause,
        f"{kind}: {message}" if cause else "",
    )
    return TrialRun(agent, judge, rewards, duration_s=duration_s, log=tail(log))


def _exit_code(folder: Path) -> int | None:
    text = _text(folder / "agent/exit-code.txt").strip()
    return int(text) if text.lstrip("-").isdigit() else 0


def _seconds(timing: Any) -> float:
    try:
        start, end = (datetime.fromisoformat(timing[key]) for key in ("started_at", "finished_at"))
    except (TypeError, KeyError, ValueError):
        return 0.0
    return (end - start).total_seconds()


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
