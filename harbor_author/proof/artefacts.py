"""What a trial that did not pass leaves for its author: `--artifacts DIR`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from harbor_author.integrity import ArtefactFolder
from harbor_author.proof.trial import TrialRun
from harbor_author.proof.verdict import Trial


def save_artefacts(folder: Path, task: str, task_dir: Path, trial: Trial, run: TrialRun) -> None:
    """Write a trial's outputs, ledger and diff below `folder`, redacted and cut (see `ArtefactFolder`).

    Raises:
        IntegrityError: the folder cannot be written.
    """
    store = ArtefactFolder(folder)
    known = {key: value for key, value in asdict(trial).items() if key not in ("judge_log", "solve_log")}
    checks = [asdict(check) for check in trial.checks]
    texts = {
        "trial.json": json.dumps(known, ensure_ascii=False, indent=2),
        "checks.json": json.dumps(checks, ensure_ascii=False, indent=2) if checks else "",
        "judge-output.txt": run.judge.output,
        "oracle.txt": trial.solve_log,
        "fixture.diff": run.diff,
        "build.log": run.log,
    }
    for kind, text in texts.items():
        if text:
            store.save(task, trial.name, kind, text, paths={task_dir: "<task>", Path.home(): "~"})
