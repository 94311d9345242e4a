"""A series about no host works end to end: declared, scaffolded, validated, proved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner


@pytest.fixture
def hostless(suite_root: Path) -> Path:
    """A suite with a series E about no host."""
    settings = suite_root / "author.toml"
    declared = '\n[series.E]\ntitle = "executor"\nmode = "mutable"\nhost = "none"\n'
    settings.write_text(settings.read_text(encoding="utf-8") + declared, encoding="utf-8")
    return suite_root


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_new_task_names_no_host_and_is_valid(hostless: Path, author: AuthorRunner, language: str) -> None:
    ran = author("new", "--series", "E", "--slug", "first", "--language", language, "--json", cwd=hostless)
    assert ran.status == 0, ran.err
    made = json.loads(ran.out)
    assert made["id"] == "E1"
    files = [path for path in Path(made["path"]).rglob("*") if path.is_file()]
    assert Path(made["path"], "tests", "service.mjs") in files
    for path in files:
        # The shared library can drive a host; nothing else of a hostless task knows of one.
        if path.name != "judge-utils.mjs":
            assert "dsh" not in path.read_text(encoding="utf-8").lower(), path
    checked = author("validate", "E1", "--json", cwd=hostless)
    assert json.loads(checked.out)["summary"]["errors"] == 0, checked.out
    assert checked.status == 0


def test_a_readonly_task_of_the_series_takes_the_templates_for_reports(
    hostless: Path, author: AuthorRunner
) -> None:
    ran = author("new", "--series", "E", "--mode", "readonly", "--slug", "report", "--json", cwd=hostless)
    assert ran.status == 0, ran.err
    assert Path(json.loads(ran.out)["path"], "tests", "ground-truth.json").is_file()


def test_a_series_about_another_host_is_an_error_with_its_line(hostless: Path, author: AuthorRunner) -> None:
    settings = hostless / "author.toml"
    text = settings.read_text(encoding="utf-8").replace('host = "none"', 'host = "nome"')
    settings.write_text(text, encoding="utf-8")
    ran = author("list", cwd=hostless)
    assert ran.status == 2
    line = text.splitlines().index('host = "nome"') + 1
    assert f"author.toml:{line}" in ran.err
    assert "none" in ran.err


@pytest.mark.engine
def test_a_new_task_is_proved_at_once(hostless: Path, author: AuthorRunner) -> None:
    author("new", "--series", "E", "--slug", "first", cwd=hostless)
    ran = author("oracle-check", "E1", "--json", cwd=hostless)
    assert ran.status == 0, ran.err
    trials = {trial["name"]: trial for trial in json.loads(ran.out)["results"][0]["trials"]}
    assert trials["untouched"]["reward"] == 0
    assert trials["oracle"]["score"] == 100
    assert not any(trial["leftovers"] for trial in trials.values())
