from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor_author.scaffold import TaskRequest, new_task, templates_dir
from harbor_author.scaffold.vendor import LIBRARIES
from harbor_author.suite import find_suite
from tests.conftest import AuthorRunner


@pytest.fixture
def judge_utils(suite_root: Path) -> Path:
    return new_task(find_suite(suite_root), TaskRequest(series="H")).path / "tests" / "judge-utils.mjs"


def states(author: AuthorRunner, suite_root: Path) -> tuple[int, dict[str, str]]:
    done = author("vendor", "--suite", suite_root, "--json")
    return done.status, {Path(copy["path"]).name: copy["state"] for copy in json.loads(done.out)["copies"]}


def test_every_released_library_has_a_version() -> None:
    from harbor_author.scaffold.vendor import _version

    for place in LIBRARIES.values():
        assert _version((templates_dir() / place).read_bytes()), place


def test_a_new_task_has_the_released_library(
    author: AuthorRunner, suite_root: Path, judge_utils: Path
) -> None:
    assert states(author, suite_root) == (0, {"judge-utils.mjs": "current"})


def test_a_copy_that_lags_is_named_and_renewed(
    author: AuthorRunner, suite_root: Path, judge_utils: Path
) -> None:
    released = judge_utils.read_bytes()
    judge_utils.write_text('export const VERSION = "0.1.0";\n')
    assert states(author, suite_root) == (1, {"judge-utils.mjs": "lags"})
    done = author("vendor", "--update", "--suite", suite_root)
    assert done.status == 0, done.err
    assert judge_utils.read_bytes() == released
    assert sorted(path.name for path in judge_utils.parent.iterdir()) == [
        "judge-utils.mjs",
        "judge.mjs",
        "test.sh",
    ]


def test_an_edited_copy_is_kept_without_force(
    author: AuthorRunner, suite_root: Path, judge_utils: Path
) -> None:
    judge_utils.write_text(judge_utils.read_text(encoding="utf-8") + "// mine\n", encoding="utf-8")
    assert states(author, suite_root) == (1, {"judge-utils.mjs": "edited"})
    assert author("vendor", "--update", "--suite", suite_root).status == 1
    assert judge_utils.read_text(encoding="utf-8").endswith("// mine\n")
    assert author("vendor", "--update", "--force", "--suite", suite_root).status == 0


def test_a_copy_from_the_future_is_kept(author: AuthorRunner, suite_root: Path, judge_utils: Path) -> None:
    judge_utils.write_text('export const VERSION = "99.0.0";\n')
    assert states(author, suite_root) == (1, {"judge-utils.mjs": "ahead"})
