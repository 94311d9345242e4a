"""Results kept as they come, so that an interrupted run can go on where it stopped.

A line of JSON each: what the result depends on (a digest of model, prompt, fixture and ground truth), and the result.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harbor_author.scoring.bench.inputs import Agent, Fixture
from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.truth import GroundTruth

NAME = "unfinished.jsonl"


class Journal:
    """The journal of the runs in one output folder. Adding is safe from several threads."""

    def __init__(self, folder: Path, *, model: str, resume: bool, force: bool) -> None:
        """Open or begin the journal.

        Args:
            resume: keep the completed results of the run that was interrupted.
            force: begin anew although there is such a run.

        Raises:
            ScoringError: there is an interrupted run and neither is asked for, or the folder cannot be written.
        """
        self.path = folder / NAME
        self._model = model
        self._lock = threading.Lock()
        self._known: dict[str, Mapping[str, Any]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                if resume:
                    self._known = _read(self.path)
                elif force:
                    self.path.unlink()
                else:
                    raise ScoringError(
                        "a run was interrupted here",
                        path=self.path,
                        hint="--resume goes on with it, --force begins anew",
                    )
            # A last line that was cut off must not run into the next one.
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            if os.fstat(self._file).st_size:
                os.write(self._file, b"\n")
        except OSError as error:
            raise ScoringError(f"cannot be written: {error.strerror}", path=self.path) from error

    def _digest(self, agent: Agent, fixture: Fixture, truth: GroundTruth | None) -> str:
        parts = (
            self._model,
            agent.name,
            agent.prompt,
            fixture.key,
            fixture.text,
            truth.to_json() if truth else None,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def find(self, agent: Agent, fixture: Fixture, truth: GroundTruth | None) -> Mapping[str, Any] | None:
        """The completed result of the interrupted run, if nothing that it depends on has changed."""
        return self._known.get(self._digest(agent, fixture, truth))

    def add(
        self, agent: Agent, fixture: Fixture, truth: GroundTruth | None, result: Mapping[str, Any]
    ) -> None:
        """Keep a result."""
        line = json.dumps({"digest": self._digest(agent, fixture, truth), "result": result}) + "\n"
        with self._lock:
            os.write(self._file, line.encode())

    def close(self) -> None:
        """Leave the journal for a later run to go on with."""
        os.close(self._file)

    def finish(self) -> None:
        """Remove the journal: its results are in the reports."""
        self.close()
        self.path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Mapping[str, Any]]:
    known = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
            digest, result = entry["digest"], entry["result"]
            completed = result["completion"] == "completed"
        except (ValueError, TypeError, KeyError):
            continue  # a line that was cut off
        if completed:
            known[digest] = result
    return known
