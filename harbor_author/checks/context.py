"""What a rule sees of a task: each file read and parsed once, nothing followed, nothing unbounded."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from harbor_author.checks import composefile, tomltext
from harbor_author.checks.dockerfile import Dockerfile
from harbor_author.checks.dockerfile import parse as parse_dockerfile
from harbor_author.checks.script import Script, parse_script
from harbor_author.checks.tomltext import KeyPath, TomlFault
from harbor_author.checks.tree import Entry, Tree, walk
from harbor_author.suite import Suite, Task, task_mode

if TYPE_CHECKING:
    from pathlib import Path

    from harbor_author.checks.external import Results

#: Longer files are data to every rule: their first bytes are read, no more.
READ_LIMIT = 2 << 20
_BOM = b"\xef\xbb\xbf"
_SNIFF = 8192
_CANARY = re.compile(r"^(?:<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as text: without byte-order mark, line ends made `\\n`.

    Attributes:
        bom, crlf: what was removed.
        bad_byte: 1-based line of the first byte that is no UTF-8, None when there is none.
        truncated: the file is longer than `READ_LIMIT`.
    """

    text: str
    bom: bool
    crlf: bool
    bad_byte: int | None
    truncated: bool


def as_text(data: bytes, *, truncated: bool = False) -> FileText:
    """`data` as text; what is no UTF-8 is replaced, and said."""
    bom = data.startswith(_BOM)
    if bom:
        data = data[3:]
    bad = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A cut in the middle of a character at the read limit is ours, not the file's.
        if not (truncated and error.start >= len(data) - 4):
            bad = data.count(b"\n", 0, error.start) + 1
        text = data.decode("utf-8", "replace")
    crlf = "\r\n" in text
    return FileText(text.replace("\r\n", "\n"), bom, crlf, bad, truncated)


_EMPTY = FileText("", False, False, None, False)
_T = TypeVar("_T")


class TaskFiles:
    """One task under inspection.

    Attributes:
        task: what was asked for; `task.suite` is the suite that it lies in, or None.
        root: its directory.
        today: the day by which suppressions end.
        unreadable: relative path -> cause, of files that could not be read; it grows as rules read.
        consulted: places outside of the task that a rule has looked at, besides the suite's settings and cards and git.
    """

    def __init__(self, task: Task, *, today: datetime.date | None = None) -> None:
        self.task = task
        self.today = today or datetime.date.today()  # noqa: DTZ011 - a person's calendar day
        self.root = task.path
        self.unreadable: dict[str, str] = {}
        self.consulted: set[Path] = set()
        self._data: dict[str, bytes] = {}
        self._text: dict[str, FileText] = {}
        self._binary: dict[str, bool] = {}
        self._files: dict[str, list[Entry]] = {}
        self.memo: dict[str, Any] = {}
        #: What bash, node and shellcheck said; only rules marked `late` find it filled.
        self.programs: Results | None = None

    @property
    def suite(self) -> Suite | None:
        return self.task.suite

    @cached_property
    def tree(self) -> Tree:
        return walk(self.root)

    @property
    def entries(self) -> Mapping[str, Entry]:
        return self.tree.entries

    def is_file(self, path: str) -> bool:
        entry = self.entries.get(path)
        return entry is not None and entry.kind == "file"

    def is_dir(self, path: str) -> bool:
        entry = self.entries.get(path)
        return entry is not None and entry.kind == "dir"

    def files(self, prefix: str = "") -> list[Entry]:
        """Regular files, those below `prefix` (a directory with its slash) when it is given, in order."""
        known = self._files.get(prefix)
        if known is None:
            known = [e for p, e in self.entries.items() if e.kind == "file" and p.startswith(prefix)]
            self._files[prefix] = known
        return known

    def data(self, path: str) -> bytes:
        """The first `READ_LIMIT` bytes of a regular file; empty when it cannot be read (see `unreadable`)."""
        known = self._data.get(path)
        if known is not None:
            return known
        data = b""
        if self.is_file(path):
            try:
                # A file can become a link or a pipe between the walk and here.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                with os.fdopen(os.open(self.root / path, flags), "rb") as stream:
                    data = stream.read(READ_LIMIT)
            except OSError as error:
                self.unreadable[path] = error.strerror or str(error)
        self._data[path] = data
        return data

    def truncated(self, path: str) -> bool:
        entry = self.entries.get(path)
        return entry is not None and entry.size > READ_LIMIT

    def is_binary(self, path: str) -> bool:
        """It holds a NUL byte near its start, or is too long to be a text that someone wrote."""
        known = self._binary.get(path)
        if known is None:
            known = self._binary[path] = self.truncated(path) or b"\0" in self.data(path)[:_SNIFF]
        return known

    def file_text(self, path: str) -> FileText:
        known = self._text.get(path)
        if known is None:
            data = self.data(path)
            known = as_text(data, truncated=self.truncated(path)) if data else _EMPTY
            self._text[path] = known
        return known

    def text(self, path: str) -> str:
        """The file's text; empty when it is missing or unreadable."""
        return self.file_text(path).text

    def once(self, key: str, make: Callable[[], _T]) -> _T:
        """`make()` the first time, its result from then on: for what several rules of a theme derive."""
        if key not in self.memo:
            self.memo[key] = make()
        value: _T = self.memo[key]
        return value

    # -- task.toml

    @cached_property
    def _toml(self) -> tuple[dict[str, Any] | None, TomlFault | None]:
        if not self.is_file("task.toml"):
            return None, None
        return tomltext.parse(self.text("task.toml"))

    @property
    def toml(self) -> dict[str, Any]:
        """task.toml, or an empty document when there is none that parses."""
        return self._toml[0] or {}

    @property
    def toml_fault(self) -> TomlFault | None:
        return self._toml[1]

    @cached_property
    def _positions(self) -> dict[KeyPath, tuple[int, int]]:
        return tomltext.locate(self.text("task.toml")) if self._toml[0] is not None else {}

    def where(self, *keys: str | int) -> tuple[int | None, int | None]:
        """Line and column of a key of task.toml, or of the nearest table that holds it."""
        path: KeyPath = keys
        while path:
            if path in self._positions:
                return self._positions[path]
            path = path[:-1]
        return (None, None)

    def table(self, *keys: str) -> dict[str, Any]:
        """A table of task.toml; empty when it is missing or no table."""
        value: Any = self.toml
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}

    # -- derived facts that several themes need

    @cached_property
    def mode(self) -> str:
        return task_mode(self.task, self.toml)

    @cached_property
    def steps(self) -> list[str]:
        """Names of the steps of a multi-step task."""
        steps = self.toml.get("steps")
        if not isinstance(steps, list):
            return []
        names = [step.get("name") for step in steps if isinstance(step, dict)]
        return [name for name in names if isinstance(name, str) and name and "/" not in name]

    @cached_property
    def separate_verifier(self) -> bool:
        """The judge runs in an environment of its own."""
        verifier = self.table("verifier")
        mode = verifier.get("environment_mode")
        return mode == "separate" or (mode is None and isinstance(verifier.get("environment"), dict))

    @cached_property
    def tests_prefixes(self) -> list[str]:
        """Directories whose content becomes `/tests`, each with its slash."""
        return ["tests/", *(f"steps/{name}/tests/" for name in self.steps)]

    @cached_property
    def solution_prefixes(self) -> list[str]:
        return ["solution/", *(f"steps/{name}/solution/" for name in self.steps)]

    @cached_property
    def instructions(self) -> list[str]:
        """The instruction files that exist."""
        names = ["instruction.md", *(f"steps/{name}/instruction.md" for name in self.steps)]
        return [name for name in names if self.is_file(name)]

    @cached_property
    def shell_scripts(self) -> list[str]:
        """Shell scripts that Harbor or an author runs: `*.sh` outside the fixture, or a shell's shebang in tests."""
        found = []
        for entry in self.files():
            path = entry.path
            owned = path.startswith((*self.tests_prefixes, *self.solution_prefixes, "steps/"))
            if path.endswith((".sh", ".bash")) or (
                owned
                and "." not in entry.name
                and entry.size < READ_LIMIT
                and re.match(rb"#!.*\b(?:ba|da)?sh\b", self.data(path)[:80])
            ):
                found.append(path)
        return found

    def script(self, path: str) -> Script:
        """A shell script, parsed; scripts of equal content are parsed once in a process."""
        return parse_script(self.text(path))

    @cached_property
    def verifier_scripts(self) -> list[str]:
        """The shell scripts that run while judging."""
        return [p for p in self.shell_scripts if p.startswith(tuple(self.tests_prefixes))]

    @cached_property
    def entry_scripts(self) -> list[str]:
        """What Harbor runs as `/tests/test.sh`."""
        return [p + "test.sh" for p in self.tests_prefixes if self.is_file(p + "test.sh")]

    @cached_property
    def dockerfiles(self) -> dict[str, Dockerfile]:
        """Every Dockerfile that Harbor would build, by path."""
        names = [
            "environment/Dockerfile",
            "tests/Dockerfile",
            *(f"steps/{n}/tests/Dockerfile" for n in self.steps),
            *composefile.build_contexts(self),
        ]
        return {name: parse_dockerfile(self.text(name)) for name in names if self.is_file(name)}

    def json(self, path: str) -> tuple[Any, json.JSONDecodeError | None]:
        """A JSON file's value, or the error; (None, None) when it is missing or nested too deeply to read."""
        text = self.text(path)
        if not text:
            return None, None
        try:
            return json.loads(text), None
        except json.JSONDecodeError as error:
            return None, error
        except (RecursionError, ValueError):
            return None, None

    def agent_text(self, path: str) -> str:
        """An instruction as the agent gets it: canary lines at its top, and blanks after them, are stripped."""
        lines = self.text(path).split("\n")
        index = 0
        while index < len(lines) and _CANARY.match(lines[index].strip()):
            index += 1
        if index:
            while index < len(lines) and not lines[index].strip():
                index += 1
        return "\n".join(lines[index:])
