"""Task IDs: their grammar, ranges of them, and which number comes next."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harbor_author.suite.errors import SuiteError

_NAME = re.compile(r"(?P<series>[A-Z])(?P<number>[1-9]\d*)-(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)")
_ID = re.compile(r"(?P<series>[A-Z])(?P<number>[1-9]\d*)")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RANGE = re.compile(r"([A-Z])([1-9]\d*)(?:\s*-\s*([A-Z])?([1-9]\d*))?")
#: A directory name of a task is also a host name, a profile and an image name: the shortest of their limits.
MAX_NAME_LENGTH = 63


@dataclass(frozen=True, order=True)
class TaskId:
    """`H23`: a series letter and a number from 1."""

    series: str
    number: int

    def __str__(self) -> str:
        return f"{self.series}{self.number}"


@dataclass(frozen=True, order=True)
class TaskName:
    """`H23-left-behind`: what a task's directory is called."""

    series: str
    number: int
    slug: str

    @property
    def id(self) -> str:
        return f"{self.series}{self.number}"

    @property
    def task_id(self) -> TaskId:
        return TaskId(self.series, self.number)

    def __str__(self) -> str:
        return f"{self.id}-{self.slug}"


def parse_task_name(name: str) -> TaskName | None:
    """`name` as a task's directory name, or None when it is not one."""
    match = _NAME.fullmatch(name)
    if match is None or len(name) > MAX_NAME_LENGTH:
        return None
    return TaskName(match["series"], int(match["number"]), match["slug"])


def parse_task_id(text: str) -> TaskId | None:
    """`text` as an ID alone (`H23`), or None when it is not one."""
    match = _ID.fullmatch(text)
    return TaskId(match["series"], int(match["number"])) if match else None


def check_slug(slug: str) -> str:
    """`slug` itself when it may stand in a task's name.

    Raises:
        SuiteError: it may not; the hint names a slug that may.
    """
    if _SLUG.fullmatch(slug) and len(slug) <= MAX_NAME_LENGTH - 6:
        return slug
    near = slugify(slug)
    raise SuiteError(
        f"'{slug}' cannot be a slug: lower-case letters, digits and single inner hyphens, "
        f"at most {MAX_NAME_LENGTH - 6} characters",
        hint=f"use --slug {near}" if near else "choose a slug such as 'renamed-service'",
    )


def slugify(text: str) -> str:
    """The nearest slug to `text`, possibly empty (a title in Chinese has none)."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word
        if len(longer) > MAX_NAME_LENGTH - 6:
            break
        slug = longer
    return slug


def parse_ranges(entries: Iterable[str]) -> set[TaskId]:
    """The IDs in entries such as `S1-S16`, `H4` or `M1-14`.

    Raises:
        SuiteError: an entry is neither an ID nor a range within one series.
    """
    found: set[TaskId] = set()
    for entry in entries:
        match = _RANGE.fullmatch(entry.strip())
        if match is None or (match[3] not in (None, match[1])):
            raise SuiteError(
                f"'{entry}' is neither an ID nor a range of IDs of one series",
                hint='write "H4" for one number, "H1-H22" for a range',
            )
        first = int(match[2])
        last = int(match[4]) if match[4] else first
        if last < first or last - first > 100_000:
            raise SuiteError(
                f"the range '{entry}' ends before it begins or is too long", hint="swap its ends"
            )
        found.update(TaskId(match[1], number) for number in range(first, last + 1))
    return found


def next_number(series: str, used: Iterable[TaskId]) -> int:
    """One more than the highest number of `series` in `used`; gaps are never filled."""
    return max((task.number for task in used if task.series == series), default=0) + 1


def gaps(series: str, used: Iterable[TaskId]) -> list[int]:
    """The numbers of `series` below its highest that nothing uses."""
    numbers = {task.number for task in used if task.series == series}
    return [number for number in range(1, max(numbers, default=0)) if number not in numbers]
