"""Harbor's task.toml, schema 1.4, as data: tables, keys, types, ranges, and what is deprecated.

Harbor itself ignores unknown keys and validates few ranges; a typo in a limit is a limit that does not hold, so the
model here is closed. `author schema task` prints it for editors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: The version that this model describes.
SCHEMA_VERSION = "1.4"


@dataclass(frozen=True)
class Deprecated:
    """An accepted key that has a successor; `since` is the schema version that brought the successor."""

    since: str
    instead: str


@dataclass(frozen=True)
class Key:
    """One key.

    Attributes:
        kinds: of "string", "integer", "number", "boolean", "array", "table"; a boolean is never a number.
        choices: allowed values of a string.
        minimum: lowest number; `above` excludes it.
        pattern: that a string must match whole.
        table: what a table, or each table of an array, holds.
        items: type of each item of an array without `table`.
    """

    kinds: tuple[str, ...]
    about: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    above: bool = False
    pattern: str = ""
    table: str = ""
    items: tuple[str, ...] = ()
    required: bool = False
    deprecated: Deprecated | None = None


@dataclass(frozen=True)
class Table:
    """The keys of one kind of table; `free` takes any."""

    keys: Mapping[str, Key] = field(default_factory=dict)
    free: bool = False


def _text(about: str, **more: object) -> Key:
    return Key(("string",), about, **more)  # type: ignore[arg-type]


def _seconds(about: str) -> Key:
    return Key(("number",), f"{about}, seconds", minimum=0, above=True)


def _count(about: str, minimum: int = 1) -> Key:
    return Key(("integer",), about, minimum=minimum)


NETWORK_MODES = ("public", "no-network", "allowlist")
TASK_NAME = r"[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*"
_NETWORK = {
    "network_mode": _text("which hosts can be reached", choices=NETWORK_MODES),
    "allowed_hosts": Key(("array",), "hosts that allowlist lets through", items=("string",)),
}
_USER = Key(("string", "integer"), "user in the container; default: the image's")
_STRINGS = Key(("table",), "variables; ${VAR} is taken from the host", table="strings")
_HEALTH = Key(("table",), "a command that must succeed before the agent starts", table="healthcheck")
_ARTIFACTS = Key(
    ("array",), "what is carried out of the container", items=("string", "table"), table="artifact"
)

TABLES: Mapping[str, Table] = {
    "": Table(
        {
            "schema_version": _text("version of this format"),
            "version": _text("old name of schema_version", deprecated=Deprecated("1.1", "schema_version")),
            "source": _text("where the task comes from"),
            "multi_step_reward_strategy": _text("how step rewards are joined", choices=("mean", "final")),
            "artifacts": _ARTIFACTS,
            "task": Key(("table",), "identity", table="task"),
            "metadata": Key(("table",), "anything the author wants", table="free"),
            "agent": Key(("table",), "limits of the agent", table="agent"),
            "verifier": Key(("table",), "limits and place of the judge", table="verifier"),
            "environment": Key(("table",), "the container", table="environment"),
            "solution": Key(("table",), "what only the oracle gets", table="solution"),
            "steps": Key(("array",), "a task of several steps", items=("table",), table="step"),
        }
    ),
    "task": Table(
        {
            "name": _text("organisation/name", pattern=TASK_NAME, required=True),
            "version": _text("of the task; not interpreted", pattern=r".+"),
            "description": _text("one line"),
            "authors": Key(("array",), "who wrote it", items=("table",), table="author"),
            "keywords": Key(("array",), "words to find it by", items=("string",)),
        }
    ),
    "author": Table({"name": _text("of a person", required=True), "email": _text("of a person")}),
    "agent": Table({"timeout_sec": _seconds("time limit of the agent"), "user": _USER, **_NETWORK}),
    "verifier": Table(
        {
            "timeout_sec": _seconds("time limit of the judge"),
            "env": _STRINGS,
            "user": _USER,
            "environment_mode": _text("where the judge runs", choices=("shared", "separate")),
            "environment": Key(("table",), "the judge's own container", table="environment"),
            "collect": Key(("array",), "commands run after the agent", items=("table",), table="collect"),
            **_NETWORK,
        }
    ),
    "environment": Table(
        {
            "build_timeout_sec": _seconds("time limit of build and start"),
            "docker_image": _text("ready image instead of a Dockerfile"),
            "os": _text("operating system", choices=("linux", "windows")),
            "cpus": Key(("number",), "processors", minimum=0, above=True),
            "memory_mb": _count("memory in MB"),
            "storage_mb": _count("disk in MB; ignored by docker"),
            "gpus": _count("graphics processors", 0),
            "gpu_types": Key(("array",), "accepted GPU types", items=("string",)),
            "tpu": Key(("table",), "TPU slice", table="tpu"),
            "env": _STRINGS,
            "workdir": _text("working directory; must exist in the image"),
            "skills_dir": _text("directory of skills"),
            "mcp_servers": Key(("array",), "MCP servers", items=("table",), table="mcp"),
            "healthcheck": _HEALTH,
            "memory": _text("old memory limit, such as 2G", deprecated=Deprecated("1.1", "memory_mb")),
            "storage": _text("old disk limit, such as 10G", deprecated=Deprecated("1.1", "storage_mb")),
            "allow_internet": Key(
                ("boolean",), "old network switch", deprecated=Deprecated("1.2", "network_mode")
            ),
            **_NETWORK,
        }
    ),
    "tpu": Table(
        {
            "type": _text("TPU type", required=True),
            "topology": _text("such as 2x4", pattern=r"\d+x\d+(?:x\d+)?", required=True),
        }
    ),
    "mcp": Table(
        {
            "name": _text("of the server", required=True),
            "transport": _text("protocol", choices=("sse", "streamable-http", "stdio", "http")),
            "url": _text("address"),
            "command": _text("program"),
            "args": Key(("array",), "its arguments", items=("string",)),
            "headers": Key(("table",), "HTTP headers; credentials as ${VAR}", table="strings"),
        }
    ),
    "healthcheck": Table(
        {
            "command": _text("shell command", required=True),
            "interval_sec": _seconds("between tries"),
            "timeout_sec": _seconds("of one try"),
            "start_period_sec": Key(("number",), "grace period, seconds", minimum=0),
            "start_interval_sec": _seconds("between tries in the grace period"),
            "retries": _count("failures before it gives up"),
        }
    ),
    "collect": Table(
        {
            "command": _text("shell command", required=True),
            "service": _text("container"),
            "timeout_sec": _seconds("time limit"),
            "user": _USER,
        }
    ),
    "artifact": Table(
        {
            "source": _text("path in the container", required=True),
            "destination": _text("relative path on the host"),
            "exclude": Key(("array",), "patterns left out", items=("string",)),
            "service": _text("container"),
        }
    ),
    "solution": Table({"env": _STRINGS}),
    "step": Table(
        {
            "name": _text("directory below steps/", required=True),
            "agent": Key(("table",), "limits of the agent", table="agent"),
            "verifier": Key(("table",), "limits of the judge", table="verifier"),
            "min_reward": Key(("number", "table"), "needed to go on", table="free"),
            "healthcheck": _HEALTH,
            "artifacts": _ARTIFACTS,
        }
    ),
    "strings": Table(free=True),
    "free": Table(free=True),
}


def owners(key: str) -> list[str]:
    """Tables that know `key`, as a reader writes them: `[environment]`."""
    found = []
    for name in ("", "task", "agent", "verifier", "environment"):
        if key in TABLES[name].keys:
            found.append(f"[{name}]" if name else "the top of the file, before any [table]")
    return found


def declared_version(document: Mapping[str, object]) -> tuple[int, ...]:
    """The schema version that a document is written in; a missing or odd one counts as today's."""
    text = document.get("schema_version", document.get("version", SCHEMA_VERSION))
    match = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", text) if isinstance(text, str) else None
    return (int(match[1]), int(match[2])) if match else version_tuple(SCHEMA_VERSION)


def version_tuple(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
