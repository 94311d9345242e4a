"""The JSON Schemas for editors agree with the rules and with the settings' own reader."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harbor_author.checks import validate
from harbor_author.checks.json_schema import suite_schema, task_schema
from harbor_author.suite import SuiteError
from harbor_author.suite.settings import load_settings
from tests.checks.support import AUTHOR_TOML, SUITE_TOML, TOML, sound_task, task_at
from tests.conftest import REPOSITORY, AuthorRunner

TASKS = [
    (TOML, True),
    (SUITE_TOML, True),
    (
        TOML + 'allowed_hosts = ["a.b"]\nenv = { A = "b" }\n[environment.healthcheck]\ncommand = "true"\n',
        True,
    ),
    (TOML.replace("cpus = 1", 'cpus = "1"'), False),
    (TOML.replace("cpus = 1", "cpus = 0"), False),
    (TOML.replace("cpus = 1", "cpu = 1"), False),
    (TOML.replace("demo/word-count", "word-count"), False),
    (TOML + "env = { A = 1 }\n", False),
    (TOML + "[[steps]]\nmin_reward = 0.5\n", False),
]


@pytest.mark.parametrize(("text", "valid"), TASKS)
def test_task_schema_agrees_with_the_rules(text: str, valid: bool, tmp_path: Path) -> None:
    schema = task_schema()
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(tomllib.loads(text)) is valid
    draft = sound_task(tmp_path / "words")
    draft.write("task.toml", text)
    report = validate([task_at(draft.root)], select=["invalid-task-config", "unknown-config-field"])
    assert report.ok is valid


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (AUTHOR_TOML, True),
        (AUTHOR_TOML + '[validate]\nsuppress = [{ rule = "x", reason = "y" }]\n', True),
        (AUTHOR_TOML + '[judge]\non_error = "one"\n', False),
        (AUTHOR_TOML + "[nonsense]\nx = 1\n", False),
        (AUTHOR_TOML.replace("pnpm =", "npm ="), False),
    ],
)
def test_suite_schema_agrees_with_the_reader(text: str, valid: bool, tmp_path: Path) -> None:
    schema = suite_schema()
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(tomllib.loads(text)) is valid
    path = tmp_path / "author.toml"
    path.write_text(text)
    try:
        load_settings(path)
        read = True
    except SuiteError:
        read = False
    assert read is valid


def test_our_own_files_fit() -> None:
    own = tomllib.loads((REPOSITORY / "author.toml").read_text())
    assert list(Draft202012Validator(suite_schema()).iter_errors(own)) == []
    for path in (REPOSITORY / "tasks").glob("*/task.toml"):
        assert list(Draft202012Validator(task_schema()).iter_errors(tomllib.loads(path.read_text()))) == [], (
            path
        )


def test_the_command_prints_them(author: AuthorRunner) -> None:
    assert json.loads(author("schema", "task").out) == task_schema()
    assert json.loads(author("schema", "suite").out) == suite_schema()
    assert author("schema", "other").status == 2
