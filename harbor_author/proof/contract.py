"""Harbor's execution contract: the agent's phase and the judge's, in a container that is up.

Source: Harbor 0.26, `agents/oracle.py` and `verifier/verifier.py`. Where a step there costs a command (make a
directory, set a mode, remove a file that is not there) the same state is reached with the files' upload.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harbor_author.integrity.errors import IntegrityError
from harbor_author.integrity.package import input_files
from harbor_author.proof.config import PhaseConfig, TaskConfig, resolve_env
from harbor_author.proof.leftovers import FULL_PROBE
from harbor_author.proof.logs import ROOT as LOGS
from harbor_author.proof.logs import read_logs, unpack_logs
from harbor_author.proof.reward import RewardError, parse_rewards
from harbor_author.proof.session import Around, Session, TrialAbortedError
from harbor_author.proof.submission import Submission
from harbor_author.sandbox.archives import Archive
from harbor_author.sandbox.engine import ExecResult

AGENT_LOG = "/logs/agent/oracle.txt"
AFTER_LOG = "/logs/agent/probe.txt"
JUDGE_LOG = "/logs/verifier/test-stdout.txt"
REWARD_TXT = "/logs/verifier/reward.txt"
REWARD_JSON = "/logs/verifier/reward.json"

_JUDGE = f"(/tests/test.sh) > {JUDGE_LOG} 2>&1"
_TAIL_LINES = 40
_TAIL_BYTES = 8192
#: A shell's exit status for a command that a signal killed is 128 and the signal's number.
_KILLED, _SIGNALS = 128, 64
#: With this status a submission's `after` says that it has nothing to act on (EX_TEMPFAIL of sysexits.h).
NOT_APPLICABLE = 75
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class AgentRun:
    """What the submission did. `cause` is None when it ran to its end with status 0, or when nothing was run."""

    exit_code: int | None = 0
    duration_s: float = 0.0
    log: str = ""
    cause: str | None = None
    message: str = ""


@dataclass(frozen=True)
class JudgeRun:
    """What the judge did: `rewards` by key, or `cause` when there are none or they do not count.

    `output` is its whole output (cut at the limit); `log` is the tail to show, `agent_log` that of the submission.
    `probed` is what a probe of what is left behind found, where it was run with the judge.
    """

    exit_code: int | None = None
    duration_s: float = 0.0
    output: str = field(default="", repr=False)
    rewards: Mapping[str, float] | None = None
    cause: str | None = None
    message: str = ""
    agent_log: str = field(default="", repr=False)
    probed: str | None = field(default=None, repr=False)

    @property
    def log(self) -> str:
        return tail(self.output)


def run_agent(
    session: Session,
    task_dir: Path,
    config: TaskConfig,
    submission: Submission,
    *,
    step: PhaseConfig | None = None,
) -> AgentRun:
    """Run a submission as Harbor runs the oracle. The judge is due after any outcome.

    Raises:
        TrialAbortedError: a limit, an interrupt, or an environment that Harbor could not use either.
    """
    if submission.is_nothing:
        return AgentRun()
    phase = step or PhaseConfig()
    user = phase.user if phase.user is not None else config.agent.user
    timeout_s = phase.timeout_s if phase.timeout_s is not None else config.agent.timeout_s
    session.phase_network(phase.network_mode or config.agent.network_mode)
    started = time.monotonic()
    run = AgentRun()
    if submission.script is not None:
        run = _run_script(session, task_dir, config, submission, user=user, timeout_s=timeout_s)
    if submission.after and run.cause != "solution-missing":
        if submission.script is None:
            _pack(session.pending, submission, sorted(submission.overlay))
        left_s = None if timeout_s is None else max(1.0, timeout_s - (time.monotonic() - started))
        after = session.exec(
            f"({submission.after}\n) > {AFTER_LOG} 2>&1",
            user=user,
            env={"DEBIAN_FRONTEND": "noninteractive"},
            timeout_s=left_s,
            output_file=AFTER_LOG,
        )
        if after.exit_code == NOT_APPLICABLE:
            raise TrialAbortedError("not-applicable", after.output.strip() or "nothing to act on")
        if run.cause is None and submission.script is None:
            run = AgentRun(after.exit_code, 0.0, _log(session, AFTER_LOG, after))
    session.phase_network(None)
    return AgentRun(run.exit_code, time.monotonic() - started, run.log, run.cause, run.message)


def _run_script(
    session: Session,
    task_dir: Path,
    config: TaskConfig,
    submission: Submission,
    *,
    user: str | None,
    timeout_s: float | None,
) -> AgentRun:
    assert submission.script is not None
    files = _solution_files(task_dir, submission)
    if submission.script not in files:
        where = submission.source or "/solution"
        return AgentRun(None, cause="solution-missing", message=f"{where}/{submission.script} does not exist")
    env = {"DEBIAN_FRONTEND": "noninteractive", **resolve_env(config.solution_env, "[solution.env]")}
    _pack(session.pending, submission, files)
    result = session.exec(
        f"(/solution/{submission.script}) > {AGENT_LOG} 2>&1",
        user=user,
        env=env,
        timeout_s=timeout_s,
        output_file=AGENT_LOG,
    )
    if result.exit_code == 0:
        return AgentRun(0)  # its log is read with the judge's
    log = _log(session, AGENT_LOG, result)
    if result.timed_out:
        too_long = f"{submission.script} ran longer than its {timeout_s:g} s, [agent] timeout_sec"
        return AgentRun(None, log=log, cause="agent-timeout", message=too_long)
    if result.exit_code in (126, 127) and _is_crlf(submission):
        return AgentRun(
            result.exit_code,
            log=log,
            cause="crlf-script",
            message=f"{submission.script} has CRLF line endings",
        )
    memory = "; the kernel killed for lack of memory here" if session.out_of_memory() else ""
    return AgentRun(
        result.exit_code,
        log=log,
        cause="solve-failed",
        message=f"{submission.script} ended with exit status {result.exit_code}{memory}",
    )


def _is_crlf(submission: Submission) -> bool:
    if submission.source is None or submission.script is None:
        return False
    return b"\r\n" in (submission.source / submission.script).read_bytes()


def _solution_files(task_dir: Path, submission: Submission) -> list[str]:
    files: set[str] = set()
    if submission.source is not None:
        try:
            relative = submission.source.relative_to(task_dir).as_posix()
            files = set(input_files(task_dir, relative))
        except (ValueError, IntegrityError) as error:
            raise TrialAbortedError("task-invalid", str(error)) from error
    files |= {name for name, content in submission.overlay.items() if content is not None}
    return sorted(files - {name for name, content in submission.overlay.items() if content is None})


def _pack(archive: Archive, submission: Submission, files: list[str]) -> None:
    executable = frozenset([submission.script] if submission.script else [])
    overlay = {name: content for name, content in submission.overlay.items() if content is not None}
    kept = [name for name in files if name not in overlay]
    if submission.source is not None:
        archive.tree(submission.source, kept, "/solution", executable)
    for name, content in overlay.items():
        archive.data(f"/solution/{name}", content, 0o755 if name.endswith(".sh") else 0o644)


def run_judge(
    session: Session,
    task_dir: Path,
    config: TaskConfig,
    *,
    step_name: str | None = None,
    step: PhaseConfig | None = None,
    bundled_tests: bool = False,
    trusting: bool = False,
) -> JudgeRun:
    """Run `tests/test.sh` as Harbor does and read the reward.

    Args:
        trusting: nothing ran in the container that is there to deceive.

    Raises:
        TrialAbortedError: as `run_agent`.
    """
    phase = step or PhaseConfig()
    user = phase.user if phase.user is not None else config.verifier.user
    timeout_s = phase.timeout_s if phase.timeout_s is not None else config.verifier.timeout_s
    timeout_s = 600.0 if timeout_s is None else timeout_s
    env = resolve_env({**config.verifier.env, **phase.env}, "[verifier.env]")
    if not bundled_tests:
        missing = _pack_tests(session.pending, task_dir, step_name)
        if missing is not None:
            return JudgeRun(cause="test-missing", message=missing)
    session.phase_network(phase.network_mode or config.verifier.network_mode)
    how: dict[str, Any] = {"user": user, "env": env or None, "timeout_s": timeout_s, "output_file": JUDGE_LOG}
    started = time.monotonic()
    around = _exec_around(session, how) if trusting else None
    if around is None:
        _remove_rewards(session)
        session.flush(may_wait=True)
        started = time.monotonic()
        around = Around(session.exec(_JUDGE, **how))
    duration_s = time.monotonic() - started
    session.phase_network(None)
    wanted = (JUDGE_LOG, REWARD_JSON, REWARD_TXT, AGENT_LOG)
    logs = unpack_logs(around.archive, wanted) if around.archive else None
    if logs is None:
        logs = read_logs(session, wanted)
    too_long = f"test.sh ran longer than its {timeout_s:g} s, [verifier] timeout_sec"
    return replace(
        _judged(session, around.result, logs, too_long),
        duration_s=duration_s,
        output=logs.get(JUDGE_LOG, b"").decode(errors="replace") or around.result.output,
        agent_log=tail(logs.get(AGENT_LOG, b"").decode(errors="replace")),
        probed=around.probed,
    )


def _exec_around(session: Session, how: Mapping[str, Any]) -> Around | None:
    return session.exec_around(_JUDGE, remove=(REWARD_TXT, REWARD_JSON), probe=FULL_PROBE, read=LOGS, **how)


def _judged(session: Session, result: ExecResult, logs: Mapping[str, bytes], too_long: str) -> JudgeRun:
    """What the judge came to, without its output and duration."""
    if result.timed_out:
        return JudgeRun(cause="judge-timeout", message=too_long)
    rewards, cause, message = None, None, ""
    try:
        rewards = parse_rewards(logs.get(REWARD_JSON), logs.get(REWARD_TXT))
    except RewardError as error:
        cause, message = error.cause, str(error)
    code = result.exit_code
    if code is not None and _KILLED < code <= _KILLED + _SIGNALS:
        if session.out_of_memory():
            cause, message = "memory-limit", f"test.sh was killed (exit status {code}) for lack of memory"
        else:
            cause = "judge-killed"
            message = f"test.sh ended with exit status {code}: killed by signal {code - _KILLED}"
    elif cause in ("reward-missing", "reward-empty"):
        said = logs.get(JUDGE_LOG, b"").decode(errors="replace") + result.output
        full = session.no_room(said)
        if full is not None:
            cause, message = full
        elif cause == "reward-missing" and code:
            message += f"; test.sh ended with exit status {code}"
    return JudgeRun(code, rewards=rewards, cause=cause, message=message)


def _remove_rewards(session: Session) -> None:
    """Discard rewards that the submission or the image left, as root, by Harbor's own command."""
    found = [path for path in (REWARD_TXT, REWARD_JSON) if session.engine.stat(session.container, path)]
    if not found:
        return
    result = session.exec(f"rm -f -- {REWARD_TXT} {REWARD_JSON}", user="root")
    if result.exit_code != 0:
        raise TrialAbortedError(
            "environment-failed", "the submission's reward files cannot be removed", result.output[-2000:]
        )


def _pack_tests(archive: Archive, task_dir: Path, step_name: str | None) -> str | None:
    """Add the tests; a step's own go over the task's. Returns what is missing, or None."""
    found = False
    for directory in ["tests"] + ([f"steps/{step_name}/tests"] if step_name else []):
        try:
            files = input_files(task_dir, directory)
        except IntegrityError as error:
            raise TrialAbortedError("task-invalid", str(error)) from error
        if files:
            found = found or "test.sh" in files
            archive.tree(task_dir / directory, files, "/tests", frozenset(["test.sh"]))
    return None if found else "tests/test.sh does not exist (or .harborignore leaves it out)"


def _log(session: Session, path: str, result: ExecResult) -> str:
    found = session.engine.read(session.container, path, session.limits.output_mb << 20)
    return tail(found.data.decode(errors="replace") if found is not None and found.data else result.output)


def tail(text: str) -> str:
    """The last lines of a log, short enough for a message, without colours."""
    return "\n".join(_COLOUR.sub("", text[-_TAIL_BYTES:]).splitlines()[-_TAIL_LINES:])
