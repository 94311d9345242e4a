"""Hostile task directories, few; scripts/bench-faults validates ten thousand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harbor_author.checks.ignore import dockerignore, gitignore
from harbor_author.checks.parsing import parse_bounded
from harbor_author.checks.script import Script
from tests.faults.canary import watched
from tests.faults.hostile import make_canary
from tests.faults.hostile_drill import is_well, validate_hostile


@pytest.mark.slow
def test_hostile_directories_get_a_verdict_and_touch_nothing(tmp_path: Path) -> None:
    found = validate_hostile(tmp_path, 24)
    assert is_well(found), found
    assert found.with_findings == found.directories


def test_the_canary_tells(tmp_path: Path) -> None:
    canary = make_canary(tmp_path)
    with watched(canary) as seen:
        assert seen == []
        (canary / "file").read_text()
    assert any(event.startswith("file: ") for event in seen)
    with watched(canary) as seen:
        (canary / "file").stat()
    assert seen == []


@pytest.mark.parametrize("read", [gitignore, dockerignore])
def test_hostile_ignore_patterns_cost_little(read: object) -> None:
    assert callable(read)
    started = time.process_time()
    name = "a" * 250
    for pattern in (
        "*a" * 200,
        "**/" * 200 + "x",
        "[" * 3000,
        "?" * 3000,
        "\\" * 999,
        "a" * 1_000_000,
        "*" * 4000,
    ):
        read(pattern).match(f"{name}/{name}/{name}b")
    assert time.process_time() - started < 2


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a=(", "\0"])
def test_hostile_scripts_are_parsed_in_bounded_time(unit: str) -> None:
    started = time.process_time()
    assert Script(unit * (200_000 // len(unit))).root is not None
    assert time.process_time() - started < 8


def test_parsing_keeps_places_and_blanks_what_is_too_long() -> None:
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    parser = Parser(Language(language()))
    data = b"echo " + b"x" * 9000 + b"\necho \0later\n"
    words = [node.start_point.row for node in parse_bounded(parser, data).root_node.children]
    assert words == [0, 1]
