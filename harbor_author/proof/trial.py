"""One trial: fresh containers, a submission, the judge, and what they gave. The verdict over it is `verdict`'s."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harbor_author.proof import separate
from harbor_author.proof.clock import set_clock
from harbor_author.proof.config import StepConfig, TaskConfig, without_network
from harbor_author.proof.contract import AgentRun, JudgeRun, run_agent, run_judge
from harbor_author.proof.errors import TaskRefusedError, says_no_room
from harbor_author.proof.leftovers import (
    changed_by_judge,
    find_leftovers,
    fixture_diff,
    fixture_state,
    outside,
)
from harbor_author.proof.reward import is_full, main_reward
from harbor_author.proof.session import (
    DEFAULT_LIMITS,
    Cancellation,
    Limits,
    TrialAbortedError,
    open_session,
)
from harbor_author.proof.submission import Submission
from harbor_author.sandbox import Engine, EngineError, ImageInfo, SandboxError

#: Called with each stage as it begins: `start`, `solve`, `judge`, `clean`.
OnStage = Callable[[str], None]

#: The judge of our suites, and its library in both languages.
_PROTOCOL_FILES = ("judge.mjs", "judge-utils.mjs", "judge_utils.py")
#: What sudo (before and since 1.9) and su say where the kernel's flag denies them their rights.
_DENIED = re.compile(
    r'"no new privileges" flag is set|effective uid is not 0, is \S+ on a file system'
    r"|must be suid to work properly|without effective root"
)
#: A trial that broke off for one of these may have done so because of the flag.
_MAYBE_DENIED = (None, "healthcheck-failed", "step-setup-failed", "environment-failed")
#: Where the fixture is in a container.
FIXTURE = "/app/fixture"


@dataclass(frozen=True)
class Subject:
    """What trials are of: a task's directory, what it is called, and what its task.toml says."""

    task_dir: Path
    task: str
    config: TaskConfig

    @property
    def has_judge_line(self) -> bool:
        """Whether the task's judge speaks our suites' protocol: one JSON line, last."""
        return any((self.task_dir / "tests" / name).is_file() for name in _PROTOCOL_FILES)


@dataclass(frozen=True)
class Bench(Subject):
    """What all trials of a task share when they run here: also its images, and how to stop."""

    engine: Engine
    image: ImageInfo
    cancellation: Cancellation
    verifier_images: Mapping[str, ImageInfo] = field(default_factory=dict)
    keep: bool = False
    limits: Limits = DEFAULT_LIMITS
    clock: str = ""
    inspect: bool = False
    keep_diff: bool = False
    remove: Callable[[str], None] | None = None
    turns: threading.Semaphore | None = None


class Turn:
    """A trial's turn to use the machine, which it takes once its container is up: bringing one up is mostly waiting.

    Not to be taken again while it is held.
    """

    def __init__(self, turns: threading.Semaphore | None) -> None:
        self._turns = turns
        self.waited_s = 0.0

    def __enter__(self) -> None:
        if self._turns is not None:
            started = time.monotonic()
            self._turns.acquire()
            self.waited_s += time.monotonic() - started

    def __exit__(self, *_: object) -> None:
        if self._turns is not None:
            self._turns.release()


@dataclass(frozen=True)
class TrialRun:
    """What happened. `cause` is set when the trial broke off; a judge's own fault is in `judge.cause`."""

    agent: AgentRun = field(default_factory=AgentRun)
    judge: JudgeRun = field(default_factory=JudgeRun)
    rewards: Mapping[str, float] | None = None
    leftovers: tuple[str, ...] = ()
    duration_s: float = 0.0
    cause: str | None = None
    message: str = ""
    log: str = ""
    container: str = ""
    diff: str = field(default="", repr=False)


def run_trial(
    bench: Bench,
    submission: Submission,
    on_stage: OnStage = lambda _: None,
    *,
    offline: bool = False,
    clock: str = "",
    inspect: bool = False,
) -> TrialRun:
    """Run one trial in fresh containers; it always returns, except on an interrupt of this very thread.

    Args:
        offline: without network, whatever the task says.
        clock: how far the containers' clock is set off, such as `+365d`.
        inspect: look also at what the judge changed of the fixture, and what was written outside the allowed places.
    """
    from harbor_author.proof.steps import run_steps

    started = time.monotonic()
    turn = Turn(bench.turns)
    try:
        if offline:
            bench = replace(bench, config=without_network(bench.config))
        bench = replace(bench, clock=clock, inspect=inspect)
        run = run_steps if bench.config.steps else _run_single
        result = _unless_denied(bench.config, run(bench, submission, on_stage, turn))
    except (TrialAbortedError, TaskRefusedError) as error:
        broken = TrialRun(cause=error.cause, message=error.message, log=error.log)
        result = _unless_denied(bench.config, broken)
    except EngineError as error:
        cause = "disk-full" if says_no_room(error.message) else "engine-failed"
        if bench.cancellation.cancelled:
            cause = "interrupted"
        result = TrialRun(cause=cause, message=error.message)
    except SandboxError as error:
        gone = not bench.task_dir.is_dir()
        result = TrialRun(cause="task-vanished" if gone else "task-invalid", message=str(error))
    return replace(result, duration_s=time.monotonic() - started - turn.waited_s)


def denied(config: TaskConfig, log: str) -> bool:
    """Whether a log says that the kernel denied a setuid program its rights, in containers that ask for that."""
    return not config.environment.new_privileges and _DENIED.search(log) is not None


def _unless_denied(config: TaskConfig, run: TrialRun) -> TrialRun:
    """The trial, or an error in its place where a setuid program was denied its rights and not all went well."""
    if run.cause not in _MAYBE_DENIED:
        return run
    if run.cause is None and run.agent.cause is None and is_full(main_reward(run.rewards or {}) or 0.0):
        return run
    for log in (run.agent.log, run.judge.agent_log, run.judge.output, run.log):
        if denied(config, log):
            message = "containers run with no-new-privileges, which stopped a setuid program"
            return replace(run, cause="new-privileges", message=message, rewards=None)
    return run


def _run_single(bench: Bench, submission: Submission, on_stage: OnStage, turn: Turn) -> TrialRun:
    config = bench.config
    on_stage("start")
    is_separate = config.separate_verifier()
    phases = (config.agent.network_mode, None if is_separate else config.verifier.network_mode)
    opened = open_session(
        bench.engine,
        bench.image,
        config.environment,
        task=bench.task,
        phases=phases,
        cancellation=bench.cancellation,
        limits=bench.limits,
        keep=bench.keep,
        remove=bench.remove,
    )
    with opened as session, turn:
        if bench.clock:
            set_clock(session, bench.clock)
        session.healthcheck(config.environment.healthcheck)
        on_stage("solve")
        agent = run_agent(session, bench.task_dir, config, submission)
        if not is_separate:
            on_stage("judge")
            before = fixture_state(session, FIXTURE) if bench.inspect else None
            judge = run_judge(session, bench.task_dir, config, trusting=submission.is_reference)
            on_stage("clean")
            leftovers = find_leftovers(session, thorough=bench.has_judge_line, probed=judge.probed)
            if bench.inspect:
                leftovers += changed_by_judge(before, fixture_state(session, FIXTURE))
                leftovers += outside(session, config.environment.workdir or bench.image.workdir)
            diff = fixture_diff(session) if bench.keep_diff else ""
            return TrialRun(agent, judge, judge.rewards, leftovers, container=session.container, diff=diff)
        artifacts = separate.collect(session, config)
        diff = fixture_diff(session) if bench.keep_diff else ""
    with turn:
        judge, leftovers = judge_separately(bench, artifacts, None, on_stage)
    return TrialRun(agent, judge, judge.rewards, leftovers, diff=diff)


def judge_separately(
    bench: Bench, artifacts: separate.Collected, step: StepConfig | None, on_stage: OnStage
) -> tuple[JudgeRun, tuple[str, ...]]:
    """Run the judge in a container of its own, with only the artifacts of the agent's."""
    _, environment, bundled = separate.verifier_environment(bench.task_dir, bench.config, step)
    verifier = step.verifier if step else None
    mode = (verifier.network_mode if verifier else None) or bench.config.verifier.network_mode
    on_stage("judge")
    with open_session(
        bench.engine,
        bench.verifier_images[step.name if step else ""],
        environment,
        task=bench.task,
        phases=(mode,),
        cancellation=bench.cancellation,
        limits=bench.limits,
        keep=bench.keep,
        remove=bench.remove,
    ) as session:
        session.healthcheck(environment.healthcheck)
        separate.upload(session, artifacts)
        judge = run_judge(
            session,
            bench.task_dir,
            bench.config,
            step_name=step.name if step else None,
            step=verifier,
            bundled_tests=bundled,
        )
        on_stage("clean")
        return judge, find_leftovers(session, thorough=bench.has_judge_line)
