"""Where each key of a TOML text stands, found by a scan that is a fraction of a full parse."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

KeyPath = tuple[str | int, ...]
Position = tuple[int, int]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_AT = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True)
class TomlFault:
    """Why a text is no TOML; `line` is None only when the parser does not say."""

    message: str
    line: int | None
    column: int | None


def parse(text: str) -> tuple[dict[str, Any] | None, TomlFault | None]:
    """The document, or why it is none. Line ends and a byte-order mark must be gone from `text`."""
    try:
        return tomllib.loads(text), None
    except RecursionError:
        return None, TomlFault("the values are nested too deeply", None, None)
    except ValueError as error:
        message = str(error)
        match = _AT.search(message)
        if match is None:
            return None, TomlFault(message, None, None)
        message = message[: match.start()]
        if match[1]:
            return None, TomlFault(message, int(match[1]), int(match[2]))
        return None, TomlFault(message, text.count("\n") + 1, None)


def locate(text: str) -> dict[KeyPath, Position]:
    """Line and column of each table header and key of a text that parses.

    Keys inside inline tables and arrays are not located; their owner is.
    """
    return _Scan(text).run()


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.found: dict[KeyPath, Position] = {}
        self.counts: dict[KeyPath, int] = {}
        self.line_starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def run(self) -> dict[KeyPath, Position]:
        table: KeyPath = ()
        size = len(self.text)
        while self.pos < size:
            self._blank()
            if self.pos >= size:
                break
            start = self.pos
            if self.text[start] == "[":
                array = self.text.startswith("[[", start)
                self.pos += 2 if array else 1
                table = self._header(self._dotted("]"), array)
                self._note(table, start)
                self._to_line_end()
            else:
                keys = self._dotted("=")
                path = (*table, *keys)
                for depth in range(len(table) + 1, len(path) + 1):
                    self._note(path[:depth], start)
                if self.text.startswith("=", self.pos):
                    self.pos += 1
                    self._value()
                self._to_line_end()
        return self.found

    def _header(self, keys: list[str], array: bool) -> KeyPath:
        path: KeyPath = ()
        for index, key in enumerate(keys):
            path = (*path, key)
            if index == len(keys) - 1 and array:
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _note(self, path: KeyPath, offset: int) -> None:
        if path in self.found:
            return
        line = _bisect(self.line_starts, offset)
        self.found[path] = (line, offset - self.line_starts[line - 1] + 1)
        if path and isinstance(path[-1], int):
            self.found.setdefault(path[:-1], self.found[path])

    def _blank(self) -> None:
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char in " \t\r\n":
                self.pos += 1
            elif char == "#":
                self._to_line_end()
            else:
                return

    def _to_line_end(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end + 1

    def _dotted(self, stop: str) -> list[str]:
        keys: list[str] = []
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == stop or char == "\n":
                break
            if char in "\"'":
                start = self.pos
                self._string()
                raw = self.text[start : self.pos]
                keys.append(_unquote(raw))
            elif match := _BARE.match(self.text, self.pos):
                keys.append(match[0])
                self.pos = match.end()
            else:
                self.pos += 1
        return keys

    def _value(self) -> None:
        depth = 0
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char in "\"'":
                self._string()
                continue
            if char in "[{":
                depth += 1
            elif char in "]}":
                depth -= 1
            elif char == "#":
                end = self.text.find("\n", self.pos)
                self.pos = len(self.text) if end < 0 else end
                continue
            elif char == "\n" and depth <= 0:
                return
            self.pos += 1

    def _string(self) -> None:
        quote = self.text[self.pos]
        triple = quote * 3
        if self.text.startswith(triple, self.pos):
            self.pos += 3
            mark = triple
        else:
            self.pos += 1
            mark = quote
        while self.pos < len(self.text):
            if self.text[self.pos] == "\\" and quote == '"':
                self.pos += 2
            elif self.text.startswith(mark, self.pos):
                self.pos += len(mark)
                # A multi-line string may end in up to two more quotes that belong to it.
                while len(mark) == 3 and self.text.startswith(quote, self.pos):
                    self.pos += 1
                return
            else:
                self.pos += 1


def _bisect(starts: list[int], offset: int) -> int:
    from bisect import bisect_right

    return bisect_right(starts, offset)


def _unquote(raw: str) -> str:
    try:
        (key,) = tomllib.loads(f"{raw} = 0")
    except ValueError:
        return raw.strip("\"'")
    return str(key)
