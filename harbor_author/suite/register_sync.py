"""What the registers must say: their tables and counts made true from the tasks, other text untouched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harbor_author.suite.counts import Counts, corrected
from harbor_author.suite.ids import TaskId, next_number, parse_ranges
from harbor_author.suite.model import Suite
from harbor_author.suite.registers import cell_id
from harbor_author.suite.tables import Row, Table, cell_text, find_tables, prose, with_cell
from harbor_author.suite.task_facts import FULL_MARKS, Kind, TaskFacts, read_facts
from harbor_author.suite.toml_source import read_text

BEGIN, END = "<!-- author:tasks:begin -->", "<!-- author:tasks:end -->"

_WORDS: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "标题"),
    "text": ("description", "summary", "name", "what it asks", "说明", "名称", "简介"),
    "mode": ("mode", "模式"),
    "type": ("type", "kind", "类型"),
    "points": ("points", "max", "full marks", "score", "分值", "满分"),
    "breakdown": ("breakdown", "score breakdown", "points breakdown", "评分", "分值构成", "得分构成"),
    "boundary": ("grading boundary", "boundary", "not judged", "not graded", "评分边界", "不评"),
    "cards": ("cards", "card", "卡片"),
    "directory": ("directory", "folder", "slug", "目录"),
}
_WRITTEN = re.compile(r"written|static|report|书面|笔试|静态", re.IGNORECASE)
_HANDS_ON = re.compile(r"hands-?\s?on|实操|动手|实战", re.IGNORECASE)
_NEW_TABLE = {
    "readme": ["| ID | Title | Type | Mode |", "|---|---|---|---|"],
    "scoring": ["| ID | Points | Breakdown | Not judged |", "|---|---|---|---|"],
}


@dataclass(frozen=True)
class Drift:
    """One place where a register is not true. `fixable` is False when nothing can be done without its author."""

    path: str
    line: int
    message: str
    fixable: bool = True


@dataclass(frozen=True)
class RegisterPlan:
    """One register: its text now and as it should be (equal when nothing is to do), and where they differ."""

    path: Path
    before: str
    after: str
    drifts: tuple[Drift, ...]


def plan_registers(suite: Suite) -> list[RegisterPlan]:
    """What `author sync` would do to each register that author.toml names; nothing is written.

    Raises:
        SuiteError: a register exists and cannot be read.
    """
    retired = parse_ranges(suite.settings.retired)
    elsewhere = parse_ranges(suite.settings.reserved) | retired
    facts = {
        task.task_name.task_id: read_facts(task)
        for task in suite.tasks()
        if task.task_name is not None and task.task_name.task_id not in retired
    }
    kinds: dict[TaskId, Kind] = {task_id: fact.kind for task_id, fact in facts.items()}
    plans = []
    for role, name in (("readme", suite.settings.readme), ("scoring", suite.settings.scoring)):
        if name is None:
            continue
        path = suite.root / name
        if not path.is_file():
            message = "is named in author.toml as a register and does not exist"
            plans.append(RegisterPlan(path, "", "", (Drift(name, 1, message, fixable=False),)))
            continue
        register = _Register(name, read_text(path), role, facts, kinds, elsewhere)
        register.sync_tables()
        register.sync_counts(_counts(suite, facts, kinds, elsewhere))
        plans.append(RegisterPlan(path, register.before, register.text(), register.found()))
    return plans


def _counts(
    suite: Suite, facts: Mapping[TaskId, TaskFacts], kinds: Mapping[TaskId, Kind], elsewhere: set[TaskId]
) -> Counts:
    letters = {*suite.settings.series, *(task_id.series for task_id in facts)}
    return Counts(
        total=len(facts),
        written=sum(kind == "written" for kind in kinds.values()),
        hands_on=sum(kind == "hands-on" for kind in kinds.values()),
        series={letter: sum(task_id.series == letter for task_id in facts) for letter in letters},
        next_number={letter: next_number(letter, [*facts, *elsewhere]) for letter in letters},
    )


@dataclass
class _Register:
    """One document while it is made true. A line that becomes None is taken out; `added` stands after a line."""

    name: str
    before: str
    role: str
    facts: Mapping[TaskId, TaskFacts]
    kinds: dict[TaskId, Kind]
    elsewhere: set[TaskId]
    drifts: list[Drift] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.eol = "\r" if "\r\n" in self.before else ""
        self.source = [line.removesuffix("\r") for line in self.before.split("\n")]
        self.before_lines = self.before.split("\n")
        self.raw: list[str | None] = list(self.before_lines)
        self.added: dict[int, list[str]] = {}

    def text(self) -> str:
        lines: list[str] = []
        for index, line in enumerate(self.raw):
            if line is not None:
                lines.append(line)
            lines += [new + self.eol for new in self.added.get(index, ())]
        return "\n".join(lines)

    def found(self) -> tuple[Drift, ...]:
        return tuple(sorted(self.drifts, key=lambda drift: drift.line))

    def sync_tables(self) -> None:
        tables = [table for table in find_tables(self.source) if self._is_register(table)]
        listed: set[TaskId] = set()
        for table in tables:
            columns = _columns(table.header)
            for row in table.rows:
                task_id = cell_id(row.cells[0]) if row.cells else None
                if task_id is None:
                    continue
                listed.add(task_id)
                if task_id in self.facts:
                    self._sync_row(row, columns, self.facts[task_id], table)
                elif task_id not in self.elsewhere:
                    self._drift(
                        row.index,
                        f"lists {task_id}, and there is no such task "
                        f"('author retire {task_id}' keeps its number from being used again)",
                    )
                    self.raw[row.index] = None
        missing = sorted(self.facts.keys() - listed)
        if missing and not tables:
            self._begin_table(missing)
            return
        for task_id in missing:
            self._insert(task_id, tables)

    def sync_counts(self, counts: Counts) -> None:
        in_tables = {row.index for table in find_tables(self.source) for row in (table.header, *table.rows)}
        for index, line in prose(self.source):
            if index in in_tables:
                continue
            right = corrected(line, counts)
            if right != line:
                self._drift(index, f"counts {_difference(line, right)}")
                self._change(index, right)

    def _is_register(self, table: Table) -> bool:
        """Whether most rows name a task, or the table stands between the markers."""
        if self._between_markers(table.header.index):
            return True
        named = sum(cell_id(row.cells[0]) is not None for row in table.rows if row.cells)
        return named > 0 and named * 2 >= len(table.rows)

    def _between_markers(self, index: int) -> bool:
        return any(begin < index < end for begin, end in self._marked())

    def _marked(self) -> list[tuple[int, int]]:
        """The lines of each pair of markers, outside fenced code."""
        pairs, begin = [], None
        for index, line in prose(self.source):
            if line.strip() == BEGIN:
                begin = index
            elif line.strip() == END and begin is not None:
                pairs.append((begin, index))
                begin = None
        return pairs

    def _sync_row(self, row: Row, columns: Mapping[str, int], fact: TaskFacts, table: Table) -> None:
        line = self.source[row.index]
        wanted = self._cells(columns, fact, table, row.cells) | {0: _named(row.cells[0], fact)}
        # From the right, so that the places of the cells to the left stay.
        for column in sorted(wanted, reverse=True):
            if column < len(row.cells) and wanted[column].strip() != row.cells[column]:
                heading = table.header.cells[column] or str(column + 1)
                self._drift(
                    row.index,
                    f"{fact.task.label}: {heading} is {row.cells[column]!r}, and the task has {wanted[column]!r}",
                )
                line = with_cell(line, row.spans[column], wanted[column])
        self._change(row.index, line)

    def _change(self, index: int, line: str) -> None:
        """Set a line, keeping its end."""
        self.raw[index] = line + self.before_lines[index][len(self.source[index]) :]

    def _cells(
        self, columns: Mapping[str, int], fact: TaskFacts, table: Table, row: Sequence[str] = ()
    ) -> dict[int, str]:
        """Column -> the cell that it must hold; what a task does not tell stays as `row` has it."""
        now = {key: row[column] if column < len(row) else "" for key, column in columns.items()}
        points = now.get("points", "")
        cells = {
            "title": cell_text(fact.title),
            "text": now.get("text") or cell_text(fact.title),
            "mode": _kept_word(now.get("mode", ""), fact.mode),
            "type": self._type(now.get("type", ""), fact, table, columns),
            "points": points if re.match(rf"\W*{FULL_MARKS}\b", points) else str(FULL_MARKS),
            "breakdown": _breakdown_cell(now.get("breakdown", ""), fact),
            "boundary": cell_text(fact.boundary),
            "cards": cell_text(", ".join(fact.cards)),
            "directory": _kept_word(now.get("directory", ""), fact.task.name),
        }
        return {column: cells[key] or now[key] for key, column in columns.items()}

    def _type(self, now: str, fact: TaskFacts, table: Table, columns: Mapping[str, int]) -> str:
        """The Type cell. It is the author's word unless task.toml declares the type; the split counts follow it."""
        assert fact.task.task_name is not None
        task_id = fact.task.task_name.task_id
        if "type" not in columns:
            return now
        said = _kind_of(now)
        if said is not None and (not fact.declared or said == fact.kind):
            self.kinds[task_id] = said
            return now
        for row in table.rows:
            cell = row.cells[columns["type"]] if columns["type"] < len(row.cells) else ""
            if _kind_of(cell) == fact.kind:
                return cell
        return fact.kind.capitalize()

    def _insert(self, task_id: TaskId, tables: Sequence[Table]) -> None:
        """Put a new row after the last one of its series with a lower number, formed as its neighbour is."""
        table = max(tables, key=lambda table: sum(_series(row) == task_id.series for row in table.rows))
        before = [row for row in table.rows if (found := cell_id(row.cells[0])) and found < task_id]
        same = [row for row in before if _series(row) == task_id.series]
        above = (same or before)[-1:]
        neighbour = (above or table.rows[:1])[0] if above or table.rows else None
        first = _named(neighbour.cells[0], self.facts[task_id]) if neighbour else str(task_id)
        index = above[0].index if above else table.header.index + 1
        self.added.setdefault(index, []).append(self._new_row(table, task_id, first))
        self._drift(index, f"does not list {task_id} ({self.facts[task_id].task.name})")

    def _new_row(self, table: Table, task_id: TaskId, first: str) -> str:
        wanted = self._cells(_columns(table.header), self.facts[task_id], table) | {0: first}
        cells = (wanted.get(column, "") for column in range(len(table.header.cells)))
        return f"| {' | '.join(cells)} |"

    def _begin_table(self, missing: Sequence[TaskId]) -> None:
        marked = self._marked()
        if not marked:
            names = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
            message = (
                f"has no table of tasks, so {names} cannot be listed: put {BEGIN} and {END} where it belongs"
            )
            self.drifts.append(Drift(self.name, 1, message, fixable=False))
            return
        begin, end = marked[0]
        head = _NEW_TABLE[self.role]
        table = find_tables(head)[0]
        lines = list(head)
        for task_id in missing:
            lines.append(self._new_row(table, task_id, str(task_id)))
            self._drift(begin, f"does not list {task_id} ({self.facts[task_id].task.name})")
        if end > begin + 1 and self.source[begin + 1].strip():
            lines.append("")  # what stands there already is no part of the table
        self.added[begin] = lines

    def _drift(self, index: int, message: str) -> None:
        self.drifts.append(Drift(self.name, index + 1, message))


def _columns(header: Row) -> dict[str, int]:
    """Which known column stands where; the first column always names the task."""
    found: dict[str, int] = {}
    for column, cell in enumerate(header.cells):
        words = cell.strip("*` ").lower()
        for key, names in _WORDS.items():
            if column > 0 and words in names and key not in found:
                found[key] = column
    return found


def _series(row: Row) -> str | None:
    task_id = cell_id(row.cells[0]) if row.cells else None
    return task_id.series if task_id else None


def _named(cell: str, fact: TaskFacts) -> str:
    """A first cell in the form of `cell` (bare ID or directory name, code, link) for another task, or its new slug."""
    name = fact.task.task_name
    assert name is not None
    cell = re.sub(r"\b[A-Z][1-9]\d*-[a-z0-9]+(?:-[a-z0-9]+)*", str(name), cell)
    return re.sub(r"\b[A-Z][1-9]\d*\b(?!-[a-z0-9])", name.id, cell)


def _kept_word(now: str, word: str) -> str:
    """`now` when it is `word` with decoration (code, a link), else `word`."""
    return now if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", now) else word


def _kind_of(cell: str) -> Kind | None:
    if _HANDS_ON.search(cell):
        return "hands-on"
    return "written" if _WRITTEN.search(cell) else None


def _breakdown_cell(now: str, fact: TaskFacts) -> str:
    """The judge's checks and points; a cell that says the same in other punctuation stays."""
    if not fact.breakdown:
        return now
    said = re.findall(r"([\w-]+)`?\s*[:=]?\s*\(?(\d+(?:\.\d+)?)", now)
    if sorted(said) == sorted(fact.breakdown):
        return now
    return ", ".join(f"{check} {points}" for check, points in fact.breakdown)


def _difference(before: str, after: str) -> str:
    """`52, and it is 53`: the numbers and IDs of a line that change."""
    numbers = re.compile(r"[A-Z]?\d[\d,]*")
    old, new = numbers.findall(before), numbers.findall(after)
    pairs = [f"{one}, and it is {other}" for one, other in zip(old, new, strict=False) if one != other]
    return "; ".join(pairs) or "differently"
