from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner


def complete(author: AuthorRunner, suite_root: Path, words: str) -> list[str]:
    """What bash would be offered for the last word of a command line."""
    env = {
        "_AUTHOR_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = author(cwd=suite_root, env=env)
    return [line.partition(",")[2] for line in done.out.splitlines() if line]


@pytest.fixture
def filled(suite_root: Path) -> Path:
    for name in ("H23-left-behind", "H24-renamed", "M15-jobs", "stray"):
        (suite_root / "tasks" / name).mkdir()
    (suite_root / "references" / "v0.1.2-alpha.2.md").write_text(
        "### DSH-0.1.2-A2-01 · One\n### DSH-0.1.2-A2-02 · Two\n", encoding="utf-8"
    )
    return suite_root


@pytest.mark.slow
def test_commands_ids_and_cards(author: AuthorRunner, filled: Path) -> None:
    assert "oracle-check" in complete(author, filled, "author or")
    assert complete(author, filled, "author rename H2") == ["H23", "H24"]
    assert complete(author, filled, "author rename H23-") == ["H23-left-behind"]
    assert complete(author, filled, "author cards show DSH") == ["DSH-0.1.2-A2-01", "DSH-0.1.2-A2-02"]
    assert complete(author, filled, "author new --cards DSH-0.1.2-A2-01,DSH-0.1.2-A2-02") == [
        "DSH-0.1.2-A2-01,DSH-0.1.2-A2-02"
    ]


def test_outside_a_suite_nothing_is_offered(author: AuthorRunner, tmp_path: Path) -> None:
    assert complete(author, tmp_path, "author rename H") == []


def test_the_bash_script_is_sound(author: AuthorRunner) -> None:
    script = author("completion", "bash").out
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    assert "_AUTHOR_COMPLETE" in script
