"""What a `.gitignore` leaves out, beside what git says."""

from __future__ import annotations

import re
import subprocess
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor_author.checks.ignore import dockerignore, gitignore

PATHS = (
    "a",
    "b",
    "-",
    "[",
    "]",
    "&",
    "^",
    "!",
    "a/b",
    "a/-",
    "b/a",
    "b/a/b",
    "ab",
    "a]",
    "[a",
    "a-b",
    "b/[a]",
)
#: Brackets that hold a slash are left out: git takes the slash for a character, and no real pattern has one.
PATTERN = st.text(st.sampled_from("ab-[]&^!*?/|~"), min_size=1, max_size=9).filter(
    lambda pattern: not re.search(r"\[[^/]?[^]]*/", pattern)
) | st.sampled_from(
    [
        "[[a]",
        "[]a]",
        "[--a]",
        "[+--]",
        "[a&&b]",
        "[a-]",
        "[!]a]",
        "[b-a]",
        "a/**",
        "**/b",
        "a/**/b",
        "!a",
        "[^-a]",
    ]
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ignored")
    subprocess.run(["git", "init", "-q", folder], check=True)
    for path in PATHS:
        place = folder / path
        if any(other.startswith(f"{path}/") for other in PATHS):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    return folder


def by_git(checkout: Path, lines: str) -> set[str]:
    (checkout / ".gitignore").write_text(lines)
    asked = ["git", "-C", str(checkout), "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(asked, input="\0".join(PATHS).encode(), capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.decode().split("\0")) - {""}


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lines=st.lists(PATTERN, min_size=1, max_size=3))
def test_it_is_what_git_leaves_out(checkout: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    folders = {path for path in PATHS if any(other.startswith(f"{path}/") for other in PATHS)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ignored = gitignore(text)
    ours = {path for path in PATHS if ignored.match(path, is_dir=path in folders) is not None}
    assert ours == by_git(checkout, text)


@pytest.mark.parametrize("pattern", ["[[a]", "[a&&b]", "[+--a]", "[a||b]", "[a~~b]"])
def test_no_brackets_are_more_than_a_set_of_characters(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dockerignore(pattern).match("a") is not None
