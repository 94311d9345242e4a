"""Decoys and variants as they are declared and scaffolded."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_author.proof.decoys import new_decoy, read_declared
from harbor_author.proof.errors import ProofError, TaskRefusedError
from tests.conftest import AuthorRunner
from tests.proof.tasks import make_task


def declare(task: Path, toml: str, kind: str = "decoys", name: str = "half") -> None:
    folder = task / "solution" / kind / name
    folder.mkdir(parents=True)
    (folder / "solve.sh").write_text("#!/bin/bash\n")
    (folder / f"{kind[:-1]}.toml").write_text(toml)


def test_a_decoy_says_the_most_or_exactly_what_it_scores(tmp_path: Path) -> None:
    task = make_task(tmp_path).path
    declare(task, 'max_score = 40\nwhy = "tempting"\n')
    declare(task, 'score = 20\nwhy = "exact"\n', name="exact")
    declare(task, 'why = "another way"\n', kind="variants", name="other")
    exact, half, other = read_declared(task)
    assert (half.planned.expectation.high, str(half.planned.expectation)) == (0.4, "at most 0.4")
    assert (exact.planned.expectation.low, exact.planned.expectation.high) == (0.2, 0.2)
    assert other.planned.expectation.full
    assert half.planned.submission.script == "decoys/half/solve.sh"
    assert other.planned.name == "variant:other"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("max_score = 40\n", "why"),
        ('why = "x"\n', "either 'max_score' or 'score'"),
        ('why = "x"\nscore = 1\nmax_score = 2\n', "either 'max_score' or 'score'"),
        ('why = "x"\nmax_score = 100\n', "less than 100"),
        ('why = "x"\nmax_score = true\n', "less than 100"),
        ('why = "x"\nmax_scores = 4\n', "no key 'max_scores'"),
        ("why = \n", "not valid TOML"),
    ],
)
def test_a_decoy_that_says_too_little_is_refused(tmp_path: Path, toml: str, message: str) -> None:
    task = make_task(tmp_path).path
    declare(task, toml)
    with pytest.raises(TaskRefusedError, match=message):
        read_declared(task)


def test_a_scaffolded_decoy_is_read_back(tmp_path: Path) -> None:
    task = make_task(tmp_path).path
    toml, solve = new_decoy(task, "keeps-manifest", max_score=25)
    assert solve.stat().st_mode & 0o111
    (declared,) = read_declared(task)
    assert (declared.name, declared.high) == ("keeps-manifest", 25)
    with pytest.raises(ProofError, match="exists already"):
        new_decoy(task, "keeps-manifest")
    assert toml.read_text()


@pytest.mark.parametrize("name", ["", "../x", "a/b", "-a", "a b", "a\n"])
def test_a_decoys_name_is_a_plain_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(ProofError, match="cannot be a name"):
        new_decoy(make_task(tmp_path).path, name)


@pytest.mark.slow
def test_the_command_says_what_it_made(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(tmp_path)
    ran = author("new-decoy", task.path, "half", "--max-score", "30")
    assert ran.status == 0
    assert "decoys/half/solve.sh" in ran.out
    assert author("new-decoy", task.path, "half").status == 2
