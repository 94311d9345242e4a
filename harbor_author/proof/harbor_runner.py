"""Trials by real Harbor, in any of its environments; its results become our trials and receipts."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from harbor_author.errors import AuthorError
from harbor_author.integrity.package import package_digest
from harbor_author.integrity.removal import remove_tree
from harbor_author.integrity.temporary import temporary_folder
from harbor_author.proof import receipts
from harbor_author.proof.causes import CAUSES
from harbor_author.proof.config import load_config
from harbor_author.proof.contract import NOT_APPLICABLE, AgentRun, JudgeRun, tail
from harbor_author.proof.errors import ProofError, TaskRefusedError
from harbor_author.proof.prepare import refuse_crlf
from harbor_author.proof.programme import Basic, Planned, ProgrammeFactory
from harbor_author.proof.progress import Progress, Silent
from harbor_author.proof.submission import Submission
from harbor_author.proof.trial import Subject, TrialRun
from harbor_author.proof.verdict import Trial
from harbor_author.proof.workflow import ProofResult, outcome
from harbor_author.sandbox.archives import copy_tree
from harbor_author.suite import Task

DEFAULT_COMMAND = "harbor"
_TIMEOUT_S = 4 * 3600
_POLL_S = 1.0
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
#: Where a submission that takes the oracle's place leaves the task's own solve.sh.
_OWN = ".reference.sh"
#: The task's own goes back to its place; where the user may not move it, this script passes inner calls on to it.
_IN_PLACE = f"""#!/bin/bash
[ -z "${{AUTHOR_IN_PLACE-}}" ] || exec /solution/{_OWN} "$@"
export AUTHOR_IN_PLACE=1
mv -f /solution/{_OWN} /solution/solve.sh 2>/dev/null
code=0"""
_AGENT_CAUSES = {"AgentTimeoutError": "agent-timeout", "FileNotFoundError": "solution-missing"}


@dataclass(frozen=True)
class HarborRunner:
    """How to reach Harbor: its command (words split as a shell does), its environment, and its trials at once."""

    command: str = DEFAULT_COMMAND
    environment: str = "docker"
    jobs: int = 2


def check_by_harbor(
    tasks: Sequence[Task],
    runner: HarborRunner,
    *,
    programme: ProgrammeFactory = Basic,
    progress: Progress | None = None,
) -> list[ProofResult]:
    """Prove tasks by Harbor's own oracle and nop agents; receipts are written as for our own trials.

    A submission other than the reference solution is run as the oracle of a copy of the task.

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
    return [_Proof(task, words, runner, said).run(programme) for task in tasks]


class _Proof:
    """The proof of one task, by a job of Harbor's for each of its two agents."""

    def __init__(self, task: Task, words: Sequence[str], runner: HarborRunner, progress: Progress) -> None:
        self._task = task
        self._words = words
        self._runner = runner
        self._progress = progress

    def run(self, factory: ProgrammeFactory) -> ProofResult:
        task, started, programme = self._task, time.monotonic(), factory()
        trials: list[Trial] = []
        try:
            subject = Subject(task.path, task.name, load_config(task.path))
            refuse_crlf(task.path)
            before = package_digest(task.path)
            planned = programme.first(task, subject)
            while planned:
                trials += self._round(planned, subject)
                planned = programme.more(trials)
        except TaskRefusedError as error:
            return ProofResult(task.label, "error", error.cause, error.message, CAUSES[error.cause].hint)
        except AuthorError as error:
            return ProofResult(task.label, "error", "task-invalid", str(error))
        trials = [trial for trial in trials if trial.verdict != "skip"]
        assessed = programme.assess(trials)
        verdict, cause, message = assessed.verdict, assessed.cause, assessed.message
        if package_digest(task.path) != before:
            verdict, cause, message = "error", "contamination", "the task changed while it was proved"
        first = next((trial for trial in trials if trial.cause == cause), None)
        details = {
            **assessed.details,
            "runner": {"name": "harbor", "environment": self._runner.environment},
        }
        path = None
        if cause not in ("contamination", "engine-failed"):
            inputs = receipts.gather_inputs(task, {}, "harbor")
            path = receipts.write_receipt(task, inputs, trials, verdict=verdict, cause=cause, extra=details)
        return ProofResult(
            task.label,
            verdict,
            cause,
            message or (f"{first.name}: {first.message}" if first and cause else ""),
            (first.hint if first else CAUSES[cause].hint) if cause else "",
            trials=tuple(trials),
            notes=assessed.notes,
            duration_s=time.monotonic() - started,
            receipt=path,
            details=details,
        )

    def _round(self, planned: Sequence[Planned], subject: Subject) -> list[Trial]:
        """The trials, in the order in which they were planned."""
        found: dict[str, Trial] = {}
        with temporary_folder("runner") as work:
            for agent in ("nop", "oracle"):
                plans = [plan for plan in planned if plan.submission.is_nothing == (agent == "nop")]
                if plans:
                    found |= self._job(agent, plans, subject, work)
        return [found[plan.name] for plan in planned]

    def _job(self, agent: str, plans: Sequence[Planned], subject: Subject, work: Path) -> dict[str, Trial]:
        """One job over a copy of the task for each submission; Harbor calls a trial by its copy's name."""
        copies = work / f"{agent}-tasks"
        for number, plan in enumerate(plans):
            copy = copies / f"t{number}"
            copy.mkdir(parents=True)
            copy_tree(subject.task_dir, copy)
            put_in_place(plan.submission, copy)
        job = work / "jobs" / agent
        label, environment = self._task.label, self._runner.environment
        command = [
            *self._words, "run", "-p", str(copies), "-a", agent, "-e", environment, "-n", str(self._runner.jobs),
            "-o", str(job.parent), "--job-name", job.name, "-y", "-q",
        ]  # fmt: skip

        def tell() -> None:
            done = len(list(job.glob("*/result.json")))
            of = f", {done} of {len(plans)}" if len(plans) > 1 else ""
            self._progress.stage(label, "", f"harbor {agent} in {environment}{of}")

        started = time.monotonic()
        log = _run(command, work / f"{agent}.log", tell)
        taken_s = time.monotonic() - started
        trials = {}
        for number, plan in enumerate(plans):
            run = read_run(job, f"t{number}", log, taken_s)
            if plan.submission.after:
                run = _after(run, plan.submission)
            trial = plan.judge(run, subject)
            self._progress.done(label, plan.name, outcome(trial))
            trials[plan.name] = trial
        return trials


def put_in_place(submission: Submission, copy: Path) -> None:
    """Make a submission the oracle of a copy of its task.

    Harbor runs /solution/solve.sh alone, which the submission may call in its turn and then is the task's own.
    """
    if submission.is_nothing or (
        submission.script == "solve.sh" and not submission.overlay and not submission.after
    ):
        return
    solution = copy / "solution"
    if submission.source is None:
        remove_tree(solution)
    solution.mkdir(exist_ok=True)
    for name, content in submission.overlay.items():
        path = solution / name
        if content is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    own = solution / "solve.sh"
    if own.is_file():
        own.chmod(0o755)
        own.rename(solution / _OWN)
    lines = [_IN_PLACE]
    if submission.script is not None:
        if submission.script != "solve.sh":
            (solution / submission.script).chmod(0o755)
        lines.append(f"(/solution/{shlex.quote(submission.script)}); code=$?")
    if submission.after:
        kept = "" if submission.script is not None else "code=$after"
        lines.append(
            f"({submission.after}\n)\nafter=$?; [ $after != {NOT_APPLICABLE} ] || exit $after; {kept}"
        )
    own.write_text("\n".join([*lines, "exit $code", ""]))
    own.chmod(0o755)


def _after(run: TrialRun, submission: Submission) -> TrialRun:
    """A trial whose submission ended in a step of ours: its status says whether there was anything to act on."""
    if run.agent.exit_code == NOT_APPLICABLE:
        return replace(run, cause="not-applicable", message=run.agent.log.strip() or "nothing to act on")
    if submission.script is None and run.agent.cause == "solve-failed":
        return replace(run, agent=replace(run.agent, cause=None, message=""))
    return run


def _run(command: Sequence[str], path: Path, tell: Callable[[], None]) -> str:
    """Run Harbor, telling how far it is; what it printed, or why it did not run."""
    deadline = time.monotonic() + _TIMEOUT_S
    with path.open("w+b") as output:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        except OSError as error:
            return str(error)
        with process:
            try:
                while process.poll() is None and time.monotonic() < deadline:
                    tell()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_POLL_S)
            finally:
                process.kill()
        output.seek(0)
        return output.read().decode(errors="replace")


def read_run(job: Path, name: str, log: str, duration_s: float) -> TrialRun:
    """The trial of a Harbor job whose task's directory was called `name`, as our own runs are.

    Without exactly one result it could not be judged. `duration_s` counts where Harbor says no time.
    """
    results = sorted(job.glob(f"{name}__*/result.json"))
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
    duration_s = _seconds(result) or duration_s
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
