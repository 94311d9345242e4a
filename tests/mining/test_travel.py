"""Licences, secrets, dependencies: what decides whether and how files travel."""

from __future__ import annotations

import time

import pytest

from harbor_author.mining.dependencies import imports, package_name
from harbor_author.mining.facts import facts_of
from harbor_author.mining.hostdata import load_host
from harbor_author.mining.licence import Licence, identify
from harbor_author.mining.private import Redactor
from harbor_author.mining.states import Tree, TreeFile
from tests.mining.replay import LICENSE


@pytest.mark.parametrize(
    ("declared", "permissive"),
    [
        ("MIT", True),
        ("(MIT OR GPL-3.0-only)", True),
        ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("UNLICENSED", False),
        ("SEE LICENSE IN LICENSE", False),
        ("", False),
    ],
)
def test_declared_terms(declared: str, permissive: bool) -> None:
    assert Licence(declared=declared, path=None, text_is=None, text=None).permissive is permissive


def test_text_and_declaration_must_both_allow_it() -> None:
    for declared, text_is, permissive in [
        ("MIT", "MIT", True),
        ("MIT", "GPL", False),
        ("GPL-3.0-only", "MIT", False),
        ("MIT", None, False),
        (None, "ISC", True),
    ]:
        found = Licence(declared=declared, path="LICENSE", text_is=text_is, text=b"")
        assert found.permissive is permissive


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (LICENSE, "MIT"),
        ("Apache License\n   Version 2.0, January 2004", "Apache-2.0"),
        ("GNU LESSER GENERAL PUBLIC LICENSE", "LGPL"),
        ("\n GNU AFFERO GENERAL PUBLIC\nLICENSE", "AGPL-3.0"),
        ("Apache License Version 2.0 with Commons Clause", "Commons-Clause"),
        ("木兰宽松许可证, 第2版", "MulanPSL-2.0"),
        ("do as you like", None),
    ],
)
def test_texts(text: str, name: str | None) -> None:
    assert identify(text.encode()) == name


def redacted(text: str, path: str = "a.js") -> tuple[str, list[str]]:
    tree: Tree = {path: TreeFile(text.encode())}
    clean, finds = Redactor().redact(tree)
    return clean[path].data.decode(), [find.kind for find in finds]


@pytest.mark.parametrize(
    "text",
    [
        "import { a } from '@scope/pkg'",
        "npm:@scope/pkg@1.2.3",
        "git@github.com:a/b.git",
        "me@example.com or you@localhost.test",
        "class A { @Inject('x') x }",
        "https://host.test/path:80@x",
        "const url = `https://${user}:${password}@host`",
        "sha512-AC9b8a7f6e5d4c3b2a1f0e9d8c7b6a5f4e3d2c==",
        "logo@2x.png",
        "a@b",
        "sk-learn and ghp_short",
    ],
)
def test_what_is_nothing_private(text: str) -> None:
    assert redacted(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("mail joe.doe@corp.co.uk now", "mail redacted@example.invalid now"),
        ("<a@b.io>,<c@d.io>", "<redacted@example.invalid>,<redacted@example.invalid>"),
        ("key = AKIA" + "ABCDEFGH12345678", "key = REDACTED"),
        ("https://joe:hunter2@host.com", "https://joe:REDACTED@host.com"),
        ("t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmN t", "t REDACTED t"),
        ("x = 'xoxb-1234567890-abcdefghij'", "x = 'REDACTED'"),
    ],
)
def test_what_is_private(text: str, clean: str) -> None:
    assert redacted(text)[0] == clean


def test_lock_files_keep_their_maintainers_and_binaries_their_bytes() -> None:
    assert redacted("joe@corp.com", "package-lock.json")[1] == []
    assert redacted("\0joe@corp.com", "a.bin")[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "a://b:",
        "a@",
        "a.b@c.",
        "sk-T3BlbkFJ",
        "eyJ",
        "//_authToken",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "gl",
    ],
)
def test_a_hostile_line_is_quick(text: str) -> None:
    began = time.process_time()
    redacted(text * (100_000 // len(text)))
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "text",
    [
        "inject:{",
        "inject=[",
        "{" * 50 + "inject:",
        "'",
        "`${",
        "/*",
        "(/[",
        "ctx.",
        "} = ctx",
        "import ",
        "export ",
        "import type ",
    ],
)
def test_hostile_code_is_quick(text: str) -> None:
    host = load_host("dsh")
    began = time.process_time()
    facts_of("a.js", (text * (60_000 // len(text))).encode(), host, strict=True)
    imports(text * (60_000 // len(text)))
    assert time.process_time() - began < 3


def test_imports_that_run() -> None:
    text = """
    import a from 'a'; import 'b'; import * as c from "c"; import { d,
      e } from 'd'
    import type { T } from 'types'
    export { f } from 'f'; export * from 'g'; export type { U } from 'types2'
    const h = require('h'), i = await import("i")
    // import 'no'
    const s = "import x from 'inside'"
    """
    assert imports(text)[:10] == ["a", "b", "c", "d", "f", "g", "h", "i", "inside"][:10]


@pytest.mark.parametrize(
    ("specifier", "name"),
    [
        ("a", "a"),
        ("a/b/c.js", "a"),
        ("@s/a/b", "@s/a"),
        ("./a", None),
        ("/a", None),
        ("#internal", None),
        ("node:fs", None),
        ("fs/promises", None),
        ("https://x.test/a.js", None),
        ("virtual:thing", None),
        ("Not A Name", None),
    ],
)
def test_package_names(specifier: str, name: str | None) -> None:
    assert package_name(specifier) == name
