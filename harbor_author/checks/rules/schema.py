"""task.toml against Harbor's schema 1.4."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.schema_model import TABLES, Key, declared_version, owners, version_tuple

_MAX_DEPTH = 12


@dataclass(frozen=True)
class _Fault:
    kind: str
    keys: tuple[str | int, ...]
    message: str
    fix: str


def _faults(files: TaskFiles) -> list[_Fault]:
    found: list[_Fault] = files.once(
        "schema faults", lambda: list(_check_table(files.toml, "", (), declared_version(files.toml)))
    )
    return found


def _check_table(
    value: Mapping[str, Any], name: str, keys: tuple[str | int, ...], version: tuple[int, ...]
) -> Iterator[_Fault]:
    table = TABLES[name]
    if table.free or len(keys) > _MAX_DEPTH:
        return
    for key, item in value.items():
        known = table.keys.get(key)
        path = (*keys, key)
        if known is None:
            yield _Fault(
                "unknown", path, f"{_called(path)} is no key of Harbor's schema", _suggest(key, name)
            )
            continue
        if known.deprecated is not None and version >= version_tuple(known.deprecated.since):
            yield _Fault("deprecated", path, f"{_called(path)} is deprecated", _successor(key, item, known))
        yield from _check_value(item, known, path, version)
    for key, known in table.keys.items():
        if known.required and key not in value:
            where = _called(keys) if keys else "the document"
            yield _Fault("invalid", keys, f"{where} lacks '{key}' ({known.about})", f"add {key} = ...")


def _check_value(
    item: Any, known: Key, path: tuple[str | int, ...], version: tuple[int, ...]
) -> Iterator[_Fault]:
    name = _called(path)
    if not any(_is(item, kind) for kind in known.kinds):
        wanted = " or ".join(known.kinds)
        yield _Fault("invalid", path, f"{name} is {_kind(item)}, not {wanted}", f"write {_example(known)}")
        return
    if isinstance(item, str):
        value = item.lower() if path[-1] == "os" else item
        if known.choices and value not in known.choices:
            near = get_close_matches(item, known.choices, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "use " + ", ".join(known.choices)
            yield _Fault("invalid", path, f"{name} cannot be '{item[:60]}'", hint)
        elif known.pattern and (not re.fullmatch(known.pattern, item, re.DOTALL) or ".." in item):
            yield _Fault("invalid", path, f"{name} cannot be '{item[:60]}'", f"it is {known.about}")
    elif isinstance(item, (int, float)) and not isinstance(item, bool):
        low = known.minimum
        if not math.isfinite(item):
            yield _Fault("invalid", path, f"{name} is not a finite number", f"write {_example(known)}")
        elif low is not None and (item < low or (known.above and item == low)):
            bound = f"above {low:g}" if known.above else f"at least {low:g}"
            yield _Fault("invalid", path, f"{name} is {item}, it must be {bound}", f"write {_example(known)}")
    elif isinstance(item, dict) and known.table:
        if known.table == "strings":
            for key, text in item.items():
                if not isinstance(text, str):
                    message = f"{_called((*path, key))} is {_kind(text)}, not string"
                    yield _Fault("invalid", (*path, key), message, f'write {key} = "{text}"')
        else:
            yield from _check_table(item, known.table, path, version)
    elif isinstance(item, list):
        for index, element in enumerate(item):
            if not any(_is(element, kind) for kind in known.items):
                message = f"item {index + 1} of {name} is {_kind(element)}, not {' or '.join(known.items)}"
                yield _Fault("invalid", path, message, f"it is {known.about}")
            elif isinstance(element, dict) and known.table:
                yield from _check_table(element, known.table, (*path, index), version)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    types: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "array": (list,),
        "table": (dict,),
        "boolean": (),
    }
    return isinstance(value, types[kind])


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    for types, word in (
        ((str,), "a string"),
        ((int, float), "a number"),
        ((list,), "an array"),
        ((dict,), "a table"),
    ):
        if isinstance(value, types):
            return word
    return "a date"


def _example(known: Key) -> str:
    if known.choices:
        return f'"{known.choices[0]}"'
    examples = {"string": '"..."', "integer": "1", "number": "2.5", "boolean": "true", "array": "[]"}
    return examples.get(known.kinds[0], "a [table]")


def _called(path: tuple[str | int, ...]) -> str:
    """A key as a reader finds it: `timeout_sec` in [agent]; the table itself as [agent]."""
    if not path:
        return "the document"
    words = [str(part) for part in path if isinstance(part, str)]
    if path[-1] in TABLES[""].keys and len(path) == 1 and path[-1] not in ("artifacts", "source"):
        known = TABLES[""].keys[str(path[-1])]
        return f"[{path[-1]}]" if "table" in known.kinds else f"'{path[-1]}'"
    if len(words) == 1:
        return f"'{words[0]}'"
    if isinstance(path[-1], int):
        return f"[[{'.'.join(words)}]] number {path[-1] + 1}"
    return f"'{words[-1]}' in [{'.'.join(words[:-1])}]"


def _suggest(key: str, table: str) -> str:
    here = TABLES[table].keys
    near = get_close_matches(key.lower(), here, n=1, cutoff=0.75)
    if near:
        return f"did you mean '{near[0]}'?"
    places = owners(key)
    if places:
        return f"'{key}' belongs in {' or '.join(places)}"
    every = sorted({k for t in TABLES.values() for k in t.keys})
    near = get_close_matches(key.lower(), here, n=1) or get_close_matches(key.lower(), every, n=1, cutoff=0.8)
    if near and near[0] in here:
        return f"did you mean '{near[0]}'?"
    if near:
        return f"did you mean '{near[0]}' in {' or '.join(owners(near[0]) or ['another table'])}?"
    return "Harbor ignores it; what is only for readers belongs in [metadata]"


def _successor(key: str, value: Any, known: Key) -> str:
    assert known.deprecated is not None
    return f"write {replacement(key, value) or known.deprecated.instead + ' = ...'} instead"


def replacement(key: str, value: Any) -> str | None:
    """The line that says the same as a deprecated key; None when its value makes no sense."""
    if key == "version" and isinstance(value, str):
        return f'schema_version = "{value}"'
    if key == "allow_internet" and isinstance(value, bool):
        return f'network_mode = "{"public" if value else "no-network"}"'
    if key in ("memory", "storage") and isinstance(value, str):
        match = re.fullmatch(r"\s*(\d{1,9})\s*([KMGT]?)i?B?\s*", value, re.IGNORECASE)
        if match:
            size = (
                int(match[1])
                * {"": 1 / 2**20, "K": 1 / 1024, "M": 1, "G": 1024, "T": 2**20}[match[2].upper()]
            )
            return f"{key}_mb = {int(size)}" if size == int(size) and size >= 1 else None
    return None


@rule(name="invalid-task-config", pack="harbor", severity="error", harbor=True)
def invalid_task_config(files: TaskFiles) -> Iterator[Problem]:
    r"""task.toml is no TOML, or a value in it is not what Harbor's schema 1.4 takes.

    Why: an unescaped backslash in a TOML string, and `cpus = "many"`, each made Harbor run one task fewer without a
        word: 19 of 20 ran, and the average was taken over 19.
    Bad: cpus = "many"
    Good: cpus = 2
    Fix: correct the value at the place that is named; in a basic string a backslash is written twice.
    """
    if not files.is_file("task.toml"):
        return
    fault = files.toml_fault
    if fault is not None and files.data("task.toml")[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return  # of another encoding, which byte-order-mark tells
    if fault is not None:
        message = f"task.toml is not valid TOML: {fault.message[:1].lower()}{fault.message[1:]}"
        yield Problem(message, "task.toml", fault.line, fault.column, _toml_hint(fault.message))
        return
    for item in _faults(files):
        if item.kind == "invalid":
            yield Problem(item.message, "task.toml", *files.where(*item.keys), item.fix)


def _toml_hint(message: str) -> str:
    if "escape" in message.lower() or "\\" in message:
        return "write the backslash twice, or use a literal string in single quotes"
    if "overwrite" in message or "twice" in message or "mutate" in message:
        return "this key or table stands here a second time; remove one of the two"
    return "correct the syntax there; Harbor drops a task whose task.toml does not parse"


@rule(name="unknown-config-field", pack="harbor", severity="error", harbor=True)
def unknown_config_field(files: TaskFiles) -> Iterator[Problem]:
    """A key of task.toml is unknown to Harbor, which ignores it.

    Why: `timeout_seconds` in [agent] set no limit at all, and `memory_mb` under [agent] let a judge run out of memory
        on small machines; neither was reported.
    Bad: [agent] timeout_seconds = 600
    Good: [agent] timeout_sec = 600.0
    Fix: use the key that is suggested, in its own table; put notes for readers in [metadata].
    """
    for item in _faults(files):
        if item.kind == "unknown":
            yield Problem(item.message, "task.toml", *files.where(*item.keys), item.fix)


@rule(name="deprecated-config-field", pack="harbor", severity="warning")
def deprecated_config_field(files: TaskFiles) -> Iterator[Problem]:
    """A key is deprecated in the schema version that the task says it is written in.

    Why: `allow_internet = false` beside a newer `network_mode` is overruled by it, and the reader of the first line
        believes that the task is offline.
    Bad: schema_version = "1.4" with [environment] memory = "2G"
    Good: [environment] memory_mb = 2048
    Fix: write its successor.
    """
    environment = files.table("environment")
    for item in _faults(files):
        # Beside its successor it is a conflict, which is told as one.
        if item.kind == "deprecated" and f"{item.keys[-1]}_mb" not in environment:
            yield Problem(item.message, "task.toml", *files.where(*item.keys), item.fix)


@rule(name="conflicting-config", pack="harbor", severity="error")
def conflicting_config(files: TaskFiles) -> Iterator[Problem]:
    """Two settings of task.toml exclude each other.

    Why: `environment_mode = "shared"` beside a [verifier.environment] made Harbor refuse the task at run time, and a
        list of allowed hosts without `network_mode = "allowlist"` let everything through.
    Bad: [environment] network_mode = "public" with allowed_hosts = ["example.org"]
    Good: [environment] network_mode = "allowlist" with allowed_hosts = ["example.org"]
    Fix: keep the setting that is meant and remove the other.
    """
    verifier = files.table("verifier")
    if verifier.get("environment_mode") == "shared" and isinstance(verifier.get("environment"), dict):
        place = files.where("verifier", "environment")
        message = "a shared verifier has no environment of its own, but [verifier.environment] is there"
        yield Problem(message, "task.toml", *place)
    for keys in (("environment",), ("agent",), ("verifier",), ("verifier", "environment")):
        table = files.table(*keys)
        hosts, mode = table.get("allowed_hosts"), table.get("network_mode")
        inherited = mode if mode is not None else files.table("environment").get("network_mode")
        if isinstance(hosts, list):
            where = files.where(*keys, "allowed_hosts")
            if inherited != "allowlist":
                message = (
                    f'allowed_hosts in [{".".join(keys)}] has no effect without network_mode = "allowlist"'
                )
                yield Problem(message, "task.toml", *where)
            for host in hosts:
                if isinstance(host, str) and not _HOST.fullmatch(host):
                    message = f"'{host[:60]}' is no host: neither scheme, port nor path belong to it"
                    yield Problem(message, "task.toml", *where)
        elif mode == "allowlist":
            message = f"[{'.'.join(keys)}] allows a list of hosts but gives none"
            yield Problem(message, "task.toml", *files.where(*keys, "network_mode"))
    for old, new in (("memory", "memory_mb"), ("storage", "storage_mb")):
        table = files.table("environment")
        if old in table and new in table:
            message = f"'{old}' and '{new}' in [environment] say the same thing twice; Harbor refuses that"
            yield Problem(message, "task.toml", *files.where("environment", old))


_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+(?:/\d{1,3})?")


@rule(name="no-agent-timeout", pack="harbor", severity="warning")
def no_agent_timeout(files: TaskFiles) -> Iterator[Problem]:
    """The agent has no time limit.

    Why: without `timeout_sec` in [agent] Harbor lets an agent run for ever; one that waited for input held a paid
        machine for a weekend.
    Bad: a task.toml without [agent]
    Good: [agent] timeout_sec = 900.0
    Fix: add timeout_sec to [agent]; for a task of several steps, to each [steps.agent] or to [agent].
    """
    if not files.toml or "timeout_sec" in files.table("agent"):
        return
    steps = files.toml.get("steps")
    if isinstance(steps, list) and steps:
        agents = [step.get("agent") for step in steps if isinstance(step, dict)]
        if all(isinstance(agent, dict) and "timeout_sec" in agent for agent in agents):
            return
    line, column = files.where("agent")
    message = "no agent time limit: [agent] has no timeout_sec, so Harbor lets the agent run for ever"
    yield Problem(message, "task.toml", line, column)


_TOLD_LIMIT = re.compile(
    r"\b(?:you have|within|time limit(?: of| is|:)?)\s+(?P<number>\d{1,6})\s*(?P<unit>seconds?|minutes?|hours?)\b"
    r"[^.\n]{0,40}?"
    r"(?:to (?:complete|finish|solve)|for this task|for the task|$)",
    re.IGNORECASE | re.MULTILINE,
)


@rule(name="time-limit-told-wrong", pack="harbor", severity="warning")
def time_limit_told_wrong(files: TaskFiles) -> Iterator[Problem]:
    """The instruction tells another time limit than task.toml sets.

    Why: the limit was halved in task.toml and stayed as it was in the text; agents planned for time that they did not
        have and were cut off.
    Bad: "You have 1200 seconds to complete this task." with [agent] timeout_sec = 600.0
    Good: the same number in both
    Fix: correct the sentence, or [agent] timeout_sec.
    """
    limit = files.table("agent").get("timeout_sec")
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not files.is_file("instruction.md"):
        return
    text = files.text("instruction.md")
    for match in _TOLD_LIMIT.finditer(text):
        seconds = int(match["number"]) * {"s": 1, "m": 60, "h": 3600}[match["unit"][0].lower()]
        if seconds != limit:
            line = text.count("\n", 0, match.start()) + 1
            message = f"tells a limit of {seconds} s, but [agent] timeout_sec is {limit:g}"
            yield Problem(message, "instruction.md", line)
