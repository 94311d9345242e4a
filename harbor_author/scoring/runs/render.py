"""Summaries of runs as tables: rows for a terminal, Markdown, and a page of HTML without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from harbor_author.scoring.runs.summary import DIRECTIONS, Comparison, Summary

Rows = list[list[str]]
Section = tuple[str, Rows, list[str]]


def number(value: float | None) -> str:
    """A reward with three decimals at most."""
    return "n/a" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def signed(value: float | None) -> str:
    """A difference of rewards."""
    return "n/a" if value is None else ("+" if value > 0 else "") + number(value)


def sections(summaries: Sequence[Summary], comparison: Comparison | None) -> list[Section]:
    """(title, table with its header, lines below it) of everything that there is to show."""
    shown = [_summary_section(summary) for summary in summaries]
    if comparison is not None:
        shown.append(_comparison_section(comparison))
    anomalies = [
        [summary.label, anomaly.task or "-", anomaly.trial, anomaly.cause]
        for summary in summaries
        for anomaly in summary.anomalies
    ]
    if anomalies:
        shown.append(("Anomalies", [["group", "task", "trial", "cause"], *anomalies], []))
    return shown


def _summary_section(summary: Summary) -> Section:
    rows = [["task", "trials", "mean", "median", "min", "max", "perfect", "anomalies"]]
    for task in summary.tasks:
        values = map(number, (task.mean, task.median, task.min, task.max))
        rows.append(
            [task.task, str(task.trials), *values, f"{task.perfect}/{task.trials}", str(task.anomalies)]
        )
    agents = f" by {', '.join(summary.agents)}" if summary.agents else ""
    line = (
        f"{len(summary.tasks)} tasks, {summary.trials} trials{agents}; mean {number(summary.mean)}, "
        f"{summary.perfect} perfect, {len(summary.anomalies)} anomalies"
    )
    return summary.label, rows, [line]


def _comparison_section(comparison: Comparison) -> Section:
    rows = [["task", "base", "now", "delta", ""]]
    for pair in comparison.pairs:
        rows.append([pair.task, number(pair.base), number(pair.now), signed(pair.delta), pair.direction])
    counts = ", ".join(f"{comparison.count(one)} {one}" for one in DIRECTIONS)
    lines = [f"{counts}; mean difference {signed(comparison.mean_delta)}"]
    lines += [f"not compared: {task} ({reason})" for task, reason in comparison.unpaired]
    lines += [f"the task itself differs between the groups: {task}" for task in comparison.changed_tasks]
    return "Comparison by medians", rows, lines


def as_text(
    shown: Sequence[Section],
    *,
    table: Callable[[Sequence[Sequence[str]]], str],
    printable: Callable[[str], str],
) -> str:
    """For a terminal."""
    parts = []
    for title, rows, lines in shown:
        parts.append("\n".join([printable(title), table(rows), *map(printable, lines)]))
    return "\n\n".join(parts)


def as_markdown(shown: Sequence[Section]) -> str:
    """As Markdown tables."""
    return "\n\n".join("\n".join(_markdown_lines(*section)) for section in shown)


def _markdown_lines(title: str, rows: Rows, lines: list[str]) -> Iterator[str]:
    yield f"## {_markdown(title)}"
    yield ""
    for index, row in enumerate(rows):
        yield f"| {' | '.join(map(_markdown, row))} |"
        if index == 0:
            yield "|" + "---|" * len(row)
    yield ""
    for line in lines:
        yield f"- {_markdown(line)}"


def _markdown(text: str) -> str:
    kept = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#" else character for character in kept)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Summary of runs</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .25rem .75rem; border-bottom: 1px solid #8886; text-align: left; }}
td {{ font-variant-numeric: tabular-nums; }}
.improved {{ color: #1a7f37; }}
.regressed {{ color: #cf222e; }}
:root {{ color-scheme: light dark; }}
</style>
<h1>Summary of runs</h1>
{body}
</html>
"""


def as_html(shown: Sequence[Section]) -> str:
    """As one page that loads nothing."""
    return _PAGE.format(body="\n".join(_html_section(*section) for section in shown))


def _html_section(title: str, rows: Rows, lines: list[str]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    body = "\n".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows[1:])
    below = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return (
        f"<section><h2>{escape(title)}</h2>\n<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"
        f"<ul>{below}</ul></section>"
    )


def _html_cell(text: str) -> str:
    mark = f' class="{text}"' if text in ("improved", "regressed") else ""
    return f"<td{mark}>{escape(text)}</td>"
