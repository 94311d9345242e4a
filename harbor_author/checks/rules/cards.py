"""Citations of cards, and links, in a task's own files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.suite import CardSet, Citation, find_citations, without_fences

_TEXT = (".md", ".mjs", ".cjs", ".js", ".ts", ".json", ".toml", ".yaml", ".yml", ".sh", ".txt")
_LIMIT = 256 << 10


def about_host(files: TaskFiles) -> bool:
    """The task's series is about the suite's host."""
    if files.suite is None:
        return False
    name = files.task.task_name
    series = files.suite.settings.series.get(name.series) if name is not None else None
    return series is None or series.host


def _cited(files: TaskFiles) -> Iterator[tuple[str, Citation]]:
    for entry in files.files():
        path = entry.path
        if path == "proof.json" or not path.endswith(_TEXT) or entry.size > _LIMIT or files.is_binary(path):
            continue
        if path.startswith("environment/fixture/"):
            continue
        for citation in find_citations(files.text(path)):
            yield path, citation


@rule(name="card-citation-short", pack="suite", severity="error")
def card_citation_short(files: TaskFiles) -> Iterator[Problem]:
    """A card is cited by a short form, a range or a wildcard instead of its full ID.

    Why: ranges were expanded by arithmetic over numbers that have gaps, so `A2-01..08` claimed a card that does not
        exist and hid one that does; IDs in code and TOML went unchecked because they were written in short.
    Bad: DSH-0.1.2-A1-25/26/27
    Good: DSH-0.1.2-A1-25, DSH-0.1.2-A1-26, DSH-0.1.2-A1-27
    Fix: write the full ID of each card that is meant.
    """
    if files.suite is None:
        return
    cards = files.suite.cards()
    for path, citation in _cited(files):
        if citation.form == "full" or not _meant(path, citation, cards):
            continue
        full = expand(citation, cards)
        hint = "write " + ", ".join(full) if full else None
        if replacement(path, citation, cards):
            hint = f"{hint}; 'author fix' does it"
        if citation.form == "retired":
            message = f"'{citation.text}' is a retired spelling"
        elif citation.form == "rollup":
            message = f"'{citation.text}' cites a roll-up recipe, not a card"
            hint = hint or "cite the cards that the recipe joins, by full ID"
        else:
            message = f"'{citation.text}' is a {citation.form} citation"
            message += (
                f"; it must become {', '.join(full)}" if full else "; which cards are meant cannot be told"
            )
        yield Problem(message, path, citation.line, citation.column, hint)


def _meant(path: str, citation: Citation, cards: CardSet) -> bool:
    """A bare tail such as `A1-25` is a citation only where a version can be told, or in prose."""
    if citation.form in ("tail", "slash", "range", "wildcard") and not citation.ids:
        return path.endswith(".md") and bool(cards.cards)
    return True


def expand(citation: Citation, cards: CardSet) -> list[str]:
    """The full IDs that a citation must become; empty when that cannot be told from the declared cards."""
    if citation.form == "range" and len(citation.ids) == 2:
        return cards.expand_range(*citation.ids)
    if citation.form == "wildcard" and citation.ids:
        return cards.with_prefix(citation.ids[0])
    if citation.form in ("tail", "slash"):
        return [card_id for card_id in citation.ids if cards.get(card_id) is not None]
    return []


def replacement(path: str, citation: Citation, cards: CardSet) -> list[str]:
    """The full IDs that `author fix` writes in a citation's place: in Markdown alone, where each is declared."""
    if not path.endswith(".md") or citation.form not in ("tail", "slash", "range", "wildcard"):
        return []
    full = expand(citation, cards)
    certain = citation.form in ("range", "wildcard") or len(full) == len(citation.ids)
    return full if certain else []


@rule(name="card-unknown", pack="suite", severity="error")
def card_unknown(files: TaskFiles) -> Iterator[Problem]:
    """A cited card does not exist.

    Why: the published suite's own check knows alpha cards in Markdown alone; a misspelt `R` card in a judge sent
        readers to nothing for two releases.
    Bad: DSH-0.1.2-A1-99
    Good: the ID of a heading in references/
    Fix: cite the nearest card that is named, or declare the card.
    """
    if files.suite is None:
        return
    cards = files.suite.cards()
    for path, citation in _cited(files):
        for card_id in citation.ids if citation.form in ("full", "tail", "slash") else ():
            if cards.get(card_id) is None:
                near = cards.nearest(card_id)
                hint = f"the nearest is {near}" if near else None
                yield Problem(f"there is no card {card_id}", path, citation.line, citation.column, hint)
        if citation.form == "range" and citation.ids and not cards.expand_range(*citation.ids[:2]):
            yield Problem(f"no card lies in the range {citation.text}", path, citation.line, citation.column)
        if citation.form == "wildcard" and citation.ids and not cards.with_prefix(citation.ids[0]):
            yield Problem(f"no card begins with {citation.ids[0]}", path, citation.line, citation.column)


@rule(name="card-leak", pack="suite", severity="error")
def card_leak(files: TaskFiles) -> Iterator[Problem]:
    """A card's ID stands where the agent sees it.

    Why: a fixture's README named the card that describes its fault, so the agent needed to find nothing; a report that
        copied the IDs from the prompt scored 80.
    Bad: DSH-0.1.2-A1-02 in environment/fixture/README.md
    Good: cards are named in tests/, solution/ and the task's own README
    Fix: describe what can be seen, and leave the card out.
    """
    if files.suite is None:
        return
    seen = [*files.instructions, *(e.path for e in files.files("environment/"))]
    for path in seen:
        entry = files.entries[path]
        if entry.size > _LIMIT or files.is_binary(path):
            continue
        for citation in find_citations(files.text(path)):
            if citation.form in ("rollup", "retired") or not citation.text.startswith("DSH-"):
                continue
            yield Problem(f"the agent can read {citation.text} here", path, citation.line, citation.column)
            break


@rule(name="card-set-invalid", pack="suite", severity="error")
def card_set_invalid(files: TaskFiles) -> Iterator[Problem]:
    """metadata.cards names something that is no card.

    Why: coverage of the cards is counted from this list; a stale entry counted a card as covered that no task asks for.
    Bad: cards = ["DSH-0.1.2-A1"]
    Good: cards = ["DSH-0.1.2-A1-02"]
    Fix: list full IDs of declared cards.
    """
    cards = files.table("metadata").get("cards")
    if cards is None or files.suite is None:
        return
    line, column = files.where("metadata", "cards")
    if not isinstance(cards, list):
        yield Problem("[metadata] cards is no list", "task.toml", line, column)
        return
    for item in cards:
        full = isinstance(item, str) and [c.form for c in find_citations(item)] == ["full"]
        if not full:
            yield Problem(f"{item!r} in [metadata] cards is no card's full ID", "task.toml", line, column)


_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]{1,300})\]\((?P<target>[^)\s]{1,500})(?:\s+\"[^\"\n]*\")?\)")


@rule(name="broken-link", pack="suite", severity="error")
def broken_link(files: TaskFiles) -> Iterator[Problem]:
    """A relative link in the task's documents, or its anchor, leads nowhere.

    Why: after a card file was renamed, eleven solutions linked to a file that was gone.
    Bad: [the card](../../references/v0.1.2-alpha.9.md)
    Good: [the card](../../references/v0.1.2-alpha.2.md#dsh-012-a2-01--title)
    Fix: correct the path or the anchor.
    """
    for path in ("README.md", "solution/SOLUTION.md"):
        if not files.is_file(path):
            continue
        text = without_fences(files.text(path))
        for number, line in enumerate(text.split("\n"), 1):
            for match in _LINK.finditer(re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), line)):
                fault = _link_fault(files, path, match["target"])
                if fault:
                    yield Problem(fault, path, number, match.start("target") + 1)


def _link_fault(files: TaskFiles, path: str, target: str) -> str:
    if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.IGNORECASE):
        return ""
    from urllib.parse import unquote

    name, _, anchor = unquote(target).partition("#")
    if "\0" in name:
        return f"'{target[:80]}' is no path"
    start = (files.root / path).parent
    place = (start / name).resolve() if name else files.root / path
    top = files.suite.root if files.suite is not None else files.root
    if not place.is_relative_to(top.resolve()):
        return f"'{target}' leads out of the suite"
    if not place.is_relative_to(files.root):
        files.consulted.add(place)
    try:
        if not place.exists():
            return f"'{target}' does not exist"
        if not anchor or place.suffix != ".md" or not place.is_file():
            return ""
        text = place.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return f"'{target[:80]}' cannot be read"
    return "" if anchor.lower() in _anchors(text) else f"'{name or path}' has no heading '#{anchor}'"


def _anchors(text: str) -> set[str]:
    """Anchors that a forge gives to headings, and explicit ones."""
    found: set[str] = set()
    counts: dict[str, int] = {}
    for line in without_fences(text).split("\n"):
        for explicit in re.finditer(r"<a\s+(?:id|name)=[\"']([^\"']+)", line):
            found.add(explicit[1].lower())
        match = re.match(r"#{1,6}\s+(.*?)\s*#*\s*$", line)
        if match is None:
            continue
        plain = re.sub(r"[*_`]|\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = counts.get(slug, 0)
        counts[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found
