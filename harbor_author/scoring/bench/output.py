"""A finished run as files: two names for each report, one with the time of the run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harbor_author.scoring.bench.kinds import Kind
from harbor_author.scoring.critic_report import build_critic_report, render_critic_markdown
from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.jsnumber import js_json
from harbor_author.scoring.reports import build_report, render_markdown


def comparison(
    results: Sequence[Mapping[str, Any]], kind: Kind, agents: Sequence[str], *, model: str, now: datetime
) -> tuple[dict[str, Any], str]:
    """The report of a run as a JSON document and as Markdown. The first two agents are compared.

    Raises:
        ScoringError: one agent has two results of one fixture.
    """
    timestamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"
    if kind.name == "harsh-critic":
        completed = [result for result in results if result["completion"] == "completed"]
        document = build_critic_report(completed, model=model, timestamp=timestamp)
        document["results"] = list(results)
        return document, render_critic_markdown({**document, "results": completed})
    pair = (agents[0], agents[1] if len(agents) > 1 else agents[0])
    document = build_report(results, *pair, model=model, timestamp=timestamp)
    return document, render_markdown(document, *pair)


def write_reports(document: Mapping[str, Any], markdown: str, folder: Path, *, now: datetime) -> list[Path]:
    """Write `results_<time>.json`, `report_<time>.md`, and the same as `results.json` and `report.md`.

    Raises:
        ScoringError: a file cannot be written.
    """
    stamp = now.astimezone(UTC).strftime("%Y-%m-%d_%H-%M-%S")
    text = js_json(document)
    written = []
    for name, content in (
        (f"results_{stamp}.json", text),
        (f"report_{stamp}.md", markdown),
        ("results.json", text),
        ("report.md", markdown),
    ):
        path = folder / name
        try:
            _write(path, content)
        except OSError as error:
            raise ScoringError(f"cannot be written: {error.strerror}", path=path) from error
        written.append(path)
    return written


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".bench-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("utf-8", "replace"))
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
