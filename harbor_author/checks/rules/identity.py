"""One task, one name: directory, task.toml, profile, titles, and no other task's number left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.judge import judge_texts
from harbor_author.suite import Suite, SuiteError, Task, parse_ranges, parse_task_name

_TEXT_LIMIT = 256 << 10


def _listed(suite: Suite) -> tuple[list[Task], set[str | None]]:
    """The suite's tasks, retired ones too, and the IDs of those that are not.

    Listed once while the folder stays as it is: every task asks, and a thousand listings of a thousand take a minute.
    """
    folder = suite.tasks_dir
    return _list(suite, folder.stat().st_mtime_ns if folder.is_dir() else 0)


@lru_cache(maxsize=4)
def _list(suite: Suite, changed_ns: int) -> tuple[list[Task], set[str | None]]:
    return suite.tasks(retired=True), {task.id for task in suite.tasks()}


@rule(name="task-directory-name", pack="suite", severity="error")
def task_directory_name(files: TaskFiles) -> Iterator[Problem]:
    """A directory under tasks/ is not called <series><number>-<slug>, or its number is not free.

    Why: numbers collided between branches, and forty-five files had to be renumbered by hand.
    Bad: tasks/h23_left-behind, or two directories H23-...
    Good: tasks/H23-left-behind
    Fix: 'author rename' gives a task another name everywhere; 'author next-id' tells a free number.
    """
    suite, name = files.suite, files.task.task_name
    if suite is None:
        return
    if name is None:
        near = re.fullmatch(r"([A-Za-z])0*([1-9]\d*)[-_ ](.+)", files.task.name)
        slug = re.sub(r"[^a-z0-9]+", "-", near[3].lower()).strip("-") if near else ""
        hint = f"rename it to {near[1].upper()}{near[2]}-{slug}" if near and slug else None
        yield Problem(f"'{files.task.name}' is no task's name: <series><number>-<slug>", fix=hint)
        return
    if name.series not in suite.settings.series:
        known = ", ".join(sorted(suite.settings.series))
        yield Problem(f"the series '{name.series}' is not declared in author.toml (known: {known})")
    if name.id in _reserved(files):
        yield Problem(f"the number {name.id} is reserved in author.toml: it is in use elsewhere")
    for other in _listed(suite)[0]:
        if other.id == name.id and other.name != files.task.name:
            yield Problem(f"the number {name.id} is used twice: also by {other.name}")
            break


def _reserved(files: TaskFiles) -> set[str]:
    assert files.suite is not None
    try:
        return {str(item) for item in parse_ranges(files.suite.settings.reserved)}
    except SuiteError:
        return set()


@rule(name="task-name-mismatch", pack="suite", severity="error")
def task_name_mismatch(files: TaskFiles) -> Iterator[Problem]:
    """[task] name in task.toml is not <suite>/<id>.

    Why: a task that was copied to start a new one kept its name, and the registry showed two versions of one task.
    Bad: tasks/H23-left-behind with name = "dsh-plugin-upgrade/h22"
    Good: name = "dsh-plugin-upgrade/h23"
    Fix: write the name that is given; 'author fix' does it.
    """
    expected = expected_name(files)
    if expected is None or not files.toml:
        return
    name = files.table("task").get("name")
    if name is None:
        line, column = files.where("task")
        yield Problem(f"[task] name is missing; it must be '{expected}'", "task.toml", line, column)
    elif name != expected:
        line, column = files.where("task", "name")
        hint = f"write name = \"{expected}\"; 'author fix' does it"
        yield Problem(
            f"[task] name is '{name}', the directory says '{expected}'", "task.toml", line, column, hint
        )


def expected_name(files: TaskFiles) -> str | None:
    """`<suite>/<id, lower case>`; None where the directory's own name is no task's."""
    if files.suite is None or files.task.id is None:
        return None
    return f"{files.suite.settings.name}/{files.task.id.lower()}"


#: Where a number that is not the task's own is surely a left-over of renumbering.
_PROFILE = re.compile(r"\bbench-(?P<id>[A-Za-z][1-9]\d*)(?=-|\b)(?P<slug>(?:-[a-z0-9]+)*)")
_FULL = re.compile(r"(?<![\w/.-])(?P<name>[A-Z][1-9]\d*(?:-[a-z0-9]+){1,9})(?![\w-])")
_TITLE = re.compile(
    r"^(?:#{1,3}|//+|/?\*+|<!--|#)\s*(?:Task\s+)?(?P<id>[A-Z][1-9]\d*)\s*(?:[:：·—–-]|\()", re.MULTILINE
)
_BARE = re.compile(r"(?<![\w.#/-])(?P<id>[A-Z][1-9]\d{0,3})(?![\w.-])")


def _own_texts(files: TaskFiles) -> Iterator[str]:
    for entry in files.files():
        path = entry.path
        if (
            path.startswith("environment/")
            and path.count("/") > 1
            and not path.endswith(("README.md", "package.json"))
        ):
            continue
        if path == "proof.json" or entry.size > _TEXT_LIMIT or files.is_binary(path):
            continue
        yield path


@rule(name="stale-task-id", pack="suite", severity="error")
def stale_task_id(files: TaskFiles) -> Iterator[Problem]:
    """Another task's number or name stands in this task.

    Why: renumbering by hand left old numbers in titles, comments, judge text and profile names; two judges then worked
        in the same profile `bench-h22` and graded each other's plugin.
    Bad: profile "bench-h22" in the judge of H23
    Good: profile "bench-h23-left-behind"
    Fix: write the task's own ID; 'author rename' does it everywhere at once.
    """
    own = files.task.task_name
    if own is None or files.suite is None:
        return
    present = _listed(files.suite)[1]
    known = present | _reserved(files) | set(files.suite.settings.retired)
    letters = set(files.suite.settings.series)
    for path in _own_texts(files):
        text = files.text(path)
        told: set[tuple[int, str]] = set()
        for number, line in _lines_with_ids(text):
            for found, column, sure in _foreign_ids(line, own.id, str(own), letters):
                identifier = found.split("-")[0]
                if (number, identifier) in told:
                    continue
                if not sure and (identifier not in known or (path.endswith(".md") and identifier in present)):
                    # Prose may well compare this task with another one of the suite.
                    continue
                told.add((number, identifier))
                message = f"'{found}' is not this task's: it is {own.id}"
                weight = "error" if sure else "warning"
                yield Problem(message, path, number, column, severity=weight)  # type: ignore[arg-type]


_CANDIDATE = re.compile(r"[A-Z][1-9]\d*(?!\w)")
_PROFILE_START = re.compile(r"bench-[A-Za-z][1-9]")


def _lines_with_ids(text: str) -> Iterator[tuple[int, str]]:
    """(number, line) of the lines that may name a task."""
    places = {match.start() for match in _CANDIDATE.finditer(text)}
    if "bench-" in text:
        places |= {match.start() for match in _PROFILE_START.finditer(text)}
    number, counted, last = 1, 0, -1
    for place in sorted(places):
        number += text.count("\n", counted, place)
        counted = place
        if number != last:
            last = number
            start = text.rfind("\n", 0, place) + 1
            end = text.find("\n", place)
            yield number, text[start : end if end >= 0 else len(text)]


def _foreign_ids(line: str, own_id: str, own_name: str, letters: set[str]) -> Iterator[tuple[str, int, bool]]:
    """(what stands there, column, whether it can be nothing else) of each mention of another task in a line."""
    for match in _PROFILE.finditer(line):
        identifier = match["id"].upper()
        if identifier[0] not in letters:
            continue
        if identifier != own_id or (match["slug"] and f"{identifier}{match['slug']}" != own_name):
            if identifier == own_id and own_name.startswith(f"{identifier}{match['slug']}"):
                continue
            # What is appended to the own profile (bench-h23-left-behind-web) is its own business.
            if f"{identifier}{match['slug']}".startswith(own_name + "-"):
                continue
            yield match[0], match.start() + 1, identifier != own_id
    for match in _FULL.finditer(line):
        parsed = parse_task_name(match["name"])
        if parsed is not None and parsed.series in letters and parsed.id != own_id:
            if not re.search(r"[a-z]", match["name"].split("-", 1)[1]):
                continue
            yield match["name"], match.start() + 1, True
    title = _TITLE.match(line)
    if title is not None and title["id"][0] in letters and title["id"] != own_id:
        yield title["id"], title.start("id") + 1, True
    for match in _BARE.finditer(line):
        if match["id"][0] in letters and match["id"] != own_id:
            yield match["id"], match.start() + 1, False


@rule(name="unknown-mode", pack="suite", severity="error")
def unknown_mode(files: TaskFiles) -> Iterator[Problem]:
    """[metadata] mode is none of readonly, mutable, build-artifacts-only.

    Why: the mode decides which contract the agent gets and which gate the judge keeps; a misspelt one fell back to
        the series' default, and a read-only task accepted changes.
    Bad: mode = "read-only"
    Good: mode = "readonly"
    Fix: use one of the three words.
    """
    from harbor_author.suite import MODES

    mode = files.table("metadata").get("mode")
    if mode is not None and mode not in MODES:
        line, column = files.where("metadata", "mode")
        yield Problem(
            f"mode '{mode}' is unknown", "task.toml", line, column, "use one of: " + ", ".join(MODES)
        )


@rule(name="judge-mode-mismatch", pack="suite", severity="error")
def judge_mode_mismatch(files: TaskFiles) -> Iterator[Problem]:
    """The judge keeps another mode's gate than the task has.

    Why: a task was made read-only after its judge was written; the judge still closed its gate on an untouched fixture,
        and every right report scored 0.
    Bad: mode = "readonly" in task.toml, and mode: "mutable" in tests/judge.mjs
    Good: the same mode in both
    Fix: correct the one that is wrong; [metadata] mode, else the series, decides what the contract says.
    """
    for path, text in judge_texts(files):
        for match in _JUDGE_MODE.finditer(text):
            if match["mode"] != files.mode:
                message = f"the judge's mode is {match['mode']}, the task's is {files.mode}"
                line = text.count("\n", 0, match.start("mode")) + 1
                yield Problem(message, path, line)


_JUDGE_MODE = re.compile(
    r"defineJudge\(\s*\{(?:[^{}]|\{[^{}]*\}){0,2000}?\bmode:\s*[\"'](?P<mode>readonly|mutable|build-artifacts-only)[\"']"
)
