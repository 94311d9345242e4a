"""Programs that know a language better than we do (bash, node, shellcheck): started once for many files, side by
side with our own rules, and never for the same content twice."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.memory import program as find_program
from harbor_author.checks.verdicts import ToolFault, VerdictCache
from harbor_author.integrity.temporary import owned_folder

_TIMEOUT_S = 20.0
_TIMEOUT_A_FILE_S = 0.1
#: shellcheck needs time that doubles with each of these; a script of a person holds no such row.
_NESTED = re.compile(rb"(?:[\[({<`]\s?){16}|(?:\$[({]){8}")
#: Longer texts are data.
_SIZE_LIMIT = 512 << 10
#: shellcheck takes minutes over one line of thousands of commands.
_LINE_LIMIT = 4000

_BASH_DRIVER = r"""
for file; do
  printf '\0%s\0' "$file"
  bash -n -- "$file" 2>&1 </dev/null
done
"""
#: Parses as Node.js itself would by the file's ending, without running anything.
_NODE_DRIVER = r"""
const vm = require('node:vm'), fs = require('node:fs'), { spawnSync } = require('node:child_process');
for (const file of fs.readFileSync(0, 'utf8').split('\0').filter(Boolean)) {
  let text = fs.readFileSync(file, 'utf8'), fault = null;
  const module = (t) => new vm.SourceTextModule(t, { identifier: 'J' });
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  const script = (t) => { vm.compileFunction(t.replace(/^#!.*/, ''), names, { filename: 'J' }); };
  const attempts = file.endsWith('.mjs') ? [module] : file.endsWith('.cjs') ? [script] : [script, module];
  for (const attempt of attempts) {
    try { attempt(text); fault = null; break; } catch (error) {
      fault = { line: null, message: String(error.message) };
    }
  }
  if (fault) {
    // The module parser names no line; the command does.
    const told = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10000 });
    const at = /:(\d+)\n/.exec(told.stderr ?? '');
    if (at) fault.line = Number(at[1]);
  }
  process.stdout.write(JSON.stringify({ file, fault }) + '\n');
}
"""


@dataclass
class Results:
    """What the programs said: tool -> digest of content -> faults; and why a tool said nothing; `cut_short`
    when that is not for want of the tool."""

    faults: dict[str, dict[str, tuple[ToolFault, ...]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    cut_short: bool = False
    #: tool, content -> its digest, for what the tool was asked about.
    keys: dict[tuple[str, bytes], str] = field(default_factory=dict)

    def of(self, tool: str, data: bytes) -> tuple[ToolFault, ...]:
        return self.faults.get(tool, {}).get(self.keys.get((tool, data), ""), ())


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


#: A word that is just one to the shell's grammar. Behind a hyphen that begins a word stand the operators of `[[`.
_WORD = re.compile(
    rb"(?<!\w)(?<!\W-)(?!(?:if|then|else|elif|fi|case|esac|for|while|until|do|done|select|function|in|time|coproc|declare|"
    rb"typeset|local|export|readonly|alias|eval|let)\b)[A-Za-z_]\w*"
)


def shape_of(data: bytes) -> str:
    """Digest of a script with every plain word made the same: where bash finds no fault in one script of a shape, it
    finds none in another. (A fault it would tell by its word, so each faulty script is asked about by itself.)

    Here-documents end at a word, so scripts that have one share nothing.
    """
    if b"<<" in data:
        return key_of("bash", data)
    return "shape" + key_of("bash", _WORD.sub(b"w", data))


class Run:
    """The programs at work on a batch of tasks: construct, do something else, then `finish`.

    The programs read copies in a directory of ours, so that a verdict is about just the bytes that we read, whatever
    happens to the files meanwhile.
    """

    def __init__(self, tasks: Iterable[TaskFiles]) -> None:
        self.results = Results()
        wanted: dict[str, dict[str, tuple[str, bytes]]] = {"bash": {}, "shellcheck": {}, "node": {}}

        def want(tool: str, path: str, data: bytes) -> None:
            key = self.results.keys.setdefault((tool, data), key_of(tool, data))
            wanted[tool].setdefault(key, (Path(path).suffix or ".sh", data))

        for task in tasks:
            for path in task.shell_scripts:
                data = task.data(path)
                if data and len(data) < _SIZE_LIMIT and b"\r" not in data and b"\0" not in data:
                    want("bash", path, data)
                    shell = task.script(path).interpreter in ("sh", "bash", "dash", "ksh", "")
                    slow = _NESTED.search(data) or max(map(len, data.split(b"\n"))) > _LINE_LIMIT
                    if shell and not slow:
                        want("shellcheck", path, data)
            for path in judge_modules(task):
                data = task.data(path)
                if len(data) < _SIZE_LIMIT and b"\0" not in data:
                    want("node", path, data)
        self._cache = VerdictCache()
        self._copies: tempfile.TemporaryDirectory[str] | None = None
        self._jobs: dict[str, tuple[subprocess.Popen[bytes], IO[bytes], dict[str, str]]] = {}
        self._copied = 0
        #: Scripts of one shape wait for the verdict on the first of them: its key -> (shape, the others).
        self._alike: dict[str, tuple[str, dict[str, tuple[str, bytes]]]] = {}
        for tool, texts in wanted.items():
            self._start(tool, texts)

    def _start(self, tool: str, wanted: dict[str, tuple[str, bytes]]) -> None:
        program = find_program(tool)
        if program is None:
            self.results.missing[tool] = f"{tool} is not on PATH"
            return
        known = self._cache.known(tool, program, _DRIVERS.get(tool, ""))
        self.results.faults[tool] = {key: known[key] for key in wanted if key in known}
        texts = {key: text for key, text in wanted.items() if key not in known}
        if tool == "bash":
            texts = self._one_of_each_shape(texts, known)
        self._ask(tool, program, texts)

    def _one_of_each_shape(
        self, texts: dict[str, tuple[str, bytes]], known: Mapping[str, tuple[ToolFault, ...]]
    ) -> dict[str, tuple[str, bytes]]:
        first: dict[str, str] = {}
        for key, text in texts.items():
            shape = shape_of(text[1])
            if known.get(shape) == ():
                self.results.faults["bash"][key] = ()
            elif shape in first:
                self._alike[first[shape]][1][key] = text
            else:
                first[shape] = key
                self._alike[key] = (shape, {})
        return {key: texts[key] for key in first.values()}

    def _ask(self, tool: str, program: str, texts: dict[str, tuple[str, bytes]]) -> None:
        names = self._copy(tool, texts)
        if not names:
            return
        if tool == "bash":
            command = [program, "--norc", "-c", _BASH_DRIVER, "bash", *names]
        elif tool == "shellcheck":
            command = [program, "--norc", "--severity=error", "--format=json1", "--", *names]
        else:
            command = [program, "--no-warnings", "--experimental-vm-modules", "-e", _NODE_DRIVER]
        environment = {k: v for k, v in os.environ.items() if k not in ("BASH_ENV", "ENV", "NODE_OPTIONS")}
        environment["LC_ALL"] = "C.UTF-8"
        output = tempfile.TemporaryFile()  # noqa: SIM115 - closed in finish
        with tempfile.TemporaryFile() as names_file:
            names_file.write("\0".join(names).encode())
            names_file.seek(0)
            process = subprocess.Popen(
                command,
                stdin=names_file if tool == "node" else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        self._jobs[tool] = (process, output, names)

    def _copy(self, tool: str, texts: dict[str, tuple[str, bytes]]) -> dict[str, str]:
        """Write texts where the program shall read them; path -> key."""
        if not texts:
            return {}
        if self._copies is None:
            self._copies = owned_folder("checks")
        names = {}
        self._copied += 1
        for number, (key, (suffix, data)) in enumerate(texts.items()):
            path = f"{self._copies.name}/{tool}-{self._copied}-{number}{suffix}"
            Path(path).write_bytes(data)
            names[path] = key
        return names

    def finish(self) -> Results:
        """Wait for the programs; one that hangs is ended, and said to have given no verdict."""
        self._collect()
        faulty = [alike for key, alike in self._alike.items() if self.results.faults["bash"].get(key)]
        rest = {key: text for _, others in faulty for key, text in others.items()}
        program = find_program("bash")
        if rest and program is not None:
            self._ask("bash", program, rest)
            self._collect()
        if self._copies is not None:
            self._copies.cleanup()
        self._cache.save()
        return self.results

    def _collect(self) -> None:
        jobs, self._jobs = self._jobs, {}
        for tool, (process, output, names) in jobs.items():
            with output:
                limit_s = _TIMEOUT_S + _TIMEOUT_A_FILE_S * len(names)
                try:
                    process.wait(limit_s)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    self.results.cut_short = True
                    self.results.missing[tool] = f"{tool} did not end within {limit_s:.0f} s"
                    continue
                output.seek(0)
                text = output.read().decode("utf-8", "replace")
            found = _PARSERS[tool](text, list(names))
            verdicts = {names[path]: tuple(faults) for path, faults in found.items() if path in names}
            if len(verdicts) < len(names):
                self.results.cut_short = True
                self.results.missing[tool] = f"{tool} gave no verdict on {len(names) - len(verdicts)} files"
            self.results.faults[tool].update(verdicts)
            for key in [key for key, faults in verdicts.items() if not faults and key in self._alike]:
                shape, others = self._alike[key]
                verdicts[shape] = ()
                self.results.faults[tool].update(dict.fromkeys(others, ()))
            self._cache.add(tool, verdicts)


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


_DRIVERS = {"bash": _BASH_DRIVER, "node": _NODE_DRIVER}
_PARSERS = {"bash": _bash, "shellcheck": _shellcheck, "node": _node}
