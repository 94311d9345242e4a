"""The commands about a suite as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, AuthorRunner


@pytest.mark.slow
def test_init_makes_a_suite_that_the_other_commands_find(author: AuthorRunner, tmp_path: Path) -> None:
    made = author(
        "init", "my-suite", "--reserved", "H1-H22,S1", "--host", "0.1.2-alpha.3", "--source", "pypi"
    )
    assert made.status == 0, made.err
    assert "author new --series H" in made.out
    assert "Where npm" not in made.out
    folder = tmp_path / "my-suite"
    assert sorted(path.name for path in folder.iterdir()) == ["author.toml", "references", "tasks"]
    assert author("next-id", "--series", "H", cwd=folder / "tasks").out == "H23\n"
    assert author("next-id", "H", cwd=folder).out == "H23\n"
    assert author("list", cwd=folder).out.startswith("No tasks")
    again = author("init", "my-suite")
    assert again.status == 2
    assert "exists already" in again.err


def test_the_next_command_can_be_pasted(author: AuthorRunner, tmp_path: Path) -> None:
    made = author("init", "my suite", "--name", "mine")
    assert made.out.endswith("author new --series H --suite 'my suite'\n")


def test_a_host_that_was_not_chosen_is_named_with_another(author: AuthorRunner, tmp_path: Path) -> None:
    made = author("init", "suite")
    assert "dsh 0.1.2-alpha.2 from npm" in made.out
    assert '  [host]\n  source = "pypi"\n  dsh = "0.1.2-alpha.3"\n' in made.out


def test_init_refuses_what_author_toml_cannot_hold_and_leaves_nothing(
    author: AuthorRunner, tmp_path: Path
) -> None:
    refused = author("init", "x", "--reserved", "H9-H1")
    assert refused.status == 2
    assert "H9-H1" in refused.err
    assert list((tmp_path / "x").iterdir()) == []


@pytest.mark.slow
def test_a_gate_in_a_suite_without_tasks_is_not_green(author: AuthorRunner, suite_root: Path) -> None:
    for command in (["validate"], ["oracle-check", "--all"], ["proof", "check", "--all"]):
        done = author(*command, "--suite", suite_root)
        assert done.status == 2, command
        assert "task" in done.err


def test_init_inside_a_task_of_another_suite_is_refused(author: AuthorRunner, suite_root: Path) -> None:
    fixture = suite_root / "tasks" / "H23-x" / "environment" / "fixture"
    fixture.mkdir(parents=True)
    done = author("init", cwd=fixture)
    assert done.status == 2
    assert str(suite_root) in done.err
    assert list(fixture.iterdir()) == []
    assert author("report", cwd=fixture).status == 2
    assert author("init", suite_root / "sibling").status == 0


def test_init_in_a_folder_that_has_tasks_keeps_them(author: AuthorRunner, tmp_path: Path) -> None:
    (tmp_path / "tasks" / "H7-a").mkdir(parents=True)
    assert author("init").status == 0
    assert author("next-id", "--series", "H").out == "H8\n"


def test_next_id_of_every_series_with_gaps(author: AuthorRunner, suite_root: Path) -> None:
    (suite_root / "tasks" / "H25-x").mkdir()
    document = json.loads(author("next-id", "--json", "--suite", suite_root).out)
    assert document == {
        "schema": "author/next-id/1",
        "next": {"H": "H26", "M": "M15", "S": "S17"},
        "gaps": {"H": ["H23", "H24"], "M": [], "S": []},
    }


def test_list_names_what_cannot_be_read_and_exits_1(author: AuthorRunner, suite_root: Path) -> None:
    good = suite_root / "tasks" / "H23-good"
    good.mkdir()
    (good / "task.toml").write_text(
        '[task]\ndescription = "升级 plugin"\n[metadata]\ncards = ["A"]\n', encoding="utf-8"
    )
    bad = suite_root / "tasks" / "M15-bad"
    bad.mkdir()
    (bad / "task.toml").write_text('x = "\\s"\n', encoding="utf-8")
    (suite_root / "tasks" / "stray").mkdir()
    listed = author("list", "--suite", suite_root)
    assert listed.status == 1
    rows = listed.out.splitlines()
    assert rows[0].split() == ["H23", "H23-good", "mutable", "升级", "plugin"]
    assert "task.toml:1:" in rows[1]
    assert len(rows) == 3
    document = json.loads(author("list", "--suite", suite_root, "--json").out)
    assert [task["id"] for task in document["tasks"]] == ["H23", "M15", None]
    assert document["tasks"][0]["cards"] == ["A"]


def test_names_on_disk_cannot_write_escape_sequences(author: AuthorRunner, suite_root: Path) -> None:
    (suite_root / "tasks" / "x\x1b[31mred").mkdir()
    listed = author("list", "--suite", suite_root)
    assert "\x1b" not in listed.out
    assert "\\x1b[31mred" in listed.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list"], ["author init"]),
        (["list", "--suite", "absent"], ["absent", "author init"]),
        (["nwe"], ["author new"]),
        (["next-id", "--series", "h", "--suite", "suite"], ["'H'", "S (static)"]),
        (["next-id", "--seires", "H"], ["--series"]),
        (["cards", "show", "DSH-0.1.2-A1-01", "--suite", "suite"], ["author cards list"]),
        (["rename", "H99", "x", "--suite", "suite"], ["H99"]),
    ],
)
def test_a_mistake_is_a_sentence_and_status_2(
    author: AuthorRunner, suite_root: Path, arguments: list[str], words: list[str]
) -> None:
    done = author(*arguments)
    assert done.status == 2
    assert done.out == ""
    for word in words:
        assert word in done.err


def test_a_suite_that_cannot_be_written(author: AuthorRunner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = author("init", tmp_path / "file" / "below")
    assert done.status == 2
    assert "fix:" in done.err


def test_every_command_has_help_with_examples() -> None:
    import click

    from harbor_author.cli.main import COMMANDS, cli

    with click.Context(cli, info_name="author") as context:
        for name in COMMANDS:
            command = cli.get_command(context, name)
            assert command is not None
            shown = command.get_help(click.Context(command, parent=context, info_name=name))
            assert "Examples:" in shown, name
            assert f"author {name}" in shown.partition("Examples:")[2], name


def test_the_first_word_costs_little(author: AuthorRunner) -> None:
    """Importing the command line loads neither docker, git nor jinja2."""
    code = "import sys, harbor_author.cli.main; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & {"docker", "git", "jinja2", "tomlkit", "yaml", "rich", "requests"}


def test_author_alone_shows_the_life_of_a_task(author: AuthorRunner) -> None:
    done = author()
    assert done.status == 0
    steps = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ") and "author" in line]
    assert [step for step in ("scaffold", "validate", "prove", "re-prove") if step in steps] == [
        "scaffold",
        "validate",
        "prove",
        "re-prove",
    ]


def test_a_stream_that_cannot_show_chinese_gets_escapes(author: AuthorRunner, suite_root: Path) -> None:
    task = suite_root / "tasks" / "H23-x"
    task.mkdir()
    (task / "task.toml").write_text('[task]\ndescription = "升级"\n', encoding="utf-8")
    done = author("list", "--suite", suite_root, env={"PYTHONIOENCODING": "latin-1"})
    assert done.status == 0, done.err
    assert "\\u5347\\u7ea7" in done.out


def test_a_folder_that_is_gone_is_said(suite_root: Path) -> None:
    gone = suite_root / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m harbor_author list"
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the current folder no longer exists" in done.stderr


def test_a_reader_that_stops_early_is_no_failure(suite_root: Path) -> None:
    script = f"set -o pipefail; {sys.executable} -m harbor_author list --suite {suite_root} | head -0"
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_output_is_no_fault(suite_root: Path) -> None:
    script = f"exec {sys.executable} -m harbor_author list --suite {suite_root} >&-"
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["retire", "H23-left-behnd", "--reason", "x"], "H23"),
        (["retire", "H32", "--reason", "x"], "H23"),
        (["validate", "left-behnd"], "H23-left-behind"),
        (["cards", "show", "A2-01"], "DSH-0.1.2-A2-01"),
        (["cards", "show", "dsh-0.1.2-a2-1"], "DSH-0.1.2-A2-01"),
        (["explain", "fixed-prot"], "fixed-port"),
        (["fix", "--rule", "crlf-line-end"], "crlf-line-ends"),
        (["validate", "--ignore", "lekas"], "leaks"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_name_that_is_almost_one_gets_it(
    suite_root: Path,
    arguments: list[str],
    meant: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from harbor_author.cli.main import cli
    from harbor_author.errors import AuthorError

    (suite_root / "tasks" / "H23-left-behind").mkdir()
    (suite_root / "references" / "v0.1.2-alpha.2.md").write_text(
        "### DSH-0.1.2-A2-01 · One\n", encoding="utf-8"
    )
    monkeypatch.chdir(suite_root)
    with pytest.raises(AuthorError) as caught:
        cli.main(arguments, prog_name="author", standalone_mode=False)
    assert f"did you mean {meant}?" in str(caught.value).replace("'", "")


def test_retire_takes_a_directory_name(author: AuthorRunner, suite_root: Path) -> None:
    assert author("new", "--series", "H", "--slug", "left-behind", "--suite", suite_root).status == 0
    done = author("retire", "H23-left-behind", "--reason", "it leaked", "--suite", suite_root)
    assert (done.status, done.out.split()[0]) == (0, "H23"), done.err
