"""The report as one HTML file: no network, no script, everything inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from harbor_author.output.text import printable
from harbor_author.report import charts
from harbor_author.report.apart import by_parts
from harbor_author.report.model import SuiteView, TaskView

if TYPE_CHECKING:
    from markupsafe import Markup

GENERATOR = '<meta name="generator" content="author report">'
#: State of a task's proof -> its words. The keys are classes of the style sheet.
STATES = {
    "pass": "proved",
    "fail": "failed",
    "error": "error",
    "stale": "stale",
    "broken": "broken receipt",
    "none": "not proved",
}
#: A task between those around it.
_Place = tuple[TaskView | None, TaskView, TaskView | None]
_CODE = re.compile(r"`([^`]+)`")


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
        "code": _code,
        "proof": proof_of,
        "finding_words": _finding_words,
        "runs": _runs,
        # The charts escape what they are given.
        "separation": lambda task: Markup(charts.separation(task.drawn, ident=f"{task.anchor}-s")),  # noqa: S704
        "timeline": lambda task: Markup(charts.timeline(task.drawn, ident=f"{task.anchor}-z")),  # noqa: S704
        "heat_map": lambda task: Markup(charts.heat_map(task.heat_map, ident=f"{task.anchor}-m")),  # noqa: S704
        "states": lambda row: Markup(charts.states(row[2], ident=f"states-{row[0]}", words=row[3])),  # noqa: S704
    }
    # Made before the processes part.
    article = environment.get_template("task.html.j2")

    def articles(pages: Sequence[_Place]) -> list[str]:
        return [
            article.render(before=before, task=task, after=after, states=STATES)
            for before, task, after in pages
        ]

    ordered = sorted(suite.tasks, key=lambda task: task.series)
    by_series = [(series, list(tasks)) for series, tasks in groupby(ordered, key=lambda task: task.series)]
    covered = sum(1 for _, tasks in suite.cards.values() if tasks)
    return environment.get_template("page.html.j2").render(
        suite=suite,
        generator=GENERATOR,
        style=(Path(__file__).parent / "style.css").read_text(encoding="utf-8"),
        figures=_figures(suite),
        states=STATES,
        shown_states={
            state: words
            for state, words in STATES.items()
            if state in ("pass", "none") or any(proof_of(task) == state for task in suite.tasks)
        },
        series_rows=[_series_row(series, tasks) for series, tasks in by_series],
        by_series=by_series,
        articles=Markup("\n").join(Markup(text) for text in by_parts(articles, _pages(ordered))),  # noqa: S704
        anchors={task.label: task.anchor for task in suite.tasks},
        covered=covered,
        cards=[
            ("Not covered", [entry for entry in suite.cards.items() if not entry[1][1]]),
            ("Covered", [entry for entry in suite.cards.items() if entry[1][1]]),
        ],
    )


def _pages(tasks: Sequence[TaskView]) -> list[_Place]:
    """Each task with the one before it and the one after."""
    return list(zip([None, *tasks[:-1]], tasks, [*tasks[1:], None], strict=True)) if tasks else []


def proof_of(task: TaskView) -> str:
    """The state of a task's proof: a key of `STATES`."""
    if task.state == "missing":
        return "none"
    if task.state in ("stale", "broken"):
        return task.state
    return task.verdict if task.verdict in ("pass", "fail", "error") else "error"


def _series_row(series: str, tasks: Sequence[TaskView]) -> tuple[str, int, dict[str, int], str]:
    counts = dict.fromkeys(STATES, 0)
    for task in tasks:
        counts[proof_of(task)] += 1
    words = ", ".join(f"{count} {STATES[state]}" for state, count in counts.items() if count)
    return series, len(tasks), counts, f"series {series}: {words}"


def _figures(suite: SuiteView) -> list[tuple[str, str, str]]:
    total = len(suite.tasks)
    found = [proof_of(task) for task in suite.tasks]
    proved, stale = found.count("pass"), found.count("stale") + found.count("broken")
    failed = found.count("fail") + found.count("error")
    errors = sum(task.counts["error"] for task in suite.tasks)
    warnings = sum(task.counts["warning"] for task in suite.tasks)
    figures = [
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


def _finding_words(task: TaskView) -> str:
    words = [
        f"{count} {kind}{'s' if count > 1 else ''}"
        for kind, count in task.counts.items()
        if count and kind != "note"
    ]
    return ", ".join(words) or "none"


def _code(text: str) -> Markup:
    """Text with what stands between backticks as code."""
    from markupsafe import Markup, escape

    clean = printable(text)
    parts, end = [], 0
    for match in _CODE.finditer(clean):
        parts += [escape(clean[end : match.start()]), Markup("<code>{}</code>").format(match[1])]
        end = match.end()
    return Markup("").join([*parts, escape(clean[end:])])


def _runs(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Lines of a difference as runs of one class each: a span a line would make the page half as large again."""
    return [(kind, "\n".join(run)) for kind, run in groupby(map(printable, lines), key=_diff_class)]


def _diff_class(line: str) -> str:
    if line.startswith("@@"):
        return "place-mark"
    return {"+": "added", "-": "removed"}.get(line[:1], "same")


def is_ours(path: Path) -> bool:
    """Whether a file is a report that we made, and so may be made anew."""
    with path.open("rb") as stream:
        return GENERATOR.encode() in stream.read(2048)
