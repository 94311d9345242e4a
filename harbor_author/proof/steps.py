"""A task of several steps: one container, and for each step a set-up, a submission and a judge (Harbor 0.26)."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harbor_author.proof import separate
from harbor_author.proof.config import StepConfig
from harbor_author.proof.contract import AgentRun, JudgeRun, run_agent, run_judge, tail
from harbor_author.proof.leftovers import find_leftovers, fixture_diff
from harbor_author.proof.session import Session, TrialAbortedError, open_session
from harbor_author.proof.submission import Submission, oracle
from harbor_author.proof.trial import Bench, OnStage, TrialRun, Turn, judge_separately


def run_steps(bench: Bench, submission: Submission, on_stage: OnStage, turn: Turn) -> TrialRun:
    """Run a multi-step trial; its reward is the mean over the judged steps, or the last step's."""
    config = bench.config
    on_stage("start")
    agents: list[AgentRun] = []
    judged: list[Mapping[str, float] | None] = []
    last_judge = JudgeRun(cause="reward-missing", message="no step was judged")
    leftovers: tuple[str, ...] = ()
    modes = [config.agent.network_mode, config.verifier.network_mode]
    modes += [phase.network_mode for step in config.steps for phase in (step.agent, step.verifier)]
    opened = open_session(
        bench.engine,
        bench.image,
        config.environment,
        task=bench.task,
        phases=tuple(modes),
        cancellation=bench.cancellation,
        limits=bench.limits,
        keep=bench.keep,
        remove=bench.remove,
    )
    with opened as session, turn:
        session.healthcheck(config.environment.healthcheck)
        verified_here = False
        for step in config.steps:
            if verified_here:
                _empty(session, "/logs/verifier", "/tests")
            _empty(session, "/logs/agent")
            failure = _prepare(session, bench.task_dir, step)
            if failure is not None:
                last_judge = JudgeRun(cause=failure.cause, message=failure.message, output=failure.log)
                break
            on_stage(f"solve {step.name}")
            what = oracle(bench.task_dir, step=step.name) if submission.name == "oracle" else submission
            agents.append(run_agent(session, bench.task_dir, config, what, step=step.agent))
            on_stage(f"judge {step.name}")
            if config.separate_verifier(step):
                artifacts = separate.collect(session, config, step)
                last_judge, leftovers = judge_separately(bench, artifacts, step, on_stage)
            else:
                _empty(session, "/logs/verifier", "/tests")
                verified_here = True
                last_judge = run_judge(
                    session, bench.task_dir, config, step_name=step.name, step=step.verifier
                )
                leftovers = find_leftovers(session, thorough=False)
            judged.append(last_judge.rewards)
            if last_judge.rewards is None and last_judge.cause is not None:
                break
            if _falls_short(last_judge.rewards, step):
                break
        diff = fixture_diff(session) if bench.keep_diff else ""
    rewards = combine(judged, config.reward_strategy)
    agent = next((run for run in agents if run.cause is not None), agents[-1] if agents else AgentRun())
    if rewards is not None and last_judge.cause is None:
        last_judge = replace(last_judge, rewards=rewards)
    return TrialRun(agent, last_judge, rewards, leftovers, diff=diff)


def combine(judged: Sequence[Mapping[str, float] | None], strategy: str) -> dict[str, float] | None:
    """The trial's rewards from its steps': the last step's (`final`), or the mean by key over the judged steps,
    where a key that a step lacks counts 0 (`mean`)."""
    if strategy == "final":
        return dict(judged[-1]) if judged and judged[-1] is not None else None
    valid = [rewards for rewards in judged if rewards is not None]
    keys = {key for rewards in valid for key in rewards}
    if not keys:
        return None
    return {key: sum(rewards.get(key, 0.0) for rewards in valid) / len(valid) for key in keys}


def _falls_short(rewards: Mapping[str, float] | None, step: StepConfig) -> bool:
    found = rewards or {}
    return any(found.get(key, float("-inf")) < threshold for key, threshold in step.min_reward.items())


def _prepare(session: Session, task_dir: Path, step: StepConfig) -> TrialAbortedError | None:
    folder = task_dir / "steps" / step.name / "workdir"
    user = step.agent.user
    if folder.is_dir():
        workdir = session.exec("pwd", user=user).output.strip() or "/"
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
        session.pending.tree(folder, files, workdir if workdir != "/" else ".")
        if (folder / "setup.sh").is_file():
            script = shlex.quote(posixpath.join(workdir, "setup.sh"))
            result = session.exec(f"bash {script}", user=user)
            if result.exit_code != 0:
                return TrialAbortedError(
                    "step-setup-failed",
                    f"setup.sh of step {step.name} ended with exit status {result.exit_code}",
                    tail(result.output),
                )
    try:
        session.healthcheck(step.healthcheck)
    except TrialAbortedError as error:
        if error.cause != "healthcheck-failed":
            raise
        return error
    return None


def _empty(session: Session, *directories: str) -> None:
    quoted = " ".join(shlex.quote(directory) for directory in directories)
    session.exec(
        f'for d in {quoted}; do mkdir -p "$d" && find "$d" -mindepth 1 -delete; done; chmod 777 /logs/*',
        user="root",
    )
