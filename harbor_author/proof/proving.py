"""Running what has to be proved: trials over one pool, the verdict, the receipt, and leaving nothing behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from harbor_author.errors import AuthorError
from harbor_author.integrity.errors import IntegrityError
from harbor_author.output.text import counted
from harbor_author.proof import receipts
from harbor_author.proof.artefacts import save_artefacts
from harbor_author.proof.baseline import probe_baseline
from harbor_author.proof.causes import CAUSES, NOT_THE_TASK
from harbor_author.proof.contract import tail
from harbor_author.proof.errors import TaskRefusedError
from harbor_author.proof.pool import Job, Pool
from harbor_author.proof.prepare import PreparedTask, prepare, source_changed
from harbor_author.proof.programme import Assessment, Planned, Programme
from harbor_author.proof.progress import Progress
from harbor_author.proof.resume import KeptTrials
from harbor_author.proof.session import Cancellation
from harbor_author.proof.trial import Bench, TrialRun, run_trial
from harbor_author.proof.verdict import Trial
from harbor_author.proof.workflow import KEPT_DETAILS, Options, ProofResult, outcome
from harbor_author.sandbox import Engine, EngineError, connect
from harbor_author.sandbox.ownership import remove_abandoned, remove_own
from harbor_author.sandbox.removal import Removals
from harbor_author.suite import Task

#: Of the engine's memory, what trials may take together.
_MEMORY_SHARE = 0.8
_NO_ROOM = ("disk-limit", "disk-full")
#: After an interrupt: trials end at once, since their containers are gone; a build ends with this process.
_DRAIN_S = 5.0
#: After an interrupt: an engine that hangs is not waited for; the next run removes what it kept.
_REMOVAL_S = 20.0


class Proof:
    """One run over tasks that each need it."""

    def __init__(
        self, tasks: Sequence[Task], options: Options, progress: Progress, engine: Engine | None
    ) -> None:
        self._tasks = tasks
        self._options = options
        self._progress = progress
        self._engine = engine
        self._cancellation = Cancellation()
        self._results: dict[int, ProofResult] = {}
        self._jobs = options.jobs or max(2, os.cpu_count() or 2)
        self._turns = threading.Semaphore(self._jobs)

    def run(self) -> list[ProofResult]:
        """Results in the order of the tasks."""
        engine = self._engine or connect()
        self._removals = Removals(engine)
        with _removing_all(engine, self._cancellation, self._removals):
            self._run_all(engine)
        return [self._results[index] for index in range(len(self._tasks))]

    def _run_all(self, engine: Engine) -> None:
        info = engine.info()
        # One more than may run scripts at once, so that a container is up by the time that there is a turn for it.
        jobs = self._jobs + (self._jobs > 1)
        pool = Pool(jobs=jobs, memory_mb=int(info.memory_mb * _MEMORY_SHARE), cancellation=self._cancellation)
        for index in range(len(self._tasks)):
            # Ranked behind every trial, so that what is begun is finished before more is begun.
            pool.add(Job(partial(self._prepare, engine, pool, index), rank=1))
        try:
            pool.run()
        except BaseException:
            self._cancellation.cancel()
            with suppress(EngineError):
                remove_own(engine)
            pool.drain(_DRAIN_S)
            raise

    def _prepare(self, engine: Engine, pool: Pool, index: int) -> None:
        task = self._tasks[index]
        started = time.monotonic()
        self._progress.stage(task.label, "", "prepare")
        programme = self._options.programme()
        try:
            with self._turns:
                prepared = prepare(
                    engine,
                    task,
                    cancellation=self._cancellation,
                    keep=self._options.keep,
                    log=partial(self._progress.log, task.label),
                    remove=self._removals.remove,
                )
                probe_baseline(prepared.bench)
                planned = programme.first(task, prepared.bench)
            keep_diff = self._options.artefacts is not None
            bench = replace(prepared.bench, turns=self._turns, keep_diff=keep_diff)
            prepared = replace(prepared, bench=bench)
        except TaskRefusedError as error:
            self._refuse(index, error.cause, _text(error), tail(error.log), started)
            return
        except (AuthorError, OSError) as error:
            gone = not task.path.is_dir()
            cause = (
                "task-vanished"
                if gone
                else "engine-failed"
                if isinstance(error, EngineError)
                else "task-invalid"
            )
            self._refuse(index, cause, str(error), "", started)
            return
        if prepared.built.built:
            self._progress.stage(task.label, "", f"image built by the {prepared.built.builder} builder")
        run = _TaskRun(programme, started, self._kept_trials(task, prepared) if len(planned) > 2 else None)
        self._add_round(pool, prepared, index, run, planned)

    def _kept_trials(self, task: Task, prepared: PreparedTask) -> KeptTrials | None:
        if self._options.keep or not self._options.write:
            return None
        try:
            inputs = receipts.gather_inputs(
                task, prepared.built.bases, prepared.built.builder, with_package=False
            )
        except (AuthorError, OSError):
            return None  # said when the receipt is written
        bench = prepared.bench
        images = [bench.image.id, *(image.id for _, image in sorted(bench.verifier_images.items()))]
        return KeptTrials(task.path, inputs, " ".join(images), take_up=self._options.resume)

    def _add_round(
        self, pool: Pool, prepared: PreparedTask, index: int, run: _TaskRun, planned: Sequence[Planned]
    ) -> None:
        memory_mb = prepared.bench.config.environment.memory_mb or 0
        first = run.expect(len(planned))
        known = []
        for place, plan in enumerate(planned, first):
            trial = run.kept.find(plan) if run.kept is not None else None
            if trial is not None:
                known.append((place, plan, trial))
            else:
                pool.add(Job(partial(self._trial, pool, prepared, index, run, place, plan), memory_mb))
        for place, plan, trial in known:
            self._progress.done(self._tasks[index].label, plan.name, f"known: {outcome(trial)}")
            self._take(pool, prepared, index, run, place, trial)

    def _refuse(self, index: int, cause: str, message: str, log: str, started: float) -> None:
        label = self._tasks[index].label
        self._progress.done(label, "", cause)
        self._results[index] = ProofResult(
            label,
            "error",
            cause,
            message,
            CAUSES[cause].hint,
            log,
            duration_s=time.monotonic() - started,
        )

    def _trial(
        self, pool: Pool, prepared: PreparedTask, index: int, run: _TaskRun, place: int, plan: Planned
    ) -> None:
        label = self._tasks[index].label
        stage = partial(self._progress.stage, label, plan.name)
        raw = run_trial(
            prepared.bench,
            plan.submission,
            stage,
            offline=plan.offline,
            clock=plan.clock,
            inspect=plan.inspect,
        )
        if plan.submission.leaves_processes:
            raw = replace(raw, leftovers=())
        trial = plan.judge(raw, prepared.bench)
        if trial.cause in _NO_ROOM:
            self._removals.finish(_REMOVAL_S)  # its container may be what fills the disk: no other trial's fault
        if self._options.artefacts is not None and trial.verdict not in ("pass", "skip"):
            trial = self._keep(self._options.artefacts, prepared, label, trial, raw)
        self._progress.done(label, plan.name, outcome(trial))
        if run.kept is not None:
            run.kept.add(plan, trial)
        self._take(pool, prepared, index, run, place, trial)

    def _take(
        self, pool: Pool, prepared: PreparedTask, index: int, run: _TaskRun, place: int, trial: Trial
    ) -> None:
        if run.finished(place, trial):
            more = run.programme.more(run.trials)
            if more:
                self._add_round(pool, prepared, index, run, more)
            else:
                self._finish(prepared, index, run)

    def _keep(self, folder: Path, prepared: PreparedTask, label: str, trial: Trial, raw: TrialRun) -> Trial:
        try:
            save_artefacts(folder, label, prepared.bench.task_dir, trial, raw)
        except IntegrityError as error:
            return replace(trial, note=f"no artefacts were written: {error}")
        return trial

    def _finish(self, prepared: PreparedTask, index: int, run: _TaskRun) -> None:
        task, trials = self._tasks[index], run.trials
        assessment = run.programme.assess(trials)
        changed = source_changed(prepared)
        if changed is not None:
            cause = "contamination" if task.path.is_dir() else "task-vanished"
            was = f" (the trials gave {assessment.verdict}{': ' + assessment.cause if assessment.cause else ''})"
            assessment = Assessment("error", cause, changed + was, assessment.notes, assessment.details)
        first = next((trial for trial in trials if trial.cause == assessment.cause), None)
        result = ProofResult(
            task.label,
            assessment.verdict,
            assessment.cause,
            assessment.message or (f"{first.name}: {first.message}" if first else ""),
            (first.hint if first else CAUSES[assessment.cause].hint) if assessment.cause else "",
            trials=trials,
            notes=(*assessment.notes, *_users(prepared.bench, trials)),
            duration_s=time.monotonic() - run.started,
            details=assessment.details,
        )
        if self._options.write and assessment.cause not in NOT_THE_TASK | {"contamination"}:
            result = self._write(task, prepared, result)
        if run.kept is not None and assessment.cause not in NOT_THE_TASK:
            run.kept.forget()
        self._progress.done(task.label, "", assessment.verdict)
        self._results[index] = result

    def _write(self, task: Task, prepared: PreparedTask, result: ProofResult) -> ProofResult:
        try:
            inputs = receipts.gather_inputs(task, prepared.built.bases, prepared.built.builder)
            older = receipts.wider_receipt(task, inputs, (trial.name for trial in result.trials))
            written, notes = _joined(result, older)
            path = receipts.write_receipt(
                task,
                inputs,
                result.trials,
                verdict=written.verdict,
                cause=written.cause,
                extra=written.details,
                kept=older.trials if older is not None and written is not result else (),
            )
        except (IntegrityError, TaskRefusedError, OSError) as error:
            return replace(result, notes=(*result.notes, f"no receipt was written: {error}"))
        return replace(result, receipt=path, notes=(*result.notes, *notes))


class _TaskRun:
    """The trials of one task as they come in, in the order of its programme."""

    def __init__(self, programme: Programme, started: float, kept: KeptTrials | None = None) -> None:
        self.programme = programme
        self.kept = kept
        self.started = started
        self._trials: list[Trial | None] = []
        self._lock = threading.Lock()

    def expect(self, count: int) -> int:
        """Make place for a round; returns the first of its places."""
        with self._lock:
            self._trials += [None] * count
            return len(self._trials) - count

    def finished(self, place: int, trial: Trial) -> bool:
        """Keep a trial; True for the one that comes last."""
        with self._lock:
            self._trials[place] = trial
            return all(kept is not None for kept in self._trials)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All but those that had nothing to act on."""
        return tuple(trial for trial in self._trials if trial is not None and trial.verdict != "skip")


def _users(bench: Bench, trials: Sequence[Trial]) -> tuple[str, ...]:
    """Who ran the scripts, where one was denied something and they are not both root."""
    users = [
        phase.user or bench.image.user or "root" for phase in (bench.config.agent, bench.config.verifier)
    ]
    denied = any(
        trial.verdict != "pass" and "ermission denied" in trial.solve_log + trial.judge_log
        for trial in trials
    )
    if not denied or users == ["root", "root"]:
        return ()
    return (f"solve.sh ran as {users[0]}, test.sh as {users[1]}: [agent] and [verifier] user in task.toml",)


def _joined(result: ProofResult, older: receipts.Receipt | None) -> tuple[ProofResult, tuple[str, ...]]:
    """What a receipt says after a run of fewer trials than it has, and what to tell of it.

    The trials that were not run again still hold, and so does the verdict over them; not so where one of those that
    made it a failure was run again and passed.
    """
    if older is None:
        return result, ()
    again = {trial.name: trial.verdict for trial in result.trials}
    further = counted(len(older.names - again.keys()), "further trial")
    if any(row["verdict"] != "pass" and again.get(row["name"]) == "pass" for row in older.trials):
        return result, (f"the receipt had {further} whose verdict no longer holds: run the matrix again",)
    said = f"the receipt keeps {further} of an earlier run, on which nothing has changed"
    details = {key: older.document[key] for key in KEPT_DETAILS if key in older.document}
    joined = replace(result, details={**details, **result.details})
    if result.verdict == "pass" and older.verdict != "pass":
        cause = older.document.get("cause")
        joined = replace(joined, verdict=older.verdict, cause=cause if cause in CAUSES else None)
        said += f", and with them stays at {older.verdict.upper()} {joined.cause or ''}".rstrip()
    return joined, (said,)


@contextmanager
def _removing_all(engine: Engine, cancellation: Cancellation, removals: Removals) -> Iterator[None]:
    """First remove what dead processes left; at the end, whatever happened, what this one still has."""
    remove_abandoned(engine)
    try:
        yield
    finally:
        removals.finish(_REMOVAL_S if cancellation.cancelled else None)
        if cancellation.cancelled or removals.failed:
            with suppress(EngineError):
                remove_own(engine)


def _text(error: AuthorError) -> str:
    where = (
        f"{error.path}:{error.line}: "
        if error.path and error.line
        else f"{error.path}: "
        if error.path
        else ""
    )
    return where + error.message
