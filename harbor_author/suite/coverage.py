"""Which tasks cite which cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harbor_author.suite.cards import CardSet
from harbor_author.suite.citations import Citation, find_citations
from harbor_author.suite.errors import SuiteError
from harbor_author.suite.model import Suite, Task
from harbor_author.suite.toml_source import read_text

#: Where a task says what it is about; what an agent sees or leaves behind is no citation.
_CITING = ("task.toml", "README.md", "tests", "solution")
_SUFFIXES = (".md", ".toml", ".json", ".js", ".mjs", ".ts", ".sh", ".yml", ".yaml", ".txt")
_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Coverage:
    """Cards against tasks, by task label and full card ID, each list in order and without repeats.

    Attributes:
        cited_by: every declared card -> tasks that cite it.
        cites: every task -> declared cards that it cites.
        unknown: tasks that cite undeclared cards -> those.
    """

    cited_by: Mapping[str, tuple[str, ...]]
    cites: Mapping[str, tuple[str, ...]]
    unknown: Mapping[str, tuple[str, ...]]

    @property
    def uncovered(self) -> tuple[str, ...]:
        return tuple(card for card, tasks in self.cited_by.items() if not tasks)


def card_coverage(suite: Suite) -> Coverage:
    """Read every task of a suite for the cards that it cites, in any form."""
    cards = suite.cards()
    cited_by: dict[str, list[str]] = {card_id: [] for card_id in cards.cards}
    cites: dict[str, tuple[str, ...]] = {}
    unknown: dict[str, tuple[str, ...]] = {}
    for task in suite.tasks():
        known: dict[str, None] = {}
        strange: dict[str, None] = {}
        for text in _texts(task):
            for citation in find_citations(text):
                for card_id in cited_ids(citation, cards):
                    (known if card_id in cards.cards else strange)[card_id] = None
        cites[task.label] = tuple(sorted(known))
        for card_id in known:
            cited_by[card_id].append(task.label)
        if strange:
            unknown[task.label] = tuple(sorted(strange))
    return Coverage({card: tuple(tasks) for card, tasks in cited_by.items()}, cites, unknown)


def cited_ids(citation: Citation, cards: CardSet) -> list[str]:
    """The full IDs that a citation means; ranges and wildcards are expanded over declared cards only."""
    if citation.form == "range" and len(citation.ids) == 2:
        return cards.expand_range(*citation.ids)
    if citation.form == "wildcard" and citation.ids:
        return cards.with_prefix(citation.ids[0])
    return list(citation.ids)


def _texts(task: Task) -> list[str]:
    paths = []
    for name in _CITING:
        path = task.path / name
        paths += sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else [path]
    texts = []
    for path in paths:
        if (
            path.is_symlink()
            or not path.is_file()
            or path.suffix not in _SUFFIXES
            or path.stat().st_size > _MAX_BYTES
        ):
            continue
        try:
            texts.append(read_text(path))
        except SuiteError:
            continue  # `validate` names the unreadable file; coverage counts what can be read
    return texts
