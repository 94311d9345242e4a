"""The probe before the trials: the untouched fixture's own tests must give what the task declares."""

from __future__ import annotations

import shlex

from harbor_author.integrity import IntegrityError, deviations, observe, read_baseline
from harbor_author.proof.contract import tail
from harbor_author.proof.errors import TaskRefusedError
from harbor_author.proof.session import TrialAbortedError, open_session
from harbor_author.proof.trial import FIXTURE, Bench, denied

_TIMEOUT_S = 300.0


def probe_baseline(bench: Bench) -> None:
    """Run `[metadata.baseline] command` in a fresh container's fixture, and compare; nothing without that table.

    Raises:
        TaskRefusedError: `baseline-drifted`, with the tests' output; `task-invalid` when the table is wrong; another
            cause when the container broke.
    """
    metadata = bench.config.document.get("metadata")
    declared = metadata.get("baseline") if isinstance(metadata, dict) else None
    if declared is None:
        return
    path = bench.task_dir / "task.toml"
    try:
        baseline = read_baseline(declared)
    except IntegrityError as error:
        raise TaskRefusedError("task-invalid", error.message, path=path) from error
    try:
        with open_session(
            bench.engine,
            bench.image,
            bench.config.environment,
            task=bench.task,
            phases=(bench.config.agent.network_mode,),
            cancellation=bench.cancellation,
            limits=bench.limits,
            keep=bench.keep,
            remove=bench.remove,
        ) as session:
            command = f"cd {FIXTURE} && exec {shlex.join(baseline.command)}"
            result = session.exec(command, user=bench.config.agent.user, timeout_s=_TIMEOUT_S)
    except TrialAbortedError as error:
        refused = TaskRefusedError(error.cause, f"the probe of the baseline: {error.message}")
        refused.log = error.log
        raise refused from error
    observed = observe(result.output, result.exit_code or 0, cause=_broken(result.exit_code))
    found = deviations(baseline, observed)
    if found and denied(bench.config, result.output):
        raise TaskRefusedError(
            "new-privileges", "the probe of the baseline: a setuid program was stopped", path=path
        )
    if found:
        refused = TaskRefusedError(
            "baseline-drifted", f"the untouched fixture is not as declared: {'; '.join(found)}", path=path
        )
        refused.log = tail(result.output)
        raise refused


def _broken(status: int | None) -> str:
    """Why a status is no verdict of the tests, in words; "" when it is one."""
    if status is None:
        return f"stopped after {_TIMEOUT_S:g} s"
    if status > 128:
        return f"ended by signal {status - 128}"
    return "the command cannot be run" if status in (126, 127) else ""
