"""Trials in the job folders that Harbor writes (`jobs/<job>/<trial>/result.json`).

What has no reward, or was disturbed by an exception, is an anomaly with its cause, never a reward of 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.scoring.errors import ScoringError

#: How far below a given folder jobs may stand: jobs/<job>/<trial>.
_DEPTH = 3
_RESULT = "result.json"


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial with a reward that counts."""

    task: str
    name: str
    agent: str
    reward: float
    checksum: str | None
    path: Path


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something that should have been a reward and is none. `task` is "" when it is not known."""

    task: str
    trial: str
    cause: str
    path: Path

    def to_json(self) -> dict[str, Any]:
        return {"task": self.task, "trial": self.trial, "cause": self.cause, "path": str(self.path)}


@dataclass(frozen=True, slots=True)
class TrialSet:
    """All trials of some folders."""

    trials: tuple[Trial, ...]
    anomalies: tuple[Anomaly, ...]


class Reader:
    """Reads groups of folders; a trial that was read before, by path or by id, is an error."""

    def __init__(self) -> None:
        self._paths: dict[Path, Path] = {}
        self._ids: dict[str, Path] = {}

    def read(self, folders: Sequence[Path]) -> TrialSet:
        """Read every trial below `folders`: jobs, folders of jobs, or single trials.

        Raises:
            ScoringError: a folder is missing or holds no trial, or a trial is given twice.
        """
        trials: list[Trial] = []
        anomalies: list[Anomaly] = []
        for folder in folders:
            if not folder.is_dir():
                raise ScoringError("there is no such folder", path=folder)
            found = 0
            for entry in self._entries(folder):
                found += 1
                (trials if isinstance(entry, Trial) else anomalies).append(entry)  # type: ignore[arg-type]
            if not found:
                raise ScoringError(
                    "holds no trial of a Harbor job", path=folder, hint="give a folder below jobs/"
                )
        return TrialSet(tuple(trials), tuple(anomalies))

    def _entries(self, folder: Path) -> Iterator[Trial | Anomaly]:
        yield from self._visit(folder, _DEPTH)

    def _visit(self, folder: Path, depth: int) -> Iterator[Trial | Anomaly]:
        path = folder / _RESULT
        document = _load(path) if path.is_file() else None
        if isinstance(document, str):
            yield Anomaly("", folder.name, document, path)
            return
        if document is not None and "trial_name" in document:
            self._remember(path, document)
            yield _read_trial(path, document)
            return
        if document is None and _is_trial_folder(folder):
            yield Anomaly("", folder.name, "the trial has no result.json: it did not end", folder)
            return
        if depth == 0:
            return
        seen = 0
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.is_symlink():
                for entry in self._visit(child, depth - 1):
                    seen += 1
                    yield entry
        if document is not None:
            yield from _missing_trials(folder, document, seen)

    def _remember(self, path: Path, document: Mapping[str, Any]) -> None:
        real = path.resolve()
        identity = document.get("id")
        first = self._paths.get(real) or (self._ids.get(identity) if isinstance(identity, str) else None)
        if first is not None:
            raise ScoringError(
                f"the same trial is given twice, first as {first}", path=path, hint="name each job once"
            )
        self._paths[real] = path
        if isinstance(identity, str):
            self._ids[identity] = path


def read_jobs(folders: Sequence[Path]) -> TrialSet:
    """Read one group of folders.

    Raises:
        ScoringError: a folder is missing or holds no trial, or a trial is given twice.
    """
    return Reader().read(folders)


def _load(path: Path) -> dict[str, Any] | str:
    """A JSON object, or why there is none."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        return f"{_RESULT} cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        return f"{_RESULT} is no JSON"
    return document if isinstance(document, dict) else f"{_RESULT} is no object"


def _is_trial_folder(folder: Path) -> bool:
    names = {entry.name for entry in folder.iterdir()}
    return "trial.log" in names or ("config.json" in names and "job.log" not in names and "__" in folder.name)


def _missing_trials(folder: Path, job: Mapping[str, Any], seen: int) -> Iterator[Anomaly]:
    """A job that planned more trials than it left folders for, as when a task's config was not readable."""
    planned = job.get("n_total_trials")
    if isinstance(planned, int) and planned != seen:
        yield Anomaly("", folder.name, f"the job planned {planned} trials and has {seen}", folder / _RESULT)


def _read_trial(path: Path, document: Mapping[str, Any]) -> Trial | Anomaly:
    task = str(document.get("task_name") or "")
    name = str(document.get("trial_name") or path.parent.name)
    if not task:
        return Anomaly("", name, "the trial names no task", path)
    exception = document.get("exception_info")
    if isinstance(exception, Mapping):
        kind = str(exception.get("exception_type") or "an exception")
        reward = _reward(document)
        graded = f"; its reward of {reward:g} does not count" if isinstance(reward, float) else ""
        return Anomaly(task, name, f"{kind}{graded}", path)
    reward = _reward(document)
    if isinstance(reward, str):
        return Anomaly(task, name, reward, path)
    if document.get("reward_valid") is False:
        return Anomaly(task, name, f"Harbor holds the reward of {reward:g} for invalid", path)
    agent = document.get("agent_info")
    checksum = document.get("task_checksum")
    return Trial(
        task,
        name,
        str(agent.get("name", "")) if isinstance(agent, Mapping) else "",
        reward,
        checksum if isinstance(checksum, str) else None,
        path,
    )


def _reward(document: Mapping[str, Any]) -> float | str:
    """The reward, or why there is none. Of several rewards the one named "reward" counts."""
    verifier = document.get("verifier_result")
    rewards = verifier.get("rewards") if isinstance(verifier, Mapping) else None
    if not isinstance(rewards, Mapping) or not rewards:
        return "the trial has no reward"
    if "reward" not in rewards and len(rewards) > 1:
        return f"none of the rewards {', '.join(sorted(map(str, rewards)))} is named reward"
    value = rewards["reward"] if "reward" in rewards else next(iter(rewards.values()))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return f"the reward {value!r} is no number"
    return float(value)
