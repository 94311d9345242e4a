"""The report as one HTML file: no network, no script, everything inside."""

from __future__ import annotations

import shlex
from itertools import groupby
from pathlib import Path

from harbor_author.output.text import printable
from harbor_author.report import charts
from harbor_author.report.model import SuiteView, TaskView

GENERATOR = '<meta name="generator" content="author report">'


def html(suite: SuiteView) -> str:
    """The whole page. What comes from a task is escaped; control characters are shown, not obeyed."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clean": printable,
        "sh": shlex.quote,
        "diff_class": _diff_class,
        "state_class": _state_class,
        "state_words": _state_words,
        "finding_words": _finding_words,
        # The charts escape what they are given.
        "separation": lambda task: Markup(charts.separation(task.bars, ident=f"{task.anchor}-s")),  # noqa: S704
        "timeline": lambda task: Markup(charts.timeline(task.bars, ident=f"{task.anchor}-z")),  # noqa: S704
        "heat_map": lambda task: Markup(charts.heat_map(task.heat_map, ident=f"{task.anchor}-m")),  # noqa: S704
    }
    ordered = sorted(suite.tasks, key=lambda task: task.series)
    return environment.get_template("page.html.j2").render(
        suite=suite,
        generator=GENERATOR,
        style=(Path(__file__).parent / "style.css").read_text(encoding="utf-8"),
        figures=_figures(suite),
        by_series=[(series, list(tasks)) for series, tasks in groupby(ordered, key=lambda task: task.series)],
        covered=sum(1 for _, tasks in suite.cards.values() if tasks),
    )


def _figures(suite: SuiteView) -> list[tuple[str, str, str]]:
    total = len(suite.tasks)
    proved = sum(1 for task in suite.tasks if task.state == "current" and task.verdict == "pass")
    stale = sum(1 for task in suite.tasks if task.state in ("stale", "broken"))
    failed = sum(1 for task in suite.tasks if task.state == "current" and task.verdict in ("fail", "error"))
    errors = sum(task.counts["error"] for task in suite.tasks)
    warnings = sum(task.counts["warning"] for task in suite.tasks)
    figures = [
        ("Tasks", str(total), "plain"),
        ("Proved and current", f"{proved} of {total}", "pass" if proved == total else "error"),
        ("Proofs stale", str(stale), "error" if stale else "pass"),
        ("Proofs failed", str(failed), "fail" if failed else "pass"),
        ("Errors found", str(errors), "fail" if errors else "pass"),
        ("Warnings", str(warnings), "error" if warnings else "pass"),
    ]
    if suite.cards:
        covered = sum(1 for _, tasks in suite.cards.values() if tasks)
        kind = "pass" if covered == len(suite.cards) else "error"
        figures.append(("Cards covered", f"{covered} of {len(suite.cards)}", kind))
    return figures


def _state_words(task: TaskView) -> str:
    if task.state == "missing":
        return "not proved"
    return task.verdict if task.state == "current" else f"{task.verdict}, {task.state}"


def _state_class(task: TaskView) -> str:
    if task.state == "missing":
        return "none"
    if task.state != "current":
        return "error"
    return task.verdict if task.verdict in ("pass", "fail", "error") else "error"


def _finding_words(task: TaskView) -> str:
    words = [
        f"{count} {kind}{'s' if count > 1 else ''}"
        for kind, count in task.counts.items()
        if count and kind != "note"
    ]
    return ", ".join(words) or "none"


def _diff_class(line: str) -> str:
    if line.startswith(("@@", "+++", "---")):
        return "place-mark"
    return {"+": "added", "-": "removed"}.get(line[:1], "same")


def is_ours(path: Path) -> bool:
    """Whether a file is a report that we made, and so may be made anew."""
    with path.open("rb") as stream:
        return GENERATOR.encode() in stream.read(2048)
