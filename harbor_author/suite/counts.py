"""Sentences of a document that count a suite's tasks: found by their shape or by markers, and set right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harbor_author.suite.task_facts import FULL_MARKS

_N = r"((?<![\d,])\d[\d,]*+)"
#: Between a number and its noun: emphasis and up to two words, on one line.
_WORDS = r"(?:\**\s+(?:[A-Za-z][\w-]*\s+){0,2}?)"
_MARKED = re.compile(r"(<!--\s*count:([A-Za-z-]+)\s*-->)(.*?)(<!--\s*/count\s*-->)")
_TOTAL = re.compile(
    rf"((?:\btotal|总分|总计|合计)\s*+[:：]?\s*+\**\s*+){_N}(\**\s*[(（]\s*\**){_N}(\**\s*(?:tasks?|个任务|道题|题)\s*[x×*]\s*100)",
    re.IGNORECASE,
)
_WRITTEN = re.compile(rf"{_N}(?={_WORDS}?\**\s*(?:written|书面|笔试))", re.IGNORECASE)
_HANDS_ON = re.compile(rf"{_N}(?={_WORDS}?\**\s*(?:hands-on|实操|动手))", re.IGNORECASE)
_TASKS = re.compile(
    r"(\b(?:contains?|holds?|has|have|comprises?|includes?|consists? of|currently|total(?: of)?|all)"
    rf"\s+(?:[A-Za-z]+\s+)?\**|(?:共有?|包含|现有|合计|收录)\s*\**)(?<![\d,.]){_N}"
    rf"(?=\**(?:{_WORDS}tasks\b|\s*(?:个任务|道题|道任务)))",
    re.IGNORECASE,
)
_BARE_TASKS = re.compile(
    rf"(?<![\w.,-]){_N}(?!\**\s+(?:written|hands-on))(?={_WORDS}tasks\b|\**\s*(?:个任务|道题|道任务))",
    re.IGNORECASE,
)
#: A sentence about a part of the suite counts that part.
_PARTIAL = re.compile(r"\b(?:series|each|every|per)\b|系列|每", re.IGNORECASE)
_NEXT = re.compile(r"\bnext free\b|\bnext available\b|下一个(?:可用|空闲)", re.IGNORECASE)
_ID = re.compile(r"\b([A-Z])([1-9]\d*)\b(?!-)")


@dataclass(frozen=True)
class Counts:
    """The true numbers: `series` tasks of each, `next_number` the next free number of each."""

    total: int
    written: int
    hands_on: int
    series: Mapping[str, int]
    next_number: Mapping[str, int]

    def named(self, name: str) -> int | None:
        """The number for a marker `<!-- count:NAME -->`: total, written, hands-on, points, or a series' letter."""
        known = {
            "total": self.total,
            "written": self.written,
            "hands-on": self.hands_on,
            "points": self.total * FULL_MARKS,
        }
        return known.get(name, self.series.get(name))


def corrected(line: str, counts: Counts) -> str:
    """`line` with every count in it set right; all else as it is.

    Shapes: a marker; `Total 5200 (52 tasks x 100`; a split, `20 written` and `32 hands-on` on one line, and `52 tasks`
    beside it; `contains 52 tasks` and the like; the IDs of a line that tells the next free ones.
    """
    line = _MARKED.sub(lambda match: _marked(match, counts), line)
    if _PARTIAL.search(line):
        return line
    line = _TOTAL.sub(
        lambda match: (
            match[1]
            + _like(match[2], counts.total * FULL_MARKS)
            + match[3]
            + _like(match[4], counts.total)
            + match[5]
        ),
        line,
    )
    if _WRITTEN.search(line) and _HANDS_ON.search(line):
        line = _number(_WRITTEN, line, counts.written)
        line = _number(_HANDS_ON, line, counts.hands_on)
        if not _TOTAL.search(line):
            line = _number(_BARE_TASKS, line, counts.total)
    else:
        line = _TASKS.sub(lambda match: match[1] + _like(match[2], counts.total), line)
    if _NEXT.search(line):
        line = _ID.sub(lambda match: _next_id(match, counts), line)
    return line


def _marked(match: re.Match[str], counts: Counts) -> str:
    number = counts.named(match[2])
    return match[0] if number is None else f"{match[1]}{number}{match[4]}"


def _number(pattern: re.Pattern[str], line: str, number: int) -> str:
    replace: Callable[[re.Match[str]], str] = lambda match: _like(match[1], number)  # noqa: E731
    return pattern.sub(replace, line, count=1)


def _like(old: str, number: int) -> str:
    """`number` written as `old` is: with or without commas."""
    return f"{number:,}" if "," in old else str(number)


def _next_id(match: re.Match[str], counts: Counts) -> str:
    number = counts.next_number.get(match[1])
    return match[0] if number is None else f"{match[1]}{number}"
