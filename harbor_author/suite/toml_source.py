"""TOML as a consumer reads it (tomllib), with the line of each key for messages."""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harbor_author.suite.errors import SuiteError

#: No text of a suite is so large; a sparse file may be.
MAX_BYTES = 64 << 20

_HEADER = re.compile(r"\s*(\[{1,2})\s*(.+?)\s*\]{1,2}\s*(?:#.*)?$")
#: Each place of a longer one would be tried.
_LONGEST_HEADER = 300
_KEY_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")
_AT = re.compile(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)


@dataclass(frozen=True)
class TomlSource:
    """A parsed TOML document and where its keys stand.

    Attributes:
        document: what tomllib gives.
        lines: (path of keys) -> 1-based line of its first mention; array-of-table items share one path.
    """

    document: dict[str, Any]
    lines: dict[tuple[str, ...], int] = field(repr=False)

    def line(self, *keys: str) -> int | None:
        """The line of a key or table; for one inside an inline table, the line of the table."""
        while keys:
            if keys in self.lines:
                return self.lines[keys]
            keys = keys[:-1]
        return None


def read_plain(path: Path) -> bytes:
    """The bytes of a regular file. A link, a FIFO or a device in its place leads elsewhere or never ends.

    Raises:
        OSError: it is none, is larger than `MAX_BYTES`, or cannot be read.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link", str(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if status.st_size > MAX_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES >> 20} MB", str(path))
        return stream.read()


def read_text(path: Path) -> str:
    """The text of a regular file.

    Raises:
        SuiteError: it cannot be read, is not UTF-8 (the line is named), or begins with a byte-order mark.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would wait for ever
            raise SuiteError("is no regular file", path=path, hint="put the file itself there, or remove it")
        data = read_plain(path)
    except OSError as error:
        raise SuiteError(
            f"cannot be read: {error.strerror}", path=path, hint="check the path and its permissions"
        ) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SuiteError(
            f"is not UTF-8: byte 0x{data[error.start]:02x}",
            path=path,
            line=line,
            hint="save the file as UTF-8",
        ) from error
    if text.startswith("\ufeff"):
        raise SuiteError(
            "begins with a byte-order mark", path=path, line=1, hint="save the file as UTF-8 without BOM"
        )
    return text


def parse_toml(text: str, *, path: Path) -> TomlSource:
    """Parse TOML text.

    Raises:
        SuiteError: a syntax error, with line and column.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _AT.match(str(error))
        message = match[1] if match else str(error)
        line = int(match[2]) if match and match[2] else text.count("\n") + 1
        column = int(match[3]) if match and match[3] else None
        raise SuiteError(
            f"is not valid TOML: {message[:1].lower()}{message[1:]}",
            path=path,
            line=line,
            column=column,
            hint="in a basic string write a backslash as \\\\, or use a literal '...' string"
            if "escape" in message
            else "correct the syntax there",
        ) from error
    except ValueError as error:  # of Python's own, as for an integer of more digits than it converts
        raise SuiteError(
            "holds a number that is too long", path=path, hint="a TOML integer has 64 bits: at most 19 digits"
        ) from error
    except RecursionError as error:
        raise SuiteError("is nested too deeply", path=path, hint="flatten it") from error
    return TomlSource(document, _key_lines(text))


def _key_lines(text: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    scanner = _ValueScanner()
    for number, line in enumerate(text.split("\n"), 1):
        if scanner.open:
            scanner.feed(line)
            continue
        header = _HEADER.match(line) if len(line) <= _LONGEST_HEADER else None
        if header and not _assigns(line):
            table = _keys(header[2])
            lines.setdefault(table, number)
            continue
        keys, rest = _assignment(line)
        if keys:
            for length in range(1, len(keys) + 1):
                lines.setdefault(table + keys[:length], number)
            scanner.feed(rest)
    return lines


def _assigns(line: str) -> bool:
    return bool(_assignment(line)[0])


def _assignment(line: str) -> tuple[tuple[str, ...], str]:
    position = 0
    keys: list[str] = []
    while True:
        match = _KEY_PART.match(line, position)
        if match is None:
            return (), ""
        keys.append(_unquote(match[1]))
        position = match.end()
        if line[position : position + 1] == "=":
            return tuple(keys), line[position + 1 :]
        if line[position : position + 1] != ".":
            return (), ""
        position += 1


def _keys(dotted: str) -> tuple[str, ...]:
    return tuple(_unquote(part) for part in _KEY_PART.findall(dotted))


def _unquote(part: str) -> str:
    if part[0] == '"':
        try:
            return str(tomllib.loads(f"k = {part}")["k"])
        except tomllib.TOMLDecodeError:
            return part[1:-1]
    return part[1:-1] if part[0] == "'" else part


class _ValueScanner:
    """Tells whether a value that began on an earlier line is still open (a long string, an array)."""

    def __init__(self) -> None:
        self._quote = ""
        self._depth = 0

    @property
    def open(self) -> bool:
        return bool(self._quote) or self._depth > 0

    def feed(self, line: str) -> None:
        position = 0
        while position < len(line):
            if self._quote:
                if line[position] == "\\" and self._quote[0] == '"':
                    position += 2
                elif line.startswith(self._quote, position):
                    position += len(self._quote)
                    self._quote = ""
                else:
                    position += 1
                continue
            character = line[position]
            if character == "#":
                break
            if character in "\"'":
                self._quote = character * 3 if line.startswith(character * 3, position) else character
                position += len(self._quote)
                continue
            self._depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(character, 0)
            position += 1
        if len(self._quote) == 1:
            self._quote = ""
