"""JSON Schemas for editors: of task.toml (Harbor 1.4, closed) and of author.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harbor_author.checks.schema_model import SCHEMA_VERSION, TABLES, Key
from harbor_author.suite import MODES
from harbor_author.suite.settings import SHAPE

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "table": "object",
}


#: `[metadata.author]` of task.toml.
_OURS = {
    "description": "what author reads",
    "type": "object",
    "properties": {
        "ignore": {"type": "object", "description": "rule = why its findings are right here"},
        "new_privileges": {
            "type": "boolean",
            "description": "whether setuid programs such as sudo get their rights in trials",
        },
    },
}


def task_schema() -> dict[str, Any]:
    """Of task.toml, as Harbor reads it; unknown keys are refused outside [metadata]."""
    schema = {
        "$schema": _DRAFT,
        "title": f"Harbor task.toml, schema {SCHEMA_VERSION}",
        **_table(""),
    }
    schema["properties"]["metadata"] = {
        "description": "anything the author wants",
        "type": "object",
        "properties": {"author": _OURS},
    }
    return {
        **schema,
        "$defs": {name: _table(name) for name in TABLES if name},
    }


def _table(name: str) -> dict[str, Any]:
    table = TABLES[name]
    if name == "strings":
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if table.free:
        return {"type": "object"}
    schema: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {key: _key(known) for key, known in table.keys.items()},
    }
    required = [key for key, known in table.keys.items() if known.required]
    if required:
        schema["required"] = required
    return schema


def _key(known: Key) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": known.about}
    if known.deprecated is not None:
        schema["deprecated"] = True
        schema["description"] += f"; deprecated, use {known.deprecated.instead}"
    kinds = known.kinds
    if "table" in kinds and known.table:
        reference = {"$ref": f"#/$defs/{known.table}"}
        others = [kind for kind in kinds if kind != "table"]
        if not others:
            return {**schema, **reference}
        return {**schema, "anyOf": [{"type": _TYPES[kind]} for kind in others] + [reference]}
    schema["type"] = _TYPES[kinds[0]] if len(kinds) == 1 else [_TYPES[kind] for kind in kinds]
    if known.choices:
        schema["enum"] = list(known.choices)
    if known.pattern:
        schema["pattern"] = f"^(?:{known.pattern})$"
    if known.minimum is not None:
        schema["exclusiveMinimum" if known.above else "minimum"] = known.minimum
    if "array" in kinds:
        items = [{"type": _TYPES[kind]} for kind in known.items if kind != "table"]
        if "table" in known.items:
            items.append({"$ref": f"#/$defs/{known.table}"})
        schema["items"] = items[0] if len(items) == 1 else {"anyOf": items}
    return schema


def suite_schema() -> dict[str, Any]:
    """Of author.toml, from the shape that its reader checks."""
    return {
        "$schema": _DRAFT,
        "title": "author.toml, the settings of a suite of Harbor tasks",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _suite_table(name, shape) for name, shape in SHAPE.items()},
    }


_SUITE_ENUMS: Mapping[tuple[str, str], list[str]] = {
    ("host", "source"): ["npm", "pypi"],
    ("judge", "on_error"): ["zero", "no-reward"],
}
_ENTRY = {
    "type": "object",
    "required": ["rule", "reason"],
    "properties": {
        "rule": {"type": "string"},
        "task": {"type": "string"},
        "reason": {"type": "string", "minLength": 1},
        "until": {"type": "string", "format": "date"},
    },
}


def _suite_table(name: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    if "*" in shape:
        items: dict[str, Any] = {"type": "object"} if shape["*"] is dict else {"type": "string"}
        if name == "series":
            items["properties"] = {
                "title": {"type": "string"},
                "mode": {"enum": list(MODES)},
                "host": {"enum": ["dsh", "none"]},
            }
        if name == "modes":
            items = {"enum": list(MODES)}
        return {"type": "object", "additionalProperties": items}
    properties: dict[str, Any] = {}
    for key, kind in shape.items():
        if (name, key) in _SUITE_ENUMS:
            properties[key] = {"enum": _SUITE_ENUMS[name, key]}
        elif (name, key) == ("validate", "suppress"):
            properties[key] = {"type": "array", "items": _ENTRY}
        elif (name, key) == ("validate", "severity"):
            levels = {"enum": ["error", "warning", "note"]}
            properties[key] = {"type": "object", "additionalProperties": levels}
        elif kind is list:
            properties[key] = {"type": "array", "items": {"type": "string"}}
        else:
            properties[key] = {"type": "object" if kind is dict else "string"}
    return {"type": "object", "additionalProperties": False, "properties": properties}
