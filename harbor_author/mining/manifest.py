"""Edits of a package.json that leave its formatting alone, and what it says about entry points."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_VALUE = re.compile(r"(?:true|false|null|-?\d[\d.eE+-]*)")


def parse(data: bytes) -> dict[str, Any] | None:
    """The manifest, or None when it is not a JSON object in UTF-8."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def make_private(data: bytes) -> bytes:
    """The manifest with `"private": true`, every other byte as it was.

    Raises:
        ValueError: it is not a JSON object in UTF-8.
    """
    document = parse(data)
    if document is None:
        raise ValueError("not a JSON object")
    if document.get("private") is True:
        return data
    text = data.decode("utf-8")
    keys = {
        key: (start, end, value_start, value_end)
        for key, start, end, value_start, value_end in _members(text)
    }
    if "private" in keys:
        _, _, start, end = keys["private"]
        return (text[:start] + "true" + text[end:]).encode("utf-8")
    if not keys:
        brace = text.index("{")
        return (text[: brace + 1] + ' "private": true ' + text[text.index("}", brace) :]).encode("utf-8")
    anchor = keys.get("version") or keys.get("name") or next(iter(keys.values()))
    start, _, _, value_end = anchor
    # The new member stands after its anchor, with the same line break and indentation as the anchor has before it.
    lead = re.search(r"[ \t\r\n]*\Z", text[:start])
    space = lead.group() if lead else ""
    return (text[:value_end] + f",{space}" + '"private": true' + text[value_end:]).encode("utf-8")


def _members(text: str) -> Iterator[tuple[str, int, int, int, int]]:
    """Top-level members of a JSON object: key, and the offsets of key and value."""
    position, depth = text.index("{") + 1, 1
    while position < len(text):
        character = text[position]
        if character == '"':
            key = _STRING.match(text, position)
            assert key is not None, "the text was parsed before"
            position = key.end()
            rest = re.compile(r"\s*:\s*").match(text, position)
            if depth == 1 and rest is not None:
                end = _value_end(text, rest.end())
                yield json.loads(key.group()), key.start(), key.end(), rest.end(), end
                position = end
        else:
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
            position += 1
            if depth == 0:
                return


def _value_end(text: str, start: int) -> int:
    if match := _STRING.match(text, start) or _VALUE.match(text, start):
        return match.end()
    depth, position = 0, start
    while True:
        if text[position] == '"':
            inner = _STRING.match(text, position)
            assert inner is not None
            position = inner.end()
            continue
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            return position


def entry_points(manifest: dict[str, Any] | None, host_keys: tuple[str, ...]) -> list[str]:
    """Paths below the package that its manifest names as code to load, without the leading `./`."""
    if manifest is None:
        return []
    found: list[str] = []
    for key in ("main", "module", "browser", "exports", "bin", *host_keys):
        found += [value for value in _strings(manifest.get(key)) if not value.startswith(("../", "/"))]
    paths = [re.sub(r"^\./", "", value) for value in found]
    return list(dict.fromkeys(path for path in paths if "/" in path or "." in path))


def declared_address(manifest: Mapping[str, Any] | None) -> str | None:
    """Where the manifest says that its repository is: `repository`, as a URL or a short form of a forge."""
    value = (manifest or {}).get("repository")
    if isinstance(value, dict):
        value = value.get("url")
    if not isinstance(value, str):
        return None
    if short := re.fullmatch(r"(?:(github|gitlab|bitbucket):)?([\w.-]+/[\w.-]+)", value):
        forge = {"gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}.get(short[1] or "", "github.com")
        return f"https://{forge}/{short[2]}"
    return value.removeprefix("git+") if re.match(r"^(git\+)?(https?|ssh|git)://|^git@", value) else None


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
