"""What a host's upgrade looks like in a plugin's history: the data files in `hosts/`, one entry a card."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from harbor_author.mining.errors import MiningError

HOSTS_DIR = Path(__file__).parent / "hosts"
_KNOWN_PATHS = 20_000
_SIDES = ("services", "words", "manifest", "files", "packages")


@dataclass(frozen=True)
class CardPattern:
    """The identifiers that a card takes away (`old`) and brings (`new`), by kind.

    Kinds: `services` (injected names), `words` (identifiers in code), `manifest` (dotted paths of package.json),
    `files` (globs below the package), `packages` (import specifiers).
    """

    id: str
    title: str
    old: Mapping[str, tuple[str, ...]]
    new: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class RuntimeData:
    """What a judge needs to boot the host: the shipped bundles of a profile, and what asks for the web one.

    Attributes:
        web_services: services that only the web profile has.
        client: keys of package.json below which a browser half is declared.
    """

    headless: tuple[str, ...]
    web: tuple[str, ...]
    web_services: frozenset[str]
    client: tuple[str, ...]


@dataclass(frozen=True)
class Host:
    """One host's data file."""

    name: str
    packages: tuple[str, ...]
    manifest: tuple[str, ...]
    files: tuple[str, ...]
    contexts: tuple[str, ...]
    services: frozenset[str]
    message_words: Mapping[str, tuple[str, ...]]
    cards: tuple[CardPattern, ...]
    runtime: RuntimeData | None

    @cached_property
    def words(self) -> frozenset[str]:
        """Every identifier that a card names."""
        return frozenset(
            word for card in self.cards for side in (card.old, card.new) for word in side.get("words", ())
        )

    @cached_property
    def anchors(self) -> tuple[bytes, ...]:
        """Byte strings of which a source file holds at least one when it has to do with the host."""
        found = {b"inject", *(name.encode() for name in (*self.packages, *self.contexts))}
        found |= {word.encode() for word in self.words}
        return tuple(sorted(found))

    @cached_property
    def context_patterns(self) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
        """For each name of the context: a member of it, and the end of what is unpacked from it."""
        return tuple(
            (
                re.compile(rf"""{re.escape(name)}\??(?:\.([A-Za-z_$][\w$]*)|\[["']([\w$]+)["']\])"""),
                re.compile(rf"\}}\s*=\s*(?:this\.)?{re.escape(name)}\b(?!\.)"),
            )
            for name in self.contexts
        )

    def is_host_package(self, name: str) -> bool:
        return name.startswith(self.packages)

    def is_addressed_by(self, content: bytes) -> bool:
        """Whether a source file has anything to do with the host."""
        for anchor in self.anchors:  # noqa: SIM110 - a generator here costs a survey a second
            if anchor in content:
                return True
        return False

    def host_file(self, path: str) -> str | None:
        """The glob of `files` that `path` (or its tail below some folder) matches."""
        known = self._host_files
        if path not in known:
            if len(known) > _KNOWN_PATHS:
                known.clear()
            known[path] = self._match(path)
        return known[path]

    @cached_property
    def _host_files(self) -> dict[str, str | None]:
        return {}

    def _match(self, path: str) -> str | None:
        parts = path.split("/")
        tails = ["/".join(parts[start:]) for start in range(len(parts))]
        for glob in self.files:
            if any(
                fnmatchcase(tail, glob) or (glob.endswith("/**") and tail.startswith(glob[:-2]))
                for tail in tails
            ):
                return glob
        return None

    def says(self, kind: str, message: str) -> str | None:
        """The first word of the kind (`host`, `migration`, `fix`, `refactor`) that a commit message holds."""
        lowered = message.lower()
        for word in self.message_words.get(kind, ()):
            if word in lowered and (
                not word.isascii() or re.search(rf"(?<![a-z]){re.escape(word)}", lowered)
            ):
                return word
        return None


def known_hosts() -> list[str]:
    """The names that `--host` takes."""
    return sorted(path.stem for path in HOSTS_DIR.glob("*.toml"))


def load_host(name: str) -> Host:
    """The host called `name`, or the one in the data file at that path.

    Raises:
        MiningError: no such host, or its file is wrong.
    """
    path = Path(name) if name.endswith(".toml") else HOSTS_DIR / f"{name}.toml"
    if not path.is_file():
        near = get_close_matches(name, known_hosts(), n=1)
        hint = (
            f"Did you mean '{near[0]}'?"
            if near
            else f"Known: {', '.join(known_hosts())}; or a path to a .toml."
        )
        raise MiningError(f"there is no host '{name}'", hint=hint)
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MiningError(f"the host's data cannot be read: {error}", path=path) from None
    return _host(document, path)


def _host(document: Mapping[str, Any], path: Path) -> Host:
    def strings(value: object, where: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise MiningError(f"{where} must be a list of strings", path=path)
        return tuple(value)

    if document.get("schema") != 1:
        raise MiningError("the host's data must say schema = 1", path=path)
    cards = []
    for number, entry in enumerate(document.get("card", []), start=1):
        if not isinstance(entry.get("id"), str):
            raise MiningError(f"card {number} has no id", path=path)
        if unknown := set(entry) - {"id", "title", *_SIDES}:
            raise MiningError(f"card {entry['id']}: unknown key '{min(unknown)}'", path=path)
        sides: dict[str, dict[str, tuple[str, ...]]] = {"old": {}, "new": {}}
        for kind in _SIDES:
            for side, values in entry.get(kind, {}).items():
                if side not in sides:
                    raise MiningError(
                        f"card {entry['id']}: {kind} has 'old' and 'new', not '{side}'", path=path
                    )
                sides[side][kind] = strings(values, f"card {entry['id']}: {kind}.{side}")
        cards.append(CardPattern(id=entry["id"], title=str(entry.get("title", "")), **sides))
    named = {
        service for card in cards for side in (card.old, card.new) for service in side.get("services", ())
    }
    return Host(
        name=str(document.get("name", path.stem)),
        packages=strings(document.get("packages", []), "packages"),
        manifest=strings(document.get("manifest", []), "manifest"),
        files=strings(document.get("files", []), "files"),
        contexts=strings(document.get("contexts", []), "contexts"),
        services=frozenset(strings(document.get("services", []), "services")) | named,
        message_words={
            kind: _lower(strings(words, f"words.{kind}")) for kind, words in document.get("words", {}).items()
        },
        cards=tuple(cards),
        runtime=_runtime(document.get("runtime"), strings),
    )


def _runtime(
    table: Mapping[str, Any] | None, strings: Callable[[object, str], tuple[str, ...]]
) -> RuntimeData | None:
    if table is None:
        return None
    return RuntimeData(
        headless=strings(table.get("headless", []), "runtime.headless"),
        web=strings(table.get("web", []), "runtime.web"),
        web_services=frozenset(strings(table.get("web_services", []), "runtime.web_services")),
        client=strings(table.get("client", []), "runtime.client"),
    )


def _lower(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)
