"""The manual page is in step with the commands, and roff has nothing to say against it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from harbor_author.cli.main import COMMANDS
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "author.1"


def test_the_page_is_in_step_with_help() -> None:
    done = subprocess.run([sys.executable, REPOSITORY / "scripts" / "make-man", "--check"], check=False)
    assert done.returncode == 0, "docs/author.1 is behind: run scripts/make-man"


def test_every_command_has_its_section_with_an_example() -> None:
    sections = re.split(r"^\.SS ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    by_name = {section.partition("\n")[0].replace("\\-", "-"): section for section in sections}
    for name in COMMANDS:
        assert "Examples:" in by_name[f"author {name}"], name


@pytest.mark.parametrize(
    "linter", [["mandoc", "-Tlint", "-Wwarning"], ["man", "--warnings", "-l"]], ids=["mandoc", "man"]
)
def test_roff_has_nothing_against_it(linter: list[str]) -> None:
    if shutil.which(linter[0]) is None:
        pytest.skip(f"there is no {linter[0]}")
    done = subprocess.run([*linter, str(PAGE)], capture_output=True, text=True, check=False)
    said = done.stdout if linter[0] == "mandoc" else ""
    assert (done.returncode, said, done.stderr) == (0, "", "")
