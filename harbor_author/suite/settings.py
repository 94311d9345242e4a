"""`author.toml`: what it may hold, its defaults, and precise complaints about the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from harbor_author.suite.errors import SuiteError
from harbor_author.suite.ids import parse_ranges, parse_task_id
from harbor_author.suite.toml_source import TomlSource, parse_toml, read_text

FILE_NAME = "author.toml"
MODES = ("readonly", "mutable", "build-artifacts-only")
CONTRACTS = ("BENCHMARK-AUTH-v1",)


@dataclass(frozen=True)
class HostSettings:
    """The program whose upgrade the tasks are about, as the templates' Dockerfile installs it.

    Attributes:
        image: base image of a task.
        pnpm: version of pnpm in the image.
        dsh: version of the host, spelt as the host spells it (`0.1.2-alpha.3`).
        source: the registry that has it.
    """

    image: str = "node:24-bookworm"
    pnpm: str = "11.24.0"
    dsh: str = "0.1.2-alpha.2"
    source: Literal["npm", "pypi"] = "npm"


@dataclass(frozen=True)
class SeriesSettings:
    """A series letter: what it is called, what its tasks let an agent change by default, and whether they are
    about the suite's host at all (`host = "none"` in author.toml: no)."""

    title: str
    mode: str
    host: bool = True


DEFAULT_SERIES: Mapping[str, SeriesSettings] = {
    "S": SeriesSettings("static", "readonly"),
    "M": SeriesSettings("migration", "mutable"),
    "H": SeriesSettings("hands-on trap", "mutable"),
}


@dataclass(frozen=True)
class Settings:
    """All of an `author.toml`, with defaults filled in. `path` is the file."""

    path: Path
    name: str
    references: tuple[str, ...] = ("references",)
    contract: str = "BENCHMARK-AUTH-v1"
    host: HostSettings = HostSettings()
    reserved: tuple[str, ...] = ()
    retired: Mapping[str, str] = field(default_factory=dict)
    on_error: Literal["zero", "no-reward"] = "zero"
    readme: str | None = None
    scoring: str | None = None
    series: Mapping[str, SeriesSettings] = field(default_factory=lambda: dict(DEFAULT_SERIES))
    modes: Mapping[str, str] = field(default_factory=dict)
    validate: Mapping[str, Any] = field(default_factory=dict)


#: table -> key -> type; `*` stands for any key. The JSON Schema for editors is made from it.
SHAPE: Mapping[str, Mapping[str, Any]] = {
    "suite": {"name": str, "references": list, "contract": str},
    "host": {"image": str, "pnpm": str, "dsh": str, "source": str},
    "registry": {"reserved": list, "retired": dict},
    "judge": {"on_error": str},
    "registers": {"readme": str, "scoring": str},
    "series": {"*": dict},
    "modes": {"*": str},
    "validate": {"select": list, "ignore": list, "severity": dict, "suppress": list},
}
_TYPE_WORDS = {str: "a string", list: "a list", dict: "a table"}


def load_settings(path: Path) -> Settings:
    """Read an `author.toml`.

    Raises:
        SuiteError: unreadable, not TOML, an unknown key (with the nearest known one), a wrong type or value;
            always with the line.
    """
    source = parse_toml(read_text(path), path=path)
    checker = _Checker(path, source)
    checker.check_shape()
    document = source.document
    suite = document.get("suite", {})
    registry = document.get("registry", {})
    registers = document.get("registers", {})
    host = HostSettings(**document.get("host", {}))
    checker.one_of(("host", "source"), host.source, ("npm", "pypi"))
    for key in ("image", "pnpm", "dsh"):
        checker.plain(("host", key), getattr(host, key))
    on_error = document.get("judge", {}).get("on_error", "zero")
    checker.one_of(("judge", "on_error"), on_error, ("zero", "no-reward"))
    contract = suite.get("contract", CONTRACTS[0])
    checker.one_of(("suite", "contract"), contract, CONTRACTS)
    name = suite.get("name", path.parent.resolve().name)
    checker.suite_name(name)
    references = checker.strings(("suite", "references"), suite.get("references", ["references"]))
    reserved = checker.strings(("registry", "reserved"), registry.get("reserved", []))
    checker.ranges(("registry", "reserved"), reserved)
    retired = checker.retired(registry.get("retired", {}))
    for key, value in registers.items():
        checker.inside(("registers", key), value)
    for value in references:
        checker.inside(("suite", "references"), value)
    return Settings(
        path=path,
        name=name,
        references=references,
        contract=contract,
        host=host,
        reserved=reserved,
        retired=retired,
        on_error=on_error,
        readme=registers.get("readme"),
        scoring=registers.get("scoring"),
        series={**DEFAULT_SERIES, **checker.series(document.get("series", {}))},
        modes=checker.modes(document.get("modes", {})),
        validate=document.get("validate", {}),
    )


class _Checker:
    """The complaints about one file: each names the line and the remedy."""

    def __init__(self, path: Path, source: TomlSource) -> None:
        self.path = path
        self.source = source

    def fail(self, keys: tuple[str, ...], message: str, hint: str) -> None:
        # A value of the file may hold line breaks; it must not forge lines of our output.
        message, hint = (
            "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
            for text in (message, hint)
        )
        raise SuiteError(message, path=self.path, line=self.source.line(*keys), hint=hint)

    def check_shape(self) -> None:
        for table, value in self.source.document.items():
            known = SHAPE.get(table)
            if known is None:
                self.unknown((table,), table, SHAPE, "table" if isinstance(value, dict) else "key")
            if not isinstance(value, dict):
                self.fail((table,), f"'{table}' must be a table", f"write [{table}] above its keys")
            for key, item in value.items():
                kind = known.get(key, known.get("*"))  # type: ignore[union-attr]
                if kind is None:
                    self.unknown(
                        (table, key), f"{table}.{key}", [f"{table}.{name}" for name in known or ()], "key"
                    )
                elif not isinstance(item, kind):
                    self.fail(
                        (table, key), f"'{table}.{key}' must be {_TYPE_WORDS[kind]}", "correct its value"
                    )

    def unknown(self, keys: tuple[str, ...], name: str, known: Any, kind: str) -> None:
        # The very key in another table is a likelier slip than a similar key in this one.
        near = [f"{table}.{keys[-1]}" for table, names in SHAPE.items() if keys[-1] in names]
        near = near or get_close_matches(name, list(known), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "known: " + ", ".join(sorted(known))
        self.fail(keys, f"unknown {kind} '{name}'", hint)

    def one_of(self, keys: tuple[str, ...], value: Any, allowed: tuple[str, ...]) -> None:
        if value not in allowed:
            near = get_close_matches(str(value), allowed, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "use one of: " + ", ".join(allowed)
            self.fail(keys, f"'{'.'.join(keys)}' cannot be '{value}'", hint)

    def plain(self, keys: tuple[str, ...], value: str) -> None:
        # These go into a Dockerfile: a newline or blank there would be another instruction.
        if not value or any(character.isspace() or not character.isprintable() for character in value):
            self.fail(keys, f"'{'.'.join(keys)}' must be one word", "remove blanks and control characters")

    def suite_name(self, name: str) -> None:
        import re

        if not re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]*", name) or ".." in name:
            self.fail(
                ("suite", "name"),
                f"'{name}' cannot be a suite's name: Harbor wants letters, digits, '.', '_' and '-'",
                'set [suite] name = "my-suite" in author.toml',
            )

    def strings(self, keys: tuple[str, ...], values: list[Any]) -> tuple[str, ...]:
        for value in values:
            if not isinstance(value, str):
                self.fail(keys, f"'{'.'.join(keys)}' must hold strings only", f'write "{value}"')
        return tuple(values)

    def ranges(self, keys: tuple[str, ...], entries: tuple[str, ...]) -> None:
        try:
            parse_ranges(entries)
        except SuiteError as error:
            self.fail(keys, error.message, error.hint or "")

    def retired(self, table: dict[str, Any]) -> dict[str, str]:
        for key, reason in table.items():
            if parse_task_id(key) is None:
                self.fail(("registry", "retired", key), f"'{key}' is not a task ID", "write an ID such as H4")
            if not isinstance(reason, str) or not reason.strip():
                self.fail(
                    ("registry", "retired", key), f"{key} is retired without a reason", f'write {key} = "why"'
                )
        return dict(table)

    def modes(self, table: dict[str, str]) -> dict[str, str]:
        for key, mode in table.items():
            if parse_task_id(key) is None:
                self.fail(("modes", key), f"'{key}' is not a task ID", "write an ID such as H13")
            self.one_of(("modes", key), mode, MODES)
        return dict(table)

    def inside(self, keys: tuple[str, ...], value: str) -> None:
        path = Path(value)
        if path.is_absolute() or ".." in path.parts or not value:
            self.fail(
                keys, f"'{value}' leaves the suite", "write a path relative to author.toml, without '..'"
            )

    def series(self, table: dict[str, Any]) -> dict[str, SeriesSettings]:
        found = {}
        for letter, value in table.items():
            keys = ("series", letter)
            if len(letter) != 1 or not ("A" <= letter <= "Z"):
                self.fail(keys, f"'{letter}' cannot be a series", "a series is one capital letter")
            for key in value:
                if key not in ("title", "mode", "host"):
                    self.unknown((*keys, key), f"series.{letter}.{key}", ["title", "mode", "host"], "key")
            default = DEFAULT_SERIES.get(letter, SeriesSettings(letter, "mutable"))
            mode = value.get("mode", default.mode)
            self.one_of((*keys, "mode"), mode, MODES)
            title = value.get("title", default.title)
            if not isinstance(title, str):
                self.fail((*keys, "title"), f"'series.{letter}.title' must be a string", "correct its value")
            host = value.get("host", "dsh" if default.host else "none")
            self.one_of((*keys, "host"), host, ("dsh", "none"))
            found[letter] = SeriesSettings(title, mode, host == "dsh")
        return found
