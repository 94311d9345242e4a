"""A new suite, and an existing folder of tasks brought under an author.toml."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harbor_author.integrity.files import reap_siblings, temporary_sibling, write_atomic
from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.scaffold.render import one_line
from harbor_author.suite import (
    FILE_NAME,
    MODES,
    SuiteError,
    TaskName,
    contract_gaps,
    load_settings,
    parse_task_name,
    parse_toml,
    read_text,
    slugify,
)
from harbor_author.suite.registers import row_ids
from harbor_author.suite.settings import DEFAULT_SERIES, HostSettings

_HEAD = "# A suite of Harbor tasks; `author` finds it by this file.\n"
_REGISTERS = {
    "readme": ("README.md",),
    "scoring": ("docs/scoring.md", "SCORING.md", "docs/SCORING.md", "scoring.md"),
}
_PINS = {
    "image": re.compile(r"^[ \t]*FROM\s+(?:--\S+\s+)*(\S+)", re.MULTILINE | re.IGNORECASE),
    "pnpm": re.compile(r"\bpnpm@([0-9][\w.+-]*)"),
    "npm": re.compile(r"@deepseek-ai/dsh@([0-9][\w.+-]*)"),
    "pypi": re.compile(r"deepseek-harness-runtime-bin==([0-9][\w.+-]*)"),
}


@dataclass(frozen=True)
class ImportedSuite:
    """What an existing suite turned out to be.

    Attributes:
        text: the author.toml that says so.
        tasks: how many task directories were read.
        notes: what was inferred and from what, and what could not be, one sentence each.
    """

    path: Path
    text: str
    tasks: int
    notes: tuple[str, ...]


def init_suite(
    root: Path,
    *,
    name: str | None = None,
    dsh: str | None = None,
    source: str | None = None,
    reserved: tuple[str, ...] = (),
) -> list[Path]:
    """Make `root` a suite: `author.toml`, `tasks/` and `references/`. Returns what was made.

    Args:
        name: the suite's name; default: the folder's.
        dsh, source: the host's version and registry; default: the published pins.
        reserved: IDs in use elsewhere, such as `H1-H22`.

    Raises:
        ScaffoldError: it is a suite already, or cannot be written.
        SuiteError: a value cannot stand in author.toml.
    """
    _refuse_nesting(root)
    default = HostSettings()
    text = _author_toml(
        name=one_line(name or slugify(root.resolve().name) or "suite"),
        host={
            "image": default.image,
            "pnpm": default.pnpm,
            "dsh": dsh or default.dsh,
            "source": source or default.source,
        },
        reserved=reserved,
    )
    made: list[Path] = []
    try:
        root.mkdir(parents=True, exist_ok=True)
        for directory in (root / "tasks", root / "references"):
            if not directory.is_dir():
                directory.mkdir()
                made.append(directory)
        return [_write(root, text), *made]
    except OSError as error:
        _undo(made)
        raise ScaffoldError(
            f"cannot be written: {error.strerror}",
            path=error.filename or root,
            hint="check permissions and free space",
        ) from error
    except BaseException:
        _undo(made)
        raise


def import_suite(root: Path, *, dry_run: bool = False) -> ImportedSuite:
    """Write the author.toml of a folder that has `tasks/` already; no task is touched.

    Inferred: the suite's name from the tasks' names, the host from their Dockerfiles, each series' mode and each
    task's own from the contract in its instruction, registers and reserved numbers from the README and the
    scoring document.

    Raises:
        ScaffoldError: there is no `tasks/`, or an author.toml.
    """
    _refuse_nesting(root)
    if (root / FILE_NAME).exists():
        raise ScaffoldError(
            "exists already: this folder is a suite", path=root / FILE_NAME, hint="edit it by hand"
        )
    tasks_dir = root / "tasks"
    if not tasks_dir.is_dir():
        raise ScaffoldError(
            "has no folder 'tasks'", path=root, hint="name the folder above it, or use 'author init'"
        )
    found = _Findings()
    for path in sorted(tasks_dir.iterdir()):
        if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
            found.read(path)
    registers = {
        key: name
        for key, names in _REGISTERS.items()
        for name in names[::-1]
        if row_ids(root / name) and (root / name).is_file()
    }
    directories = {str(task.task_id) for task in found.names}
    listed = {str(task_id) for name in registers.values() for task_id in row_ids(root / name)}
    reserved = tuple(sorted(listed - directories, key=lambda text: (text[0], int(text[1:]))))
    series, modes = found.modes_by_series()
    text = _author_toml(
        name=found.suite_name() or slugify(root.resolve().name) or "suite",
        host=found.host(),
        reserved=_ranges(reserved),
        registers=registers,
        series=series,
        modes=modes,
    )
    if not dry_run:
        _write(root, text)
    notes = list(found.notes)
    notes += [f"register '{key}' is {name}" for key, name in registers.items()]
    if reserved:
        notes.append(
            f"reserved, since a register lists them and no folder has them: {', '.join(_ranges(reserved))}"
        )
    notes += [f"{task} is {mode}, unlike its series" for task, mode in modes.items()]
    return ImportedSuite(root / FILE_NAME, text, len(found.names), tuple(notes))


@dataclass
class _Findings:
    """What the tasks of an existing suite say of it."""

    names: list[TaskName] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    suites: Counter[str] = field(default_factory=Counter)
    pins: dict[str, Counter[str]] = field(default_factory=lambda: {key: Counter() for key in _PINS})
    mode: dict[TaskName, str] = field(default_factory=dict)
    hosted: set[str] = field(default_factory=set)

    def read(self, path: Path) -> None:
        name = parse_task_name(path.name)
        if name is None:
            self.notes.append(
                f"tasks/{path.name} is not named <series><number>-<slug>; 'author validate' will say so"
            )
            return
        self.names.append(name)
        try:
            document = parse_toml(read_text(path / "task.toml"), path=path / "task.toml").document
            described = document.get("task")
            full = str(described.get("name", "")) if isinstance(described, dict) else ""
            if "/" in full:
                self.suites[full.partition("/")[0]] += 1
        except SuiteError as error:
            self.notes.append(f"{path.name}: its task.toml {error.message}")
        for key, pattern in _PINS.items():
            match = pattern.search(_text(path / "environment" / "Dockerfile"))
            if match:
                self.pins[key][match[1]] += 1
                if key in ("npm", "pypi"):
                    self.hosted.add(name.series)
        instruction = _text(path / "instruction.md")
        fitting = [
            mode for mode in MODES if not any("boundary" in gap for gap in contract_gaps(instruction, mode))
        ]
        if len(fitting) == 1:
            self.mode[name] = fitting[0]
        elif instruction:
            self.notes.append(f"{name.id}: the contract of its instruction does not tell its mode")

    def suite_name(self) -> str:
        return self.suites.most_common(1)[0][0] if self.suites else ""

    def host(self) -> dict[str, str]:
        default = HostSettings()
        source = "pypi" if self.pins["pypi"].total() > self.pins["npm"].total() else "npm"
        versions = self.pins[source]
        if not versions:
            self.notes.append(f"no Dockerfile installs dsh; the host is left at {default.dsh}")
        for key, counter in self.pins.items():
            if len(counter) > 1:
                self.notes.append(
                    f"the Dockerfiles pin several versions of {key}: {', '.join(sorted(counter))}"
                )
        dsh = versions.most_common(1)[0][0] if versions else default.dsh
        return {
            "image": self._common("image", default.image),
            "pnpm": self._common("pnpm", default.pnpm),
            "dsh": _host_spelling(dsh) if source == "pypi" else dsh,
            "source": source if versions else default.source,
        }

    def _common(self, key: str, default: str) -> str:
        return self.pins[key].most_common(1)[0][0] if self.pins[key] else default

    def modes_by_series(self) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
        """[series] tables that differ from the defaults, and the tasks that differ from their series."""
        tables: dict[str, dict[str, str]] = {}
        odd: dict[str, str] = {}
        for letter in sorted({name.series for name in self.names}):
            counted = Counter(mode for name, mode in self.mode.items() if name.series == letter)
            default = DEFAULT_SERIES.get(letter)
            usual = counted.most_common(1)[0][0] if counted else (default.mode if default else "mutable")
            if default is None or default.mode != usual:
                tables[letter] = {"title": default.title if default else letter, "mode": usual}
            if default is None and letter not in self.hosted:
                tables[letter]["host"] = "none"
                self.notes.append(f"series {letter} is about no host: none of its Dockerfiles installs dsh")
            odd |= {
                name.id: mode
                for name, mode in sorted(self.mode.items())
                if name.series == letter and mode != usual
            }
        return tables, odd


def _text(path: Path) -> str:
    try:
        return read_text(path) if path.is_file() and not path.is_symlink() else ""
    except SuiteError:
        return ""  # `author validate` names it; here it only tells nothing


def _host_spelling(version: str) -> str:
    words = {"a": "alpha", "b": "beta", "rc": "rc"}
    return re.sub(r"(?<=\d)(a|b|rc)(\d+)$", lambda match: f"-{words[match[1]]}.{match[2]}", version)


def _ranges(ids: tuple[str, ...]) -> tuple[str, ...]:
    """`H1 H2 H3 H7` as `H1-H3 H7`."""
    runs: list[list[str]] = []
    for task_id in ids:
        if runs and runs[-1][-1][0] == task_id[0] and int(runs[-1][-1][1:]) + 1 == int(task_id[1:]):
            runs[-1].append(task_id)
        else:
            runs.append([task_id])
    return tuple(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _author_toml(
    *,
    name: str,
    host: Mapping[str, str],
    reserved: tuple[str, ...],
    registers: Mapping[str, str] | None = None,
    series: Mapping[str, Mapping[str, str]] | None = None,
    modes: Mapping[str, str] | None = None,
) -> str:
    import tomlkit

    document = tomlkit.document()

    def table(key: str, values: Mapping[str, Any]) -> None:
        document[key] = tomlkit.item(dict(values))

    table("suite", {"name": name, "references": ["references"], "contract": "BENCHMARK-AUTH-v1"})
    table("host", host)
    table("registry", {"reserved": list(reserved), "retired": {}})
    table("judge", {"on_error": "zero"})
    for key, values in (("registers", registers), ("series", series), ("modes", modes)):
        if values:
            table(key, values)
    return f"{_HEAD}\n{tomlkit.dumps(document)}"


def _write(root: Path, text: str) -> Path:
    """Write a suite's author.toml, read by the settings first; one that exists is never overwritten."""
    path = root / FILE_NAME
    reap_siblings(root)
    temporary = temporary_sibling(path)
    try:
        write_atomic(temporary, text, mode=0o644)
        try:
            load_settings(temporary)
        except SuiteError as error:
            raise SuiteError(error.message, path=path, line=error.line, hint=error.hint) from error
        try:
            os.link(temporary, path)  # unlike a rename, fails when somebody made it meanwhile
        except FileExistsError as error:
            raise ScaffoldError(
                "exists already: this folder is a suite", path=path, hint="edit it, or choose another folder"
            ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _refuse_nesting(root: Path) -> None:
    """A suite inside another one's tasks/ would go into an image, and hide the outer one from commands run there."""
    for folder in root.resolve().parents:
        if (folder / FILE_NAME).exists() and root.resolve().is_relative_to(folder / "tasks"):
            raise ScaffoldError(
                f"lies inside the suite {folder}",
                path=root,
                hint="make a suite elsewhere, or work in that one",
            )


def _undo(made: list[Path]) -> None:
    for directory in made:
        directory.rmdir()
