"""Edits of a package.json, and what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_author.mining.manifest import declared_address, entry_points, make_private

TEXT = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(TEXT | st.sampled_from(["name", "version", "private"]), VALUES, max_size=5),
    st.sampled_from([None, 2, "\t"]),
)
def test_only_private_changes(manifest: dict[str, Any], indent: int | str | None) -> None:
    made = json.loads(
        make_private(json.dumps(manifest, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    )
    assert made == manifest | {"private": True}
    assert list(made) == [*manifest] or [key for key in made if key != "private"] == list(manifest)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n  "name": "a",\n  "version": "1"\n}\n',
            '{\n  "name": "a",\n  "version": "1",\n  "private": true\n}\n',
        ),
        ('{"name":"a"}', '{"name":"a","private": true}'),
        ('{\r\n\t"x" : 1\r\n}', '{\r\n\t"x" : 1,\r\n\t"private": true\r\n}'),
        ('{ "private" : false , "name": "a" }', '{ "private" : true , "name": "a" }'),
        ('{"private":"no"}', '{"private":true}'),
        (
            '{"a": {"private": false}, "private": {"b": [1, "}"]}}',
            '{"a": {"private": false}, "private": true}',
        ),
        ("{}", '{ "private": true }'),
        ('{"name": "a", "private": true}', '{"name": "a", "private": true}'),
    ],
)
def test_formatting_stays(before: str, after: str) -> None:
    assert make_private(before.encode()) == after.encode()


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'"x"'])
def test_what_is_no_manifest(text: bytes) -> None:
    with pytest.raises(ValueError, match="JSON object"):
        make_private(text)


def test_entry_points() -> None:
    manifest = {
        "name": "a",
        "main": "./lib/index.js",
        "exports": {".": {"import": "./lib/index.mjs", "types": "./t.d.ts"}, "./x": ["./x.js", None]},
        "bin": {"a": "bin/a.js"},
        "dsh": {"entry": ".dsh-plugin/index.js", "client": {"platform": "web"}},
        "browser": "../outside.js",
    }
    assert entry_points(manifest, ("dsh", "main")) == [
        "lib/index.js",
        "lib/index.mjs",
        "t.d.ts",
        "x.js",
        "bin/a.js",
        ".dsh-plugin/index.js",
    ]


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("a/b", "https://github.com/a/b"),
        ("gitlab:a/b", "https://gitlab.com/a/b"),
        ({"type": "git", "url": "git+https://forge.test/a.git"}, "https://forge.test/a.git"),
        ("git@forge.test:a/b.git", "git@forge.test:a/b.git"),
        ("somewhere", None),
        (7, None),
        (None, None),
    ],
)
def test_address(repository: object, address: str | None) -> None:
    assert declared_address({"repository": repository}) == address
