"""The files that a Harbor task consists of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.ignore import gitignore
from harbor_author.checks.registry import rule

_DEFINITIONS = ("/Dockerfile", "-compose.yaml")
#: Near spellings that Harbor does not look for.
_MISSPELT = {
    "environment/docker-compose.yml": "environment/docker-compose.yaml",
    "environment/compose.yaml": "environment/docker-compose.yaml",
    "environment/compose.yml": "environment/docker-compose.yaml",
    "environment/dockerfile": "environment/Dockerfile",
    "Dockerfile": "environment/Dockerfile",
    "docker-compose.yaml": "environment/docker-compose.yaml",
    "task.yaml": "task.toml",
    "instructions.md": "instruction.md",
    "Instruction.md": "instruction.md",
    "INSTRUCTION.md": "instruction.md",
    "tests/run.sh": "tests/test.sh",
    "tests/tests.sh": "tests/test.sh",
    "run-tests.sh": "tests/test.sh",
    "solution.sh": "solution/solve.sh",
    "solution/solution.sh": "solution/solve.sh",
}


_SET = "write schema_version, [task] name, [agent] timeout_sec and [verifier] timeout_sec"
_JUDGE = "write the judge, which puts a number into /logs/verifier/reward.txt"
_SOLVE = "write the steps that solve the task"
_TELL = "write what the agent is to do, with which files, and what it shall leave behind"


@rule(name="invalid-task-files", pack="harbor", severity="error", harbor=True)
def invalid_task_files(files: TaskFiles) -> Iterator[Problem]:
    """A file that Harbor needs is missing, empty or in the wrong place.

    Why: a directory without a task.toml, or with `instructions.md`, is no task to Harbor: it is dropped from the
        dataset in silence, and the run reports one task fewer.
    Bad: tests/run.sh, and no tests/test.sh
    Good: task.toml, instruction.md, environment/Dockerfile, tests/test.sh
    Fix: create or rename the file that is named.
    """
    if not files.is_file("task.toml"):
        yield from _missing(files, "task.toml", "without it this directory is no task, and Harbor drops it")
    elif _blank(files, "task.toml"):
        yield Problem("task.toml is empty: it sets neither a name nor a time limit", "task.toml", 1, fix=_SET)
    environment = files.table("environment")
    windows = str(environment.get("os", "")).lower() == "windows"
    image = environment.get("docker_image")
    if not files.is_dir("environment") and not image:
        yield from _missing(files, "environment", "it holds the Dockerfile")
    elif not image and not any(
        path.startswith("environment/") and path.count("/") == 1 and path.endswith(_DEFINITIONS)
        for path in files.entries
    ):
        yield from _missing(files, "environment/Dockerfile", "nothing says how the container is made")
    yield from _instructions(files)
    suffix = ".bat" if windows else ".sh"
    yield from _test_scripts(files, suffix)
    for prefix in files.solution_prefixes:
        path = f"{prefix}solve{suffix}"
        if files.is_file(path) and _blank(files, path):
            yield Problem("the solution is empty: the oracle would do nothing", path, 1, fix=_SOLVE)


def _blank(files: TaskFiles, path: str) -> bool:
    return not files.text(path).strip() and path not in files.unreadable


def _missing(files: TaskFiles, path: str, why: str) -> Iterator[Problem]:
    near = next((wrong for wrong, right in _MISSPELT.items() if right == path and files.is_file(wrong)), None)
    entry = files.entries.get(path)
    if entry is not None and entry.kind != "file" and path != "environment":
        kind = {"dir": "a directory", "link": "a link"}.get(entry.kind, "a special file")
        yield Problem(f"{path} is {kind}, not a file: {why}", path)
    elif near:
        yield Problem(f"{path} is missing: {why}", near, fix=f"rename {near} to {path}")
    else:
        yield Problem(f"{path} is missing: {why}", path, fix=f"create {path}")


def _instructions(files: TaskFiles) -> Iterator[Problem]:
    # A step without a directory has a finding of its own.
    wanted = [f"steps/{n}/instruction.md" for n in files.steps if files.is_dir(f"steps/{n}")]
    wanted = wanted if files.steps else ["instruction.md"]
    for path in wanted:
        if not files.is_file(path):
            yield from _missing(files, path, "the agent would be told nothing")
        elif not files.agent_text(path).strip() and path not in files.unreadable:
            yield Problem("the instruction is empty: the agent would be told nothing", path, 1, fix=_TELL)


def _test_scripts(files: TaskFiles, suffix: str) -> Iterator[Problem]:
    verifier = files.table("verifier")
    inner = verifier.get("environment")
    bundled = files.is_file("tests/Dockerfile") or files.is_file("tests/docker-compose.yaml")
    if isinstance(inner, dict) and inner.get("docker_image"):
        bundled = True
    root = f"tests/test{suffix}"
    if files.steps:
        for name in files.steps:
            path = f"steps/{name}/tests/test{suffix}"
            if (
                files.is_dir(f"steps/{name}")
                and not files.is_file(path)
                and not files.is_file(root)
                and not bundled
            ):
                yield from _missing(files, path, f"nothing judges step '{name}'")
    elif not files.is_file(root) and not bundled:
        yield from _missing(files, root, "nothing judges the task")
    for path in [root, *(f"steps/{name}/tests/test{suffix}" for name in files.steps)]:
        if files.is_file(path) and _blank(files, path):
            yield Problem("the test script is empty: no reward would be written", path, 1, fix=_JUDGE)
        folder = path.rsplit("/", 1)[0]
        ignored = f"{folder}/.harborignore"
        if files.is_file(path) and files.is_file(ignored):
            pattern = gitignore(files.text(ignored)).match(path.removeprefix(folder + "/"))
            if pattern is not None:
                message = f"the test script is left out of the upload by '{pattern.text}'"
                yield Problem(message, ignored, pattern.line)


@rule(name="no-oracle", pack="harbor", severity="warning")
def no_oracle(files: TaskFiles) -> Iterator[Problem]:
    """There is no reference solution, so nothing shows that the task can be solved.

    Why: Harbor's oracle run of a task without solution/ ends in reward 0 and a valid result, which reads as a hard
        task and not as an unproved one.
    Bad: no solution/solve.sh
    Good: solution/solve.sh that earns reward 1
    Fix: write solution/solve.sh; for a task of several steps, one for each step or one for all.
    """
    suffix = "bat" if str(files.table("environment").get("os", "")).lower() == "windows" else "sh"
    if not files.is_file("task.toml") or files.is_file(f"solution/solve.{suffix}"):
        return
    steps = [n for n in files.steps if files.is_dir(f"steps/{n}")]
    missing = [n for n in steps if not files.is_file(f"steps/{n}/solution/solve.{suffix}")]
    if files.steps and not missing:
        return
    path = f"steps/{missing[0]}/solution/solve.{suffix}" if missing else f"solution/solve.{suffix}"
    yield Problem(f"{path} is missing: nothing shows that the task can be solved", path)


@rule(name="duplicate-task-name", pack="harbor", severity="error", default=False)
def duplicate_task_name(files: TaskFiles) -> Iterator[Problem]:
    """Two tasks that are checked together have the same [task] name.

    Why: a task was copied to start another and kept its name; in the registry one replaced the other, and a dataset of
        forty had thirty-nine. Off unless it is selected: variants of one task are often checked side by side.
    Bad: two directories with name = "org/sum-report"
    Good: a name of its own for each task
    Fix: rename one of them.
    """
    # The engine makes these findings, for one task alone does not know of the others.
    yield from ()


@rule(name="bad-step-name", pack="harbor", severity="error")
def bad_step_name(files: TaskFiles) -> Iterator[Problem]:
    """A step's name is no portable directory name, stands twice, or names no directory.

    Why: Harbor validates step names since 0.26; older tasks with `Step 1` and `step 1` collided on a file system that
        folds case, and one step was judged by the other's tests.
    Bad: two [[steps]] called "build" and "Build"
    Good: [[steps]] name = "build", with steps/build/instruction.md
    Fix: give each step a name of letters, digits, '-' and '_', and a directory of that name below steps/.
    """
    steps = files.toml.get("steps")
    seen: dict[str, str] = {}
    for index, step in enumerate(steps if isinstance(steps, list) else []):
        name = step.get("name") if isinstance(step, dict) else None
        if not isinstance(name, str):
            continue
        line, column = files.where("steps", index, "name")
        folded = unicodedata.normalize("NFC", name).casefold()
        if (
            not re.fullmatch(r"[^\x00-\x1f/\\:*?\"<>|]+", name)
            or name in (".", "..")
            or name != name.strip(" .")
        ):
            yield Problem(f"step name '{name[:60]}' is no portable directory name", "task.toml", line, column)
        elif len(name.encode("utf-8", "replace")) > 255:
            yield Problem("a step name is longer than 255 bytes", "task.toml", line, column)
        elif folded in seen:
            message = f"the steps '{seen[folded]}' and '{name}' have the same name where case is folded"
            yield Problem(message, "task.toml", line, column)
        elif not files.is_dir(f"steps/{name}"):
            yield Problem(f"step '{name}' has no directory steps/{name}", "task.toml", line, column)
        seen.setdefault(folded, name)


@rule(name="unused-harborignore", pack="harbor", severity="warning", harbor=True)
def unused_harborignore(files: TaskFiles) -> Iterator[Problem]:
    """A .harborignore lies where Harbor does not read it.

    Why: Harbor reads it only in tests/, solution/ and those of steps; one in the task's root left large files in the
        upload that its author believed excluded.
    Bad: .harborignore beside task.toml
    Good: tests/.harborignore
    Fix: move it into the directory whose upload it shall shape, or use .gitignore for the package.
    """
    allowed = (*files.tests_prefixes, *files.solution_prefixes)
    for entry in files.files():
        if entry.name == ".harborignore" and not entry.path.startswith(allowed):
            yield Problem("Harbor does not read this .harborignore", entry.path)
