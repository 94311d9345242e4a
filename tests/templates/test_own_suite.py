"""Our own tasks: what a proof in containers does not look at."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from harbor_author.suite import find_citations, find_suite
from tests.conftest import REPOSITORY

TASKS = REPOSITORY / "tasks"
OWN = ("S17-audit-trail", "M15-host-pulse", "H23-review-notes")


@pytest.mark.parametrize("name", OWN)
def test_each_task_declares_what_tempts_and_what_is_as_right(name: str) -> None:
    decoys = sorted((TASKS / name / "solution/decoys").glob("*/decoy.toml"))
    variants = sorted((TASKS / name / "solution/variants").glob("*/variant.toml"))
    assert len(decoys) >= 3
    assert variants
    for path in (*decoys, *variants):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        assert len(document["why"]) > 40, path
        solve = path.with_name("solve.sh")
        assert solve.stat().st_mode & 0o111, solve
    for path in decoys:
        assert 0 <= tomllib.loads(path.read_text(encoding="utf-8"))["max_score"] <= 80


@pytest.mark.node
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not on PATH")
@pytest.mark.parametrize("name", OWN)
def test_exactly_one_unit_test_of_the_fixture_fails_already(name: str, tmp_path: Path) -> None:
    fixture = tmp_path / "fixture"
    shutil.copytree(TASKS / name / "environment/fixture", fixture)
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap"],
        cwd=fixture,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert re.search(r"^# fail 1$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("name", OWN)
def test_no_card_is_named_where_the_agent_looks(name: str) -> None:
    seen = [TASKS / name / "instruction.md", *(TASKS / name / "environment").rglob("*")]
    for path in seen:
        if path.is_file():
            assert find_citations(path.read_text(encoding="utf-8")) == [], path


def test_every_card_has_a_fixed_https_source_and_a_verification() -> None:
    cards = find_suite(REPOSITORY).cards()
    assert len(cards.cards) >= 8
    assert cards.problems == ()
    for card in cards.cards.values():
        assert card.fields["source"].startswith("https://"), card.id
        assert not re.search(r"/(?:main|master|HEAD|latest)(?:/|$)", card.fields["source"]), card.id
        assert "0.1." in card.fields["verification"], card.id
