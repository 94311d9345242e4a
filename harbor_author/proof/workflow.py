"""Proving tasks: which need it, and what a current receipt remembers of the others.

What runs them is `proving`, which is loaded only then: a suite that has not changed is looked through in no time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harbor_author.integrity.errors import IntegrityError
from harbor_author.integrity.package import check_plain
from harbor_author.proof import receipts
from harbor_author.proof.causes import CAUSES
from harbor_author.proof.programme import Basic, ProgrammeFactory
from harbor_author.proof.progress import Progress, Silent
from harbor_author.proof.verdict import Trial
from harbor_author.sandbox.quick import image_ids
from harbor_author.suite import Task

if TYPE_CHECKING:
    from harbor_author.sandbox import Engine

#: What a programme or a runner adds to a receipt, and a current receipt gives back.
KEPT_DETAILS = ("repeats", "ablation", "runner")


@dataclass(frozen=True)
class ProofResult:
    """The proof of one task. `is_current`: nothing was run, the receipt holds; the trials are the receipt's."""

    task: str
    verdict: str
    cause: str | None
    message: str = ""
    hint: str = ""
    log: str = field(default="", repr=False)
    trials: tuple[Trial, ...] = ()
    is_current: bool = False
    notes: tuple[str, ...] = ()
    duration_s: float = 0.0
    receipt: Path | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """How to prove.

    Attributes:
        jobs: trials whose scripts run at once, while one container more is brought up; None: as many as there are
            processors, at least two.
        force: run also what a current receipt covers.
        resume: leave alone also what failed, while its receipt is current; take up an interrupted proof's trials.
        needs: trials that a receipt must have to cover this run.
        artefacts: a folder that gets the outputs of trials that did not pass.
    """

    jobs: int | None = None
    keep: bool = False
    force: bool = False
    resume: bool = False
    write: bool = True
    programme: ProgrammeFactory = Basic
    needs: tuple[str, ...] = ("untouched", "oracle")
    artefacts: Path | None = None


def oracle_check(
    tasks: Sequence[Task],
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> list[ProofResult]:
    """Prove tasks; results in the order of the tasks.

    An interrupt (KeyboardInterrupt in the calling thread) removes every container of this process, then goes on.

    Raises:
        EngineUnavailableError: something is to be run and no engine answers.
    """
    options = options or Options()
    remembered = _Remembered(options)
    results = [remembered.result(task) for task in tasks]
    pending = [task for task, result in zip(tasks, results, strict=True) if result is None]
    if pending:
        from harbor_author.proof.proving import Proof

        proved = iter(Proof(pending, options, progress or Silent(), engine).run())
        return [result or next(proved) for result in results]
    return [result for result in results if result is not None]


class _Remembered:
    """What receipts remember of earlier proofs. The engine is asked once for the same base images."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._base_ids: dict[tuple[str, ...], dict[str, str | None] | None] = {}

    def result(self, task: Task) -> ProofResult | None:
        """What the task's receipt says, when it is current; None: it must be proved."""
        if self._options.force or self._options.keep:
            return None
        path = task.path / receipts.FILE_NAME
        if not path.is_file():
            return None
        try:
            check_plain(task.path)
        except IntegrityError:
            return None  # whoever proves it says so
        names = tuple(receipts.known_bases(task))
        if names not in self._base_ids:
            self._base_ids[names] = image_ids(names)
        currency = receipts.check_receipt(task, self._base_ids[names], needs=self._options.needs)
        receipt = currency.receipt
        if currency.state != "current" or receipt is None:
            return None
        if receipt.verdict != "pass" and not self._options.resume:
            return None
        cause = receipt.document.get("cause")
        return ProofResult(
            task.label,
            receipt.verdict,
            cause if cause in CAUSES else None,
            trials=tuple(_remembered(trial) for trial in receipt.trials),
            is_current=True,
            notes=currency.notes,
            receipt=path,
            details={key: receipt.document[key] for key in KEPT_DETAILS if key in receipt.document},
        )


def outcome(trial: Trial) -> str:
    """One line on a trial, such as `reward 0, as expected` or `FAIL reward-too-low: ...`."""
    if trial.verdict == "pass":
        reward = f"reward {trial.reward:g}" if trial.reward is not None else "no reward"
        return f"{reward}, as expected ({trial.duration_s:.1f} s)"
    return f"{trial.verdict.upper()} {trial.cause}: {trial.message} ({trial.duration_s:.1f} s)"


def _remembered(document: Mapping[str, Any]) -> Trial:
    """A trial as the receipt has it."""
    return Trial(
        name=str(document.get("name")),
        verdict=str(document.get("verdict")),
        reward=document.get("reward"),
        expected=str(document.get("expected", "")),
        cause=document.get("cause"),
        score=document.get("score"),
        max=document.get("max"),
        leftovers=tuple(document.get("leftovers") or ()),
        duration_s=float(document.get("duration_s") or 0.0),
    )
