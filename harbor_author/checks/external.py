"""Programs that know a language better than we do (bash, node, shellcheck): started once for many files, side by
side with our own rules, and never for the same content twice."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

from harbor_author.checks.context import TaskFiles

_TIMEOUT_S = 60.0
_CACHE_LIMIT = 20_000
#: Longer texts are data.
_SIZE_LIMIT = 512 << 10

_BASH_DRIVER = r"""
for file; do
  printf '\0%s\0' "$file"
  bash -n -- "$file" 2>&1 </dev/null
done
"""
#: Parses as Node.js itself would by the file's ending, without running anything.
_NODE_DRIVER = r"""
const vm = require('node:vm'), fs = require('node:fs');
for (const file of fs.readFileSync(0, 'utf8').split('\0').filter(Boolean)) {
  let text = fs.readFileSync(file, 'utf8'), fault = null;
  const module = (t) => new vm.SourceTextModule(t, { identifier: 'J' });
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  const script = (t) => { vm.compileFunction(t.replace(/^#!.*/, ''), names, { filename: 'J' }); };
  const attempts = file.endsWith('.mjs') ? [module] : file.endsWith('.cjs') ? [script] : [script, module];
  for (const attempt of attempts) {
    try { attempt(text); fault = null; break; } catch (error) {
      const at = /J:(\d+)/.exec(String(error.stack));
      fault = { line: at ? Number(at[1]) : null, message: String(error.message) };
    }
  }
  process.stdout.write(JSON.stringify({ file, fault }) + '\n');
}
"""


@dataclass(frozen=True)
class ToolFault:
    """One complaint of a program about a file; `code` is the program's own name for it."""

    message: str
    line: int | None
    column: int | None = None
    code: str = ""


@dataclass
class Results:
    """What the programs said: tool -> digest of content -> faults; and why a tool said nothing."""

    faults: dict[str, dict[str, tuple[ToolFault, ...]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def of(self, tool: str, data: bytes) -> tuple[ToolFault, ...]:
        return self.faults.get(tool, {}).get(key_of(tool, data), ())


def key_of(tool: str, data: bytes) -> str:
    """Digest under which a verdict is kept.

    Which digits stand in a script, how its paths are spelt and what its comments say change no verdict of bash and
    none of shellcheck's errors, so scripts that differ in these alone share one. A first line `#!` counts.
    """
    if tool in ("bash", "shellcheck"):
        head, _, rest = data.partition(b"\n") if data.startswith(b"#!") else (b"", b"", data)
        if b"shellcheck" not in rest:
            rest = re.sub(rb"(?m)^[ \t]*#.*$", b"#", rest)
        rest = re.sub(rb"[0-9]", b"0", rest)
        if tool == "shellcheck":
            rest = re.sub(rb"(?<![\w$@{/.-])/?[\w.]+(?:[-/.][\w.]+)+", b"/p", rest)
        data = head + b"\n" + rest
    return hashlib.sha256(data).hexdigest()[:32]


@cache
def _program(name: str) -> str | None:
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.is_file() else shutil.which(name)


class _Cache:
    """Verdicts of earlier runs, by program and digest; losing it costs time and nothing else."""

    def __init__(self) -> None:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        self._path = Path(base) / "harbor-author" / "checks-1.json"
        self._verdicts = self._load()
        self._fresh: dict[str, dict[str, tuple[ToolFault, ...]]] = {}
        self._identity: dict[str, str] = {}

    def _load(self) -> dict[str, dict[str, tuple[ToolFault, ...]]]:
        try:
            raw = json.loads(self._path.read_bytes())
            return {
                identity: {key: tuple(ToolFault(*fault) for fault in faults) for key, faults in kept.items()}
                for identity, kept in raw.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def known(self, tool: str, program: str) -> dict[str, tuple[ToolFault, ...]]:
        """Verdicts of just this build of a program."""
        info = Path(program).stat()
        self._identity[tool] = f"{program} {info.st_size} {info.st_mtime_ns}"
        return self._verdicts.get(self._identity[tool], {})

    def add(self, tool: str, verdicts: Mapping[str, tuple[ToolFault, ...]]) -> None:
        self._fresh.setdefault(self._identity[tool], {}).update(verdicts)

    def save(self) -> None:
        if not any(self._fresh.values()):
            return
        merged = self._load()
        for identity, verdicts in self._fresh.items():
            kept = {**merged.get(identity, {}), **verdicts}
            merged[identity] = dict(list(kept.items())[-_CACHE_LIMIT:])
        document = {
            identity: {
                key: [[f.message, f.line, f.column, f.code] for f in faults] for key, faults in kept.items()
            }
            for identity, kept in merged.items()
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as stream:
                json.dump(document, stream, separators=(",", ":"))
            Path(name).replace(self._path)
        except OSError:
            return


class Run:
    """The programs at work on a batch of tasks: construct, do something else, then `finish`."""

    def __init__(self, tasks: Iterable[TaskFiles]) -> None:
        self.results = Results()
        self._wanted: dict[str, dict[str, str]] = {"bash": {}, "shellcheck": {}, "node": {}}
        for task in tasks:
            for path in task.shell_scripts:
                data = task.data(path)
                if data and len(data) < _SIZE_LIMIT and b"\r" not in data and b"\0" not in data:
                    self._want("bash", task, path, data)
                    if task.script(path).interpreter in ("sh", "bash", "dash", "ksh", ""):
                        self._want("shellcheck", task, path, data)
            for path in judge_modules(task):
                data = task.data(path)
                if len(data) < _SIZE_LIMIT and b"\0" not in data:
                    self._want("node", task, path, data)
        self._cache = _Cache()
        self._jobs: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
        for tool in self._wanted:
            self._start(tool)

    def _want(self, tool: str, task: TaskFiles, path: str, data: bytes) -> None:
        self._wanted[tool].setdefault(key_of(tool, data), os.fspath(task.root / path))

    def _start(self, tool: str) -> None:
        program = _program(tool)
        if program is None:
            self.results.missing[tool] = f"{tool} is not on PATH"
            return
        known = self._cache.known(tool, program)
        self.results.faults[tool] = {k: known[k] for k in self._wanted[tool] if k in known}
        files = [path for key, path in self._wanted[tool].items() if key not in known]
        if not files:
            return
        if tool == "bash":
            command = [program, "--norc", "-c", _BASH_DRIVER, "bash", *files]
        elif tool == "shellcheck":
            command = [program, "--norc", "--severity=error", "--format=json1", "--", *files]
        else:
            command = [program, "--no-warnings", "--experimental-vm-modules", "-e", _NODE_DRIVER]
        environment = {k: v for k, v in os.environ.items() if k not in ("BASH_ENV", "ENV", "NODE_OPTIONS")}
        environment["LC_ALL"] = "C.UTF-8"
        output = tempfile.TemporaryFile()  # noqa: SIM115 - closed in finish
        stdin: IO[bytes] | int = subprocess.DEVNULL
        if tool == "node":
            stdin = tempfile.TemporaryFile()  # noqa: SIM115
            stdin.write("\0".join(files).encode("utf-8", "surrogateescape"))
            stdin.seek(0)
        process = subprocess.Popen(
            command, stdin=stdin, stdout=output, stderr=subprocess.DEVNULL, env=environment
        )
        if not isinstance(stdin, int):
            stdin.close()
        self._jobs[tool] = (process, output)

    def finish(self) -> Results:
        """Wait for the programs; one that hangs is ended, and said to have given no verdict."""
        for tool, (process, output) in self._jobs.items():
            with output:
                try:
                    process.wait(_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    self.results.missing[tool] = f"{tool} did not end within {_TIMEOUT_S:.0f} s"
                    continue
                output.seek(0)
                text = output.read().decode("utf-8", "surrogateescape")
            keys = {path: key for key, path in self._wanted[tool].items()}
            found = _PARSERS[tool](text, keys)
            verdicts = {}
            for path, faults in found.items():
                key = keys.get(path)
                if key is not None:
                    verdicts[key] = tuple(faults)
            self.results.faults[tool].update(verdicts)
            self._cache.add(tool, verdicts)
        self._cache.save()
        return self.results


def judge_modules(task: TaskFiles) -> list[str]:
    """The JavaScript that runs while judging or solving, none of the fixture's."""
    prefixes = tuple(task.tests_prefixes)
    return [
        entry.path
        for entry in task.files()
        if entry.path.startswith(prefixes) and entry.path.endswith((".mjs", ".cjs", ".js")) and entry.size
    ]


def _bash(text: str, files: Iterable[str]) -> dict[str, list[ToolFault]]:
    found: dict[str, list[ToolFault]] = {}
    parts = text.split("\0")
    for file, output in zip(parts[1::2], parts[2::2], strict=False):
        found[file] = []
        for line in output.splitlines():
            match = re.match(r".*?: line (\d+): (.*)", line)
            # The source line that bash repeats after the cause begins with a backquote.
            if match and not match[2].startswith("`") and "warning: here-document" not in match[2]:
                message = match[2].removeprefix("syntax error: ")
                found[file].append(ToolFault(message, int(match[1])))
                break
    return found


def _shellcheck(text: str, files: Iterable[str]) -> dict[str, list[ToolFault]]:
    try:
        comments = json.loads(text)["comments"]
    except (ValueError, KeyError, TypeError):
        return {}
    # It names only files with faults; the rest are clean.
    found: dict[str, list[ToolFault]] = {file: [] for file in files}
    for item in comments:
        fault = ToolFault(item["message"], item["line"], item["column"], f"SC{item['code']}")
        found.setdefault(item["file"], []).append(fault)
    return found


def _node(text: str, files: Iterable[str]) -> dict[str, list[ToolFault]]:
    found: dict[str, list[ToolFault]] = {}
    for line in text.splitlines():
        try:
            item = json.loads(line)
        except ValueError:
            continue
        fault = item["fault"]
        found[item["file"]] = [ToolFault(fault["message"], fault["line"])] if fault else []
    return found


_PARSERS = {"bash": _bash, "shellcheck": _shellcheck, "node": _node}
