"""The fields of `task.json`: each read by a function that returns a checked value or names the field at fault."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from harbor_author.integrity.baseline import Baseline, read_baseline
from harbor_author.integrity.errors import IntegrityError, TaskDefinitionError

#: One version of both for task sets, graders and reports: a new one is a change of the schema.
SCHEMA_VERSION = 1
CATEGORIES = ("bugfix", "refactor", "feature", "docs_update")
GRADERS = ("command", "hidden-tests", "structure")
NETWORKS = ("none", "public")
MAX_PROMPT_CHARS = 20_000

_MACHINE_PATH = re.compile(
    r"(?<![\w./:@-])(?:/(?:home|Users|root|tmp|var|private|mnt|media|opt|usr|etc|srv|Volumes)/"
    r"|[A-Za-z]:[\\/](?=[\w.])|\\\\\w|file://|~/)"
)
_DYNAMIC = re.compile(r"\{\{.{0,200}?\}\}|\$\{[A-Za-z_]\w*\}|<%.{0,200}?%>", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:")
_FIELDS = frozenset(
    {
        "schemaVersion", "id", "title", "category", "prompt", "fixture", "fixtureVersion", "timeout", "budgets",
        "grader", "environment", "lockfile", "network", "metadata", "expectedBaseline",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Grader:
    """Who decides: the kind, and the fixed command, run in the copy, with its own time limit.

    `answer` is a text that the prompt may not hold; "" when there is none.
    """

    type: str
    command: tuple[str, ...]
    timeout_s: float
    answer: str


@dataclass(frozen=True)
class Conditions:
    """What a run fixes: a clock in seconds since the epoch, a seed, the settings of mock servers."""

    clock_s: int | None
    seed: int | None
    mock: Mapping[str, Any]


@dataclass(frozen=True)
class Fields:
    """All fields of a manifest, checked."""

    title: str
    category: str
    prompt: str
    fixture: str
    fixture_version: str
    timeout_s: float
    budgets: Mapping[str, float]
    grader: Grader
    variables: Mapping[str, str]
    lockfile: str | None
    network: str
    conditions: Conditions
    baseline: Baseline | None


def invalid(field: str | None, problem: str) -> TaskDefinitionError:
    """The error for a manifest; `problem` is our own words, never the file's."""
    return TaskDefinitionError("schema", f"任务 schema 无效 (invalid manifest: {problem})", field=field)


def read(document: Mapping[str, Any], id_: str) -> Fields:
    """Check a whole manifest.

    Raises:
        TaskDefinitionError: the first field at fault.
    """
    if document.get("schemaVersion", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise invalid("schemaVersion", f"this version reads schema {SCHEMA_VERSION}")
    if _text(document, "id") != id_:
        raise invalid("id", "is not the name of the task's directory")
    if _text(document, "category") not in CATEGORIES:
        raise invalid("category", f"must be one of {', '.join(CATEGORIES)}")
    grader = _grader(document)
    conditions = _conditions(document)
    if not document.keys() <= _FIELDS:
        raise invalid(None, f"a field is unknown; the known are {', '.join(sorted(_FIELDS))}")
    return Fields(
        title=_text(document, "title") if "title" in document else id_,
        category=document["category"],
        prompt=_prompt(document, grader),
        fixture=_relative(_text(document, "fixture"), "fixture", below="fixtures"),
        fixture_version=_text(document, "fixtureVersion"),
        timeout_s=_positive(document.get("timeout"), "timeout"),
        budgets=_budgets(document),
        grader=grader,
        variables=_variables(document),
        lockfile=_relative(_text(document, "lockfile"), "lockfile") if "lockfile" in document else None,
        network=_network(document),
        conditions=conditions,
        baseline=_baseline(document),
    )


def _text(document: Mapping[str, Any], field: str) -> str:
    value = document.get(field)
    if not isinstance(value, str) or not value.strip():
        raise invalid(field, "must be a text that is not empty")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise invalid(field, "holds half a character")
    return value


def _prompt(document: Mapping[str, Any], grader: Grader) -> str:
    prompt = _text(document, "prompt")
    if len(prompt) > MAX_PROMPT_CHARS:
        raise invalid("prompt", f"is longer than {MAX_PROMPT_CHARS:,} characters")
    if _MACHINE_PATH.search(prompt):
        raise invalid("prompt", "holds an absolute path of a machine")
    if _DYNAMIC.search(prompt):
        raise invalid("prompt", "holds a placeholder: every run must get the same words")
    if grader.answer and grader.answer in prompt:
        raise invalid("prompt", "gives the answer away")
    return prompt


def _relative(value: str, field: str, *, below: str | None = None) -> str:
    """A path of forward slashes inside the task's directory, inside `below` where that is given."""
    parts = value.split("/")
    if (
        value.startswith(("/", "~"))
        or "\\" in value
        or _DRIVE.match(value)
        or not value.isprintable()
        or any(part in ("", ".", "..") for part in parts)
    ):
        raise invalid(field, "must be a plain path relative to the task, with forward slashes and no '..'")
    if below is not None and (parts[0] != below or len(parts) < 2):
        raise invalid(field, f"must lie in {below}/")
    return value


def _positive(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(field, "must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (0 < number < math.inf):
        raise invalid(field, "must be positive and finite")
    return number


def _budgets(document: Mapping[str, Any]) -> Mapping[str, float]:
    value = document.get("budgets")
    if not isinstance(value, dict) or not value:
        raise invalid("budgets", "must be an object of positive numbers")
    # A key is the file's text and is shown only when it is a plain word.
    return MappingProxyType(
        {key: _positive(number, f"budgets.{_shown(key)}") for key, number in value.items()}
    )


def _grader(document: Mapping[str, Any]) -> Grader:
    value = document.get("grader")
    if not isinstance(value, dict):
        raise invalid("grader", "must be an object")
    if value.get("type") not in GRADERS:
        raise invalid("grader.type", f"must be one of {', '.join(GRADERS)}")
    command = value.get("command", [])
    if not isinstance(command, list) or not all(isinstance(word, str) and word for word in command):
        raise invalid("grader.command", "must be a list of texts")
    if value["type"] == "command" and not command:
        raise invalid("grader.command", "must not be empty")
    answer = value.get("answer", "")
    if not isinstance(answer, str):
        raise invalid("grader.answer", "must be a text")
    timeout = value.get("timeout", document.get("timeout"))
    return Grader(value["type"], tuple(command), _positive(timeout, "grader.timeout"), answer)


def _variables(document: Mapping[str, Any]) -> Mapping[str, str]:
    value = document.get("environment", {})
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise invalid("environment", "must be an object of texts")
    return MappingProxyType(dict(value))


def _baseline(document: Mapping[str, Any]) -> Baseline | None:
    if "expectedBaseline" not in document:
        return None
    try:
        return read_baseline(document["expectedBaseline"])
    except IntegrityError as error:
        raise invalid("expectedBaseline", error.message) from None


def _network(document: Mapping[str, Any]) -> str:
    value = document.get("network", "none")
    if value not in NETWORKS:
        raise invalid("network", f"must be one of {', '.join(NETWORKS)}")
    return str(value)


def _conditions(document: Mapping[str, Any]) -> Conditions:
    value = document.get("metadata", {})
    if not isinstance(value, dict):
        raise invalid("metadata", "must be an object")
    clock, seed, mock = value.get("clock"), value.get("seed"), value.get("mock", {})
    for name, number in (("clock", clock), ("seed", seed)):
        if number is not None and (type(number) is not int or not 0 <= number < 1 << 32):
            raise invalid(f"metadata.{name}", "must be a whole number from 0 to 4294967295")
    if not isinstance(mock, dict):
        raise invalid("metadata.mock", "must be an object")
    return Conditions(clock, seed, MappingProxyType(mock))


def _shown(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", key) else "(a name that is not a plain word)"
