"""What leaves a working copy as text."""

from __future__ import annotations

import time

import pytest

from harbor_author.integrity import redact, truncate


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-" + "a1B2" * 8, "ghp_" + "a" * 36, "github_pat_" + "a" * 30, "AKIA" + "A1" * 8, "npm_" + "x" * 36,
        "eyJhbGciOiJI.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\ncut off",
    ],
)  # fmt: skip
def test_secrets_are_replaced(secret: str) -> None:
    assert redact(f"before {secret}") == "before [redacted]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MY_API_KEY=abcdefgh rest", "MY_API_KEY=[redacted] rest"),
        ('{"password": "hunter22"}', '{"password": "[redacted]"}'),
        ("Authorization: Bearer abcdefghij", "Authorization: Bearer [redacted]"),
        ("https://me:geheim12@host/x", "https://[redacted]@host/x"),
        ("tokens: 12, the secret is out", "tokens: 12, the secret is out"),
        ("a\x1b[31mb\x1b]0;t\x07c\x00d\r\n\te\u202ef", "abcd\n\tef"),
    ],
)
def test_named_secrets_and_control_sequences(text: str, expected: str) -> None:
    assert redact(text) == expected


def test_paths_get_names_the_longest_first() -> None:
    assert redact("/a/b/c /a/x", paths={"/a": "<A>", "/a/b": "<B>"}) == "<B>/c <A>/x"


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a_",
        "token ",
        "token=",
        "eyJ-",
        "-----BEGIN ",
        "://a:",
        "\x1b]",
        "sk-",
        "secret: \t",
        "A",
        "_token-",
    ],
)
def test_hostile_output_costs_time_in_proportion(unit: str) -> None:
    started = time.process_time()
    redact(unit * (400_000 // len(unit)))
    assert time.process_time() - started < 2


def test_truncate_keeps_both_ends() -> None:
    assert truncate("abc", 3) == "abc"
    assert truncate("a" * 50 + "b" * 50, 10) == "aaaaa\n[... 90 characters left out ...]\nbbbbb"
