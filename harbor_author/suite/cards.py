"""Cards: described host changes, declared by headings of the files in `references/`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from harbor_author.suite.contract import without_fences
from harbor_author.suite.errors import SuiteError
from harbor_author.suite.toml_source import read_text

CARD_ID = re.compile(r"DSH-(?P<version>\d+\.\d+\.\d+)-(?P<stage>[AR])(?P<build>\d+)-(?P<number>\d{2})")
#: IDs of the other namespaces: roll-up recipes, API and configuration notes.
OTHER_ID = re.compile(r"(?:R|API|CFG)-\d{2}")
#: Each card carries these; a name in either language counts.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "type": ("type", "类型"),
    "applies to": ("applies to", "适用", "适用范围"),
    "touch points": ("touch points", "触点"),
    "action level": ("action level", "action", "动作级别", "行动级别"),
    "symptoms": ("symptoms", "症状"),
    "migration": ("migration recipe", "migration", "迁移", "迁移步骤"),
    "verification": ("verification", "验证"),
    "source": ("source", "来源"),
}
TYPES = ("breaking", "behavior", "capability", "fix", "security", "privacy")
FRONT_MATTER_KEYS = (
    "kind",
    "schema",
    "from",
    "to",
    "status",
    "coverage",
    "cardCount",
    "idPrefix",
    "verifiedAt",
)
_HEADING = re.compile(r"^###(?!#)\s+(?P<id>\S+)(?:\s+(?P<mark>·))?(?:\s*(?P<title>[^\s·].*?))?\s*$")
_FIELD = re.compile(r"^\s*[-*]\s+\*\*(?P<name>[^*:：]+)[:：]?\*\*\s*[:：]?\s*(?P<value>.*)$")
_FILE_NAME = re.compile(r"v\d+\.\d+\.\d+-(?:alpha|beta|rc)\.\d+\.md")


@dataclass(frozen=True)
class Card:
    """One described host change.

    Attributes:
        fields: canonical field name (a key of `FIELDS`) -> text, in either language.
        line: 1-based line of the heading that declares it.
    """

    id: str
    title: str
    path: Path
    line: int
    fields: Mapping[str, str]

    @property
    def prefix(self) -> str:
        """`DSH-0.1.2-A1` of `DSH-0.1.2-A1-01`."""
        return self.id.rpartition("-")[0]


@dataclass(frozen=True)
class CardFile:
    """One card set: a file with front matter; `front` is empty when it has none."""

    path: Path
    front: Mapping[str, Any]
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class CardProblem:
    """What is wrong with a card file; the rules of `validate` turn it into a finding."""

    path: Path
    line: int
    message: str
    fix: str


@dataclass(frozen=True)
class CardSet:
    """All cards of a suite. Ranges are expanded over declared cards only, never by arithmetic."""

    cards: Mapping[str, Card] = field(default_factory=dict)
    files: tuple[CardFile, ...] = ()
    problems: tuple[CardProblem, ...] = ()

    def get(self, card_id: str) -> Card | None:
        return self.cards.get(card_id)

    @cached_property
    def _ids(self) -> list[str]:
        return sorted(self.cards)

    def nearest(self, card_id: str) -> str | None:
        """The declared ID most like `card_id`, or None when none is near."""
        wanted = card_id.upper()
        short = [known for known in self._ids if wanted and known.endswith(f"-{wanted}")]
        near = short if len(short) == 1 else get_close_matches(wanted, self._ids, n=1, cutoff=0.6)
        return near[0] if near else None

    def with_prefix(self, prefix: str) -> list[str]:
        """The declared IDs `<prefix>-NN`, in order."""
        return [card_id for card_id in self._ids if card_id.rpartition("-")[0] == prefix]

    def expand_range(self, first: str, last: str) -> list[str]:
        """The declared IDs from `first` to `last` of one file; numbers that are gaps are left out."""
        return [card_id for card_id in self.with_prefix(first.rpartition("-")[0]) if first <= card_id <= last]


def load_cards(directories: Iterable[Path]) -> CardSet:
    """Read every card file (`*.md`) below some directories; a missing directory holds no cards.

    What is wrong with a file is a problem of the set, not an exception.
    """
    cards: dict[str, Card] = {}
    files: list[CardFile] = []
    problems: list[CardProblem] = []
    for directory in directories:
        for path in sorted(directory.rglob("*.md")) if directory.is_dir() else []:
            if path.is_dir() and not path.is_symlink():
                continue
            if path.is_symlink() or not path.is_file():
                problems.append(CardProblem(path, 1, "is no regular file", "put the card file itself there"))
                continue
            try:
                text = read_text(path)
            except SuiteError as error:
                problems.append(CardProblem(path, error.line or 1, error.message, error.hint or ""))
                continue
            card_file, complaints = _parse_file(path, text)
            files.append(card_file)
            problems += complaints
            for card in card_file.cards:
                first = cards.setdefault(card.id, card)
                if first is not card:
                    problems.append(
                        CardProblem(
                            path,
                            card.line,
                            f"card {card.id} is declared twice, first at {first.path.name}:{first.line}",
                            "give one of them the next free number of its file",
                        )
                    )
    problems += _edge_problems(files)
    return CardSet(cards, tuple(files), tuple(problems))


def _parse_file(path: Path, text: str) -> tuple[CardFile, list[CardProblem]]:
    problems: list[CardProblem] = []
    front, body_line = _front_matter(path, text, problems)
    lines = without_fences(text).split("\n")
    headings: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines[body_line:], body_line + 1):
        match = _HEADING.match(line)
        if match is None:
            continue
        card_id = match["id"]
        if CARD_ID.fullmatch(card_id) or OTHER_ID.fullmatch(card_id):
            if not match["mark"] or not match["title"]:
                lacks = "no ' · ' before its title" if match["title"] else "no title"
                problems.append(
                    CardProblem(
                        path,
                        number,
                        f"the heading of {card_id} has {lacks}",
                        f"write '### {card_id} · <title>'",
                    )
                )
            headings.append((number, card_id, match["title"] or ""))
        elif re.match(r"(?:DSH-|ALPHA\d|BC-\d)", card_id):
            problems.append(
                CardProblem(
                    path,
                    number,
                    f"'{card_id}' is not a card ID",
                    "write DSH-<X.Y.Z>-<A|R><n>-<NN>, two digits",
                )
            )
    cards = []
    for index, (number, card_id, title) in enumerate(headings):
        end = headings[index + 1][0] - 1 if index + 1 < len(headings) else len(lines)
        fields = _fields(lines[number:end])
        cards.append(Card(card_id, title, path, number, fields))
    if front or any(CARD_ID.fullmatch(card.id) for card in cards):
        problems += _file_problems(path, front, cards)
    return CardFile(path, front, tuple(cards)), problems


def _front_matter(path: Path, text: str, problems: list[CardProblem]) -> tuple[Mapping[str, Any], int]:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, 0
    number = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if not number:
        problems.append(CardProblem(path, 1, "the front matter is never closed", "end it with a line '---'"))
        return {}, 0
    import yaml

    try:
        front = yaml.safe_load("\n".join(lines[1:number]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line_number = mark.line + 2 if mark else 1
        problems.append(
            CardProblem(path, line_number, "the front matter is not valid YAML", "correct the syntax there")
        )
        return {}, number + 1
    if not isinstance(front, dict):
        problems.append(CardProblem(path, 1, "the front matter is not a mapping", "write 'key: value' lines"))
        return {}, number + 1
    return front, number + 1


def _fields(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    current = ""
    for line in lines:
        match = _FIELD.match(line)
        if match:
            name = match["name"].strip().lower()
            current = next((key for key, names in FIELDS.items() if name in names), name)
            fields[current] = match["value"].strip()
        elif line.startswith("#"):
            break
        elif current and line.strip():
            fields[current] = f"{fields[current]}\n{line.strip()}".strip()
    return fields


def _file_problems(path: Path, front: Mapping[str, Any], cards: list[Card]) -> list[CardProblem]:
    problems = []

    def complain(line: int, message: str, fix: str) -> None:
        problems.append(CardProblem(path, line, message, fix))

    if not front:
        complain(
            1,
            "a card file without front matter",
            "begin it with '---', " + ", ".join(FRONT_MATTER_KEYS) + ", '---'",
        )
    else:
        for key in FRONT_MATTER_KEYS:
            if key not in front:
                complain(1, f"the front matter lacks '{key}'", f"add a line '{key}: ...'")
        if front.get("kind") not in (None, "dsh-version-card-set"):
            complain(
                1, f"front matter kind '{front['kind']}' is unknown", "write 'kind: dsh-version-card-set'"
            )
        if front.get("status") not in (None, "draft", "reviewed"):
            complain(1, f"status '{front['status']}' is unknown", "use draft or reviewed")
        if front.get("coverage") not in (None, "curated", "complete"):
            complain(1, f"coverage '{front['coverage']}' is unknown", "use curated or complete")
        if not _FILE_NAME.fullmatch(path.name):
            complain(
                1, f"a card file cannot be called '{path.name}'", "call it v<X.Y.Z>-<alpha|beta|rc>.<n>.md"
            )
        if isinstance(front.get("cardCount"), int) and front["cardCount"] != len(cards):
            complain(
                1,
                f"cardCount is {front['cardCount']}, the file declares {len(cards)}",
                f"write 'cardCount: {len(cards)}'",
            )
        prefix = front.get("idPrefix")
        for card in cards:
            if isinstance(prefix, str) and card.prefix != prefix.rstrip("-"):
                complain(
                    card.line,
                    f"card {card.id} does not begin with the file's idPrefix {prefix}",
                    "move or rename it",
                )
    for before, card in itertools.pairwise(cards):
        if before.prefix == card.prefix and before.id > card.id:
            complain(card.line, f"card {card.id} comes after {before.id}", "order the cards by number")
    for card in cards:
        if not CARD_ID.fullmatch(card.id):
            continue
        missing = [name for name in FIELDS if not card.fields.get(name)]
        if missing:
            complain(
                card.line,
                f"card {card.id} lacks: {', '.join(missing)}",
                "add a list item '- **Field**: text' for each",
            )
        kind = card.fields.get("type", "")
        words = set(re.findall(r"[a-z]+", kind.lower()))
        if kind and not words & set(TYPES):
            complain(
                card.line, f"card {card.id} has the unknown type '{kind}'", "use one of: " + ", ".join(TYPES)
            )
    return problems


def _edge_problems(files: list[CardFile]) -> list[CardProblem]:
    """Each version has one way on, and no way leads back."""
    problems = []
    edges: dict[str, tuple[str, Path]] = {}
    for card_file in files:
        start, end = card_file.front.get("from"), card_file.front.get("to")
        if not isinstance(start, str) or not isinstance(end, str):
            continue
        if start in edges:
            problems.append(
                CardProblem(
                    card_file.path,
                    1,
                    f"two card files start from {start}: also {edges[start][1].name}",
                    "merge them",
                )
            )
            continue
        edges[start] = (end, card_file.path)
    for start, (_, path) in edges.items():
        seen, current = {start}, start
        while current in edges:
            current = edges[current][0]
            if current in seen:
                if current == start:
                    problems.append(
                        CardProblem(
                            path, 1, f"the versions from {start} lead back to it", "correct from or to"
                        )
                    )
                break
            seen.add(current)
    return problems
