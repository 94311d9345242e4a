"""The trials of a proof that is not finished, kept on this machine: `--resume` takes them up after an interrupt.

One file a task in the user's cache, gone when its proof is finished. A trial counts again only while everything that
it depends on is the same: the task's digests and its image, the meaning of a trial, and the very submission.
"""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from harbor_author.integrity.cache import cache_path, keep_json, load_json
from harbor_author.proof.causes import NOT_THE_TASK
from harbor_author.proof.programme import Planned
from harbor_author.proof.receipts import TRIAL_SEMANTICS, Inputs
from harbor_author.proof.reward import Check
from harbor_author.proof.verdict import Trial

_FORMAT = 1


class KeptTrials:
    """The finished trials of one task's proof. Losing them costs time and nothing else, so no error leaves here.

    Args:
        take_up: whether those of an interrupted proof count; else they are forgotten.
    """

    def __init__(self, task_dir: Path, inputs: Inputs, image: str, *, take_up: bool) -> None:
        bound = json.dumps([_FORMAT, TRIAL_SEMANTICS, image, inputs.document()], sort_keys=True)
        self._key = hashlib.sha256(bound.encode()).hexdigest()
        name = hashlib.sha256(str(task_dir.resolve()).encode()).hexdigest()[:24]
        self._path = cache_path("unfinished", f"{name}.json")
        self._lock = threading.Lock()
        self._trials: dict[str, dict[str, Any]] = self._read() if take_up else {}

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            document = load_json(self._path)
            trials: dict[str, dict[str, Any]] = document["trials"] if document["key"] == self._key else {}
        except (KeyError, TypeError):
            return {}
        return trials if isinstance(trials, dict) else {}

    def find(self, plan: Planned) -> Trial | None:
        """What the very same trial gave before the interrupt."""
        try:
            return _trial(self._trials[_identity(plan)])
        except (KeyError, TypeError, AttributeError):
            return None

    def add(self, plan: Planned, trial: Trial) -> None:
        """Keep a trial, unless it says something of this machine rather than of the task."""
        if trial.cause in NOT_THE_TASK or trial.verdict == "skip":
            return
        with self._lock:
            self._trials[_identity(plan)] = asdict(trial)
            keep_json(self._path, {"key": self._key, "trials": self._trials})

    def forget(self) -> None:
        """The proof is finished."""
        with self._lock, suppress(OSError):
            self._path.unlink()


def _identity(plan: Planned) -> str:
    """A digest of all that a trial's plan says. The files of its source are the task's, so among the inputs."""
    submission = plan.submission
    digest = hashlib.sha256()
    for part in (
        submission.name,
        submission.script,
        submission.source.name if submission.source else None,
        submission.after,
        [
            (name, None if data is None else hashlib.sha256(data).hexdigest())
            for name, data in sorted(submission.overlay.items())
        ],
        plan.expectation,
        plan.advisory,
        plan.offline,
        plan.clock,
        plan.inspect,
    ):
        digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()


def _trial(document: dict[str, Any]) -> Trial:
    """A trial from what `asdict` made of it."""
    known = {field.name for field in fields(Trial)}
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
    }
    values["checks"] = tuple(Check(**check) for check in document["checks"])
    return Trial(**{key: value for key, value in values.items() if key in known})
