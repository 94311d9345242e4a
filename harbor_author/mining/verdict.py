"""How much the difference between two states looks like something that the host forced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from harbor_author.mining.facts import Facts, cards_hit, split_fact
from harbor_author.mining.hostdata import Host

#: More touch points than this in one task are better split (case selection, step 0 of the suite's guide).
MAX_TOUCH_POINTS = 4
_BULK_FILES = 60


@dataclass(frozen=True)
class Difference:
    """What one commit (or corridor) changed in the eyes of the host."""

    removed: Facts
    added: Facts
    kept: Facts
    message: str
    only_new_files: bool
    files: int
    with_tests: bool
    with_sources: bool


@dataclass(frozen=True)
class Verdict:
    """0 to 100, and why."""

    score: int
    reasons: tuple[str, ...]
    cards: tuple[str, ...]
    touch_points: int


@dataclass
class _Tally:
    points: float = 0
    reasons: list[str] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)

    def add(self, points: float, reason: str, touched: str | None = None) -> None:
        self.points += points
        self.reasons.append(reason)
        if touched is not None:
            self.touched.add(touched)


def weigh(difference: Difference, host: Host, *, follow_ups: Sequence[tuple[str, str]]) -> Verdict:
    """Judge a difference.

    Args:
        follow_ups: ID and subject of later commits on the same files within days.
    """
    removed, added = _by_kind(difference.removed), _by_kind(difference.added)
    hits = cards_hit(difference.removed, difference.added, host)
    tally = _Tally()
    _injection(tally, removed, added, difference)
    _manifest(tally, removed, added)
    _files(tally, removed, added)
    _code(tally, removed, added)
    _cards(tally, hits)
    _ranges(tally, removed, added, difference)
    if not tally.points:
        return Verdict(score=0, reasons=(), cards=(), touch_points=0)
    _message(tally, difference.message, host)
    _surroundings(tally, difference, follow_ups)
    if difference.only_new_files:
        tally.points *= 0.2
        tally.reasons.append("every file is new: a new plugin rather than a migrated one")
    return Verdict(
        score=max(0, min(100, round(tally.points))),
        reasons=tuple(tally.reasons),
        cards=tuple(hits),
        touch_points=len(tally.touched),
    )


def _by_kind(facts: Facts) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for fact in sorted(facts):
        kind, rest = split_fact(fact)
        kinds[kind].append(rest)
    return kinds


def _injection(
    tally: _Tally, removed: dict[str, list[str]], added: dict[str, list[str]], difference: Difference
) -> None:
    gone, come = set(removed.get("inject", ())), set(added.get("inject", ()))
    gone, come = gone - come, come - gone
    if gone and come:
        tally.add(30, f"inject list: {_names(gone)} became {_names(come)}", "inject")
        return
    already_used = {service for service in come if difference.kept.get(f"use:{service}")}
    if already_used:
        tally.add(
            32, f"inject list: {_names(already_used)} added although the code used it already", "inject"
        )
    elif come:
        tally.add(8, f"inject list: {_names(come)} added", "inject")
    if gone:
        tally.add(16, f"inject list: {_names(gone)} removed", "inject")


def _manifest(tally: _Tally, removed: dict[str, list[str]], added: dict[str, list[str]]) -> None:
    gone = {row.partition("=")[0] for row in removed.get("manifest", ())}
    come = {row.partition("=")[0] for row in added.get("manifest", ())}
    own = {path for path in gone | come if not path.startswith(("main", "exports"))}
    if own & gone:
        tally.add(20, f"manifest: {_names(own & gone)} removed or changed", "manifest")
    if own & (come - gone):
        tally.add(12, f"manifest: {_names(own & (come - gone))} added", "manifest")
    if (gone | come) - own:
        tally.add(4, f"manifest: entry points changed ({_names((gone | come) - own)})", "entry")


def _files(tally: _Tally, removed: dict[str, list[str]], added: dict[str, list[str]]) -> None:
    gone, come = set(removed.get("file", ())), set(added.get("file", ()))
    if gone:
        tally.add(16, f"host file removed: {_names(gone)}", "files")
    if come:
        tally.add(10, f"host file added: {_names(come)}", "files")
    if removed.get("rows") and added.get("rows"):
        tally.add(8, "rows of a host file changed", "files")


def _code(tally: _Tally, removed: dict[str, list[str]], added: dict[str, list[str]]) -> None:
    gone = set(removed.get("use", ())) - set(added.get("use", ()))
    come = set(added.get("use", ())) - set(removed.get("use", ()))
    if gone and come:
        tally.add(12, f"host services used: {_names(gone)} became {_names(come)}", "services")
    elif gone:
        tally.add(8, f"host services no longer used: {_names(gone)}", "services")
    words_gone = set(removed.get("word", ())) - set(added.get("word", ()))
    if words_gone:
        tally.add(10, f"host names gone from the code: {_names(words_gone)}", "api")
    imports_gone, imports_come = set(removed.get("import", ())), set(added.get("import", ()))
    if imports_gone - imports_come:
        tally.add(10, f"host imports removed: {_names(imports_gone - imports_come)}", "imports")
    elif imports_come - imports_gone:
        tally.add(3, f"host imports added: {_names(imports_come - imports_gone)}", "imports")


def _cards(tally: _Tally, hits: dict[str, bool]) -> None:
    taken = [card for card, gone in hits.items() if gone]
    brought = [card for card, gone in hits.items() if not gone]
    if taken:
        tally.add(min(30, 16 + 7 * (len(taken) - 1)), f"what a card takes away is gone: {', '.join(taken)}")
    if brought:
        tally.add(4, f"what a card brings has come: {', '.join(brought)}")


def _ranges(
    tally: _Tally, removed: dict[str, list[str]], added: dict[str, list[str]], difference: Difference
) -> None:
    changed = {
        row.partition("=")[0].partition(":")[2]
        for row in [*removed.get("range", ()), *added.get("range", ())]
    }
    if not changed:
        return
    if difference.with_sources and tally.points:
        tally.add(14, f"host dependency ranges changed together with code: {_names(changed)}")
    else:
        tally.add(5, f"host dependency ranges changed: {_names(changed)}")


def _message(tally: _Tally, message: str, host: Host) -> None:
    named, migrates = host.says("host", message), host.says("migration", message)
    if named and migrates:
        tally.add(12, f"the message speaks of a migration for the host ('{migrates}', '{named}')")
    elif migrates or named:
        tally.add(5, f"the message says '{migrates or named}'")
    elif said := host.says("refactor", message):
        tally.add(-15, f"the message says '{said}'")


def _surroundings(tally: _Tally, difference: Difference, follow_ups: Sequence[tuple[str, str]]) -> None:
    count = len(tally.touched)
    if 1 <= count <= MAX_TOUCH_POINTS:
        tally.add(6, f"{count} touch point{'s' if count > 1 else ''}")
    elif count > MAX_TOUCH_POINTS:
        tally.add(-4, f"{count} touch points: better split")
    if follow_ups:
        oid, subject = follow_ups[0]
        tally.add(
            8,
            f"followed within days on the same files by {oid[:10]} ({subject[:60]!r}): the trap may lie there",
        )
    tally.add(
        2 if difference.with_tests else 0,
        "tests changed along" if difference.with_tests else "no tests changed",
    )
    if difference.files > _BULK_FILES:
        tally.add(-12, f"{difference.files} files: a bulk change")


def _names(names: set[str]) -> str:
    shown = sorted(names)[:5]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
