"""The places where a migration touches the host, each with its card and the static check that it proposes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harbor_author.mining import manifest as package_json
from harbor_author.mining.conditions import Condition, Reading
from harbor_author.mining.facts import (
    Facts,
    cards_hit,
    facts_of,
    is_manifest,
    is_source,
    speaks_to_host,
    split_fact,
)
from harbor_author.mining.hostdata import Host
from harbor_author.mining.javascript import SOURCE_SUFFIXES, identifiers
from harbor_author.mining.licence import is_licence_file
from harbor_author.mining.oracle import plan
from harbor_author.mining.scrub import is_document
from harbor_author.mining.states import Tree

_MOST_CONDITIONS = 6


@dataclass(frozen=True)
class TouchPoint:
    """One place. `conditions` each fail on the fixture and hold on the oracle; none when it cannot be judged so."""

    id: str
    title: str
    cards: tuple[str, ...]
    conditions: tuple[Condition, ...]


def differing_facts(tree: Tree, other: Tree, host: Host) -> Facts:
    """What a state says to its host in those files that are not the same in the other state."""
    facts: Facts = Facts()
    for path, file in tree.items():
        if other.get(path) != file and speaks_to_host(path, host):
            facts.update(facts_of(path, file.data, host, strict=True))
    return facts


def touch_points(before: Tree, after: Tree, host: Host, cards: Sequence[str]) -> tuple[TouchPoint, ...]:
    """The touch points of a migration, most telling first.

    Args:
        cards: what the author says that the task is about; they go to points for which the host's data names none.
    """
    old, new = differing_facts(before, after, host), differing_facts(after, before, host)
    removed, added = old - new, new - old
    proposals = [
        point
        for point in (
            _manifest(before, after, host),
            _injection(removed, added),
            _host_files(before, after, host),
            _words(removed, added),
            _imports(removed, added),
        )
        if point is not None
    ]
    old_reading, new_reading = Reading(before, host.contexts), Reading(after, host.contexts)

    def verified(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
        kept = [one for one in conditions if not old_reading.meets(one) and new_reading.meets(one)]
        return tuple(dict.fromkeys(kept))[:_MOST_CONDITIONS]

    points = [
        TouchPoint(
            id=point.id,
            title=point.title,
            cards=tuple(cards_hit(point.removed, point.added, host)),
            conditions=verified(point.conditions),
        )
        for point in proposals
    ]
    if not any(point.conditions for point in points):
        other = verified(list(_any_difference(before, after)))
        points.append(
            TouchPoint(id="change", title=_files_changed(before, after), cards=(), conditions=other)
        )
    return tuple(_with_cards(points, cards))


def _with_cards(points: Sequence[TouchPoint], cards: Sequence[str]) -> Iterator[TouchPoint]:
    named = {card for point in points for card in point.cards}
    free = tuple(card for card in cards if card not in named)
    for point in points:
        yield point if point.cards else TouchPoint(point.id, point.title, free, point.conditions)


@dataclass(frozen=True)
class _Proposal:
    id: str
    title: str
    removed: Facts
    added: Facts
    conditions: tuple[Condition, ...]


def _kind(facts: Facts, *kinds: str) -> Facts:
    return Facts({fact: count for fact, count in facts.items() if split_fact(fact)[0] in kinds})


def _values(facts: Facts, kind: str) -> list[str]:
    return sorted(split_fact(fact)[1] for fact in _kind(facts, kind))


def _manifest(before: Tree, after: Tree, host: Host) -> _Proposal | None:
    old, new = (dict(_leaves(tree, host)) for tree in (before, after))
    gone = [keys for keys in old if keys not in new]
    come = [keys for keys in new if keys not in old]
    changed = [keys for keys in old if keys in new and old[keys] != new[keys]]
    if not (gone or come or changed):
        return None
    conditions = [Condition("manifest", keys, holds=False) for keys in gone if not _layout_only(keys)]
    conditions += [Condition("manifest", keys, holds=True) for keys in come if not _layout_only(keys)]
    parts = [f"without {_dotted(keys)}" for keys in gone] + [f"with {_dotted(keys)}" for keys in come]
    parts += [f"another {_dotted(keys)}" for keys in changed]
    return _Proposal(
        id="manifest",
        title="package.json: " + ", ".join(parts[:6]),
        removed=Facts(f"manifest:{_dotted(keys)}={old[keys]}" for keys in [*gone, *changed]),
        added=Facts(f"manifest:{_dotted(keys)}={new[keys]}" for keys in [*come, *changed]),
        conditions=tuple(conditions),
    )


def _layout_only(keys: tuple[str, ...]) -> bool:
    """Which of `main` and `exports` names the entry is the author's choice, and so is its path."""
    return keys == ("main",) or keys[:2] == ("exports", ".")


def _dotted(keys: tuple[str, ...]) -> str:
    return keys[0] + "".join(
        f".{key}" if re.fullmatch(r"[\w$@/-]+", key) else f'["{key}"]' for key in keys[1:]
    )


def _leaves(tree: Tree, host: Host) -> Iterator[tuple[tuple[str, ...], str]]:
    root = tree.get("package.json")
    document = package_json.parse(root.data) if root is not None else None
    for key in host.manifest:
        if document is not None and key in document:
            yield from _flatten(document[key], (key,))


def _flatten(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flatten(inner, (*keys, key))
    else:
        yield keys, json.dumps(value, ensure_ascii=False, sort_keys=True)


def _injection(removed: Facts, added: Facts) -> _Proposal | None:
    gone = set(_values(removed, "inject")) - set(_values(added, "inject"))
    come = set(_values(added, "inject")) - set(_values(removed, "inject"))
    members_gone = set(_values(removed, "use")) - set(_values(added, "use"))
    if not gone and not come:
        return None
    conditions = [Condition("injects", service, holds=True) for service in sorted(come)]
    conditions += [Condition("injects", service, holds=False) for service in sorted(gone)]
    conditions += [Condition("member", service, holds=False) for service in sorted(gone & members_gone)]
    if gone and come:
        title = f"inject: {', '.join(sorted(gone))} became {', '.join(sorted(come))}"
    else:
        title = f"inject: {', '.join(sorted(come or gone))} {'added' if come else 'removed'}"
    return _Proposal(
        id="inject",
        title=title,
        removed=_kind(removed, "inject", "use"),
        added=_kind(added, "inject", "use"),
        conditions=tuple(conditions),
    )


def _host_files(before: Tree, after: Tree, host: Host) -> _Proposal | None:
    gone = sorted(path for path in before if path not in after and host.host_file(path))
    come = sorted(path for path in after if path not in before and host.host_file(path))
    if not gone and not come:
        return None
    # A source that stays behind at an old place does no harm; a manifest there does.
    told = (
        [path for path in gone if is_manifest(path)] or [path for path in gone if not is_source(path)] or gone
    )
    conditions = [Condition("file", path, holds=False) for path in told]
    conditions += [Condition("file", path, holds=True) for path in come if not is_source(path)]
    parts = [f"{path} removed" for path in told[:3]] + [f"{path} added" for path in come[:3]]
    return _Proposal(
        id="files",
        title="files that the host reads: " + ", ".join(parts),
        removed=Facts(f"file:{path}" for path in gone)
        + Facts(f"file:{host.host_file(path)}" for path in gone),
        added=Facts(f"file:{path}" for path in come) + Facts(f"file:{host.host_file(path)}" for path in come),
        conditions=tuple(conditions),
    )


def _words(removed: Facts, added: Facts) -> _Proposal | None:
    gone = set(_values(removed, "word")) - set(_values(added, "word"))
    come = set(_values(added, "word")) - set(_values(removed, "word"))
    if not gone and not come:
        return None
    conditions = [Condition("word", word, holds=True) for word in sorted(come)]
    conditions += [Condition("word", word, holds=False) for word in sorted(gone)]
    left = f"{', '.join(sorted(gone))} replaced" if gone else "new names of the host"
    return _Proposal(
        id="names",
        title=f"names of the host in code: {left}" + (f" by {', '.join(sorted(come))}" if come else ""),
        removed=_kind(removed, "word"),
        added=_kind(added, "word"),
        conditions=tuple(conditions),
    )


def _imports(removed: Facts, added: Facts) -> _Proposal | None:
    gone = set(_values(removed, "import")) - set(_values(added, "import"))
    come = set(_values(added, "import")) - set(_values(removed, "import"))
    if not gone and not come:
        return None
    conditions = [Condition("imports", name, holds=False) for name in sorted(gone)]
    conditions += [Condition("imports", name, holds=True) for name in sorted(come)]
    parts = [f"{name} no longer" for name in sorted(gone)[:3]] + [f"{name} now" for name in sorted(come)[:3]]
    return _Proposal(
        id="imports",
        title="imports of the host's packages: " + ", ".join(parts),
        removed=_kind(removed, "import"),
        added=_kind(added, "import"),
        conditions=tuple(conditions),
    )


def _files_changed(before: Tree, after: Tree) -> str:
    steps = plan(before, after)
    paths = [*steps.copies, *steps.removals]
    return "changed: " + ", ".join(paths[:4]) + (f" and {len(paths) - 4} more" if len(paths) > 4 else "")


def _any_difference(before: Tree, after: Tree) -> Iterator[Condition]:
    """Conditions for a migration of which the host's data knows nothing."""
    steps = plan(before, after)
    for path in steps.removals:
        yield Condition("file", path, holds=False)
    for path in sorted(steps.copies, key=_weight):
        if path not in before:
            yield Condition("file", path, holds=True)
            continue
        if b"\0" in after[path].data:
            if before[path].data != after[path].data:
                yield Condition("digest", (path, hashlib.sha256(after[path].data).hexdigest()), holds=True)
            continue
        old, new = (tree[path].data.decode("utf-8", "replace") for tree in (before, after))
        if path.endswith(SOURCE_SUFFIXES):
            gone, come = identifiers(old) - identifiers(new), identifiers(new) - identifiers(old)
            yield from (
                Condition("word", word, holds=True) for word in sorted(come, key=len, reverse=True)[:2]
            )
            yield from (
                Condition("word", word, holds=False) for word in sorted(gone, key=len, reverse=True)[:2]
            )
        known = {row.strip() for row in old.split("\n")}
        fresh = [row.strip() for row in new.split("\n") if row.strip() not in known and len(row.strip()) > 3]
        yield from (
            Condition("line", (path, row), holds=True) for row in sorted(fresh, key=len, reverse=True)[:1]
        )


def _weight(path: str) -> int:
    """Code first, words for people last: what a licence or a document says is hardly what a migration is about."""
    if is_source(path):
        return 0
    return 2 if is_document(path) or is_licence_file(path) else 1
