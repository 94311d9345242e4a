"""Requirements 19 to 43: category, prompt, fixture path and the further fields of task.json."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from harbor_author.integrity import TaskDefinitionError, load_benchmark_task, tree_hash
from harbor_author.integrity.manifest_fields import CATEGORIES, GRADERS, MAX_PROMPT_CHARS
from tests.integrity.support import manifest, write_task


def refused(root: Path, field: str | None, **changes: Any) -> TaskDefinitionError:
    write_task(root, **changes)
    with pytest.raises(TaskDefinitionError, match="任务 schema 无效") as caught:
        load_benchmark_task(root, "fix-sum")
    assert caught.value.field == field
    return caught.value


def load(root: Path, **changes: Any) -> Any:
    write_task(root, **changes)
    return load_benchmark_task(root, "fix-sum")


@pytest.mark.parametrize("category", ["bugfix", "refactor", "feature", "docs_update"])
def test_r19_r21_one_finite_enumeration(tmp_path: Path, category: str) -> None:
    assert category in CATEGORIES
    assert load(tmp_path, category=category).category == category


@pytest.mark.parametrize("category", ["other", "bug_fix", "Bugfix", "bugfix ", "misc"])
def test_r20_r33_an_unknown_category_is_refused(tmp_path: Path, category: str) -> None:
    assert category not in str(refused(tmp_path, "category", category=category)).split()


def test_r22_another_schema_version_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "schemaVersion", schemaVersion=2)
    assert load(tmp_path, schemaVersion=1)


@pytest.mark.parametrize("prompt", ["", " \n\t", "\u3000"])
def test_r23_a_prompt_is_not_empty(tmp_path: Path, prompt: str) -> None:
    refused(tmp_path, "prompt", prompt=prompt)


def test_r24_a_prompt_has_a_length_budget(tmp_path: Path) -> None:
    assert load(tmp_path, prompt="a" * MAX_PROMPT_CHARS)
    refused(tmp_path, "prompt", prompt="a" * (MAX_PROMPT_CHARS + 1))


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/x",
        "/Users/me",
        "/tmp/run-1",
        "C:\\Users\\me",
        "D:/work",
        "\\\\server\\share",
        "file:///x",
        "~/x",
    ],
)
def test_r25_no_absolute_path_of_a_machine(tmp_path: Path, path: str) -> None:
    refused(tmp_path, "prompt", prompt=f"Look at {path} and mend it.")


@pytest.mark.parametrize(
    "prompt",
    ["Mend src/tmp/x and a/home/b.", "See https://example.org/home/me", "Ratio 1/2, and/or", "either:/or"],
)
def test_r25_what_only_looks_like_a_path_may_stand(tmp_path: Path, prompt: str) -> None:
    assert load(tmp_path, prompt=prompt)


def test_r26_no_placeholder_and_no_answer(tmp_path: Path) -> None:
    for prompt in ("Write {{ answer }}.", "The run is ${RUN_ID}.", "<%= x %>"):
        refused(tmp_path, "prompt", prompt=prompt)
    grader = {"type": "structure", "answer": "return 0"}
    refused(tmp_path, "prompt", prompt="Let it return 0.", grader=grader)
    assert load(tmp_path, grader=grader)


def test_r27_r28_r29_the_fixture_is_a_relative_plain_path(tmp_path: Path) -> None:
    assert load(tmp_path).fixture == (tmp_path / "fix-sum" / "fixtures" / "sum").resolve()
    for fixture in ("/fixtures/sum", "fixtures/../fixtures/sum", ".", "fixtures/./sum", "fixtures/sum/"):
        refused(tmp_path, "fixture", fixture=fixture)


def test_r30_the_fixture_exists_and_is_a_directory(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "fixtures" / "file").write_text("")
    refused(tmp_path, "fixture", fixture="fixtures/none")
    refused(tmp_path, "fixture", fixture="fixtures/file")


def test_r31_a_fixture_behind_a_link_is_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "fixtures").rename(tmp_path / "moved")
    (task / "fixtures").symlink_to(tmp_path / "moved")
    with pytest.raises(TaskDefinitionError, match="symbolic link") as caught:
        load_benchmark_task(tmp_path, "fix-sum")
    assert caught.value.field == "fixture"


def test_r32_the_fixture_lies_in_the_fixtures_directory(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "other").mkdir()
    (task / "fixtures-more").mkdir()
    for fixture in ("other", "fixtures", "fixtures-more", "fixtures-more/x"):
        refused(tmp_path, "fixture", fixture=fixture)


@pytest.mark.parametrize("timeout", [None, 0, -1, "60", True, float("inf"), float("nan"), [60], 10**400])
def test_r34_a_time_limit_is_positive_and_finite(tmp_path: Path, timeout: object) -> None:
    write_task(tmp_path, timeout=timeout)
    with pytest.raises(TaskDefinitionError, match="任务 schema 无效"):
        load_benchmark_task(tmp_path, "fix-sum")


@pytest.mark.parametrize("value", [0, -5, "9", True, None])
def test_r35_budgets_are_positive(tmp_path: Path, value: object) -> None:
    refused(tmp_path, "budgets.tokens", budgets={"tokens": value})
    refused(tmp_path, "budgets", budgets={})
    refused(tmp_path, "budgets", budgets=None)


def test_r36_the_grader_is_of_a_known_type(tmp_path: Path) -> None:
    for type_ in GRADERS:
        assert load(tmp_path, grader={"type": type_, "command": ["true"]}).grader.type == type_
    refused(tmp_path, "grader.type", grader={"type": "vibes", "command": ["true"]})
    refused(tmp_path, "grader", grader=None)


def test_r37_r64_the_fixture_has_a_version_and_a_hash_is_one(tmp_path: Path) -> None:
    refused(tmp_path, "fixtureVersion", fixtureVersion=None)
    task = load(tmp_path)
    assert load(tmp_path, fixtureVersion=tree_hash(task.fixture)).fixture_hash == tree_hash(task.fixture)
    refused(tmp_path, "fixtureVersion", fixtureVersion="th1:" + "0" * 64)


def test_r38_there_is_no_half_initialised_task(tmp_path: Path) -> None:
    task = load(tmp_path)
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.prompt = "x"
    with pytest.raises(TypeError):
        task.budgets["tokens"] = 1


def test_r39_r40_errors_name_the_field_and_quote_nothing(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07 SECRET-" + "x" * 5000
    for field in ("category", "fixture", "network"):
        text = str(refused(tmp_path, field, **{field: hostile}))
        assert "SECRET" not in text
        assert len(text) < 300
    assert "SECRET" not in str(
        refused(tmp_path, "budgets.(a name that is not a plain word)", budgets={hostile: 0})
    )
    task = tmp_path / "fix-sum"
    for data in (
        b"{" + hostile.encode(),
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id": "fix-sum", "id": "other"}',
        b'"SECRET"',
        json.dumps(manifest() | {hostile: 1}).encode(),
        b" " * (1 << 20) + b"{}",
    ):
        (task / "task.json").write_bytes(data)
        with pytest.raises(TaskDefinitionError, match="任务 schema 无效") as caught:
            load_benchmark_task(tmp_path, "fix-sum")
        error: BaseException | None = caught.value
        while error is not None:
            assert "SECRET" not in str(error)
            error = error.__cause__


def test_r40_a_manifest_that_is_no_file_does_not_hang(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "task.json").unlink()
    os.mkfifo(task / "task.json")
    with pytest.raises(TaskDefinitionError, match="任务 schema 无效"):
        load_benchmark_task(tmp_path, "fix-sum")
    (task / "task.json").unlink()
    (tmp_path / "real.json").write_text(json.dumps(manifest()))
    (task / "task.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(TaskDefinitionError, match="任务 schema 无效"):
        load_benchmark_task(tmp_path, "fix-sum")


def test_r41_an_unknown_field_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, None, tiemout=3)


def test_r42_command_variables_and_lock_are_the_definitions(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "fixtures" / "sum" / "lock.json").write_text("{}")
    loaded = load(tmp_path, lockfile="lock.json", environment={"CASE": "1"})
    assert loaded.lockfile == "lock.json"
    assert loaded.variables == {"CASE": "1"}
    assert loaded.grader.command[1] == "-c"
    assert loaded.grader.timeout_s == 60
    refused(tmp_path, "environment", environment={"CASE": 1})
    refused(tmp_path, "grader.command", grader={"type": "command", "command": "true"})
    refused(tmp_path, "grader.command", grader={"type": "command"})


def test_r43_clock_seed_and_mock_settings_are_recorded(tmp_path: Path) -> None:
    conditions = load(
        tmp_path, metadata={"clock": 1_700_000_000, "seed": 7, "mock": {"port": "auto"}}
    ).conditions
    assert (conditions.clock_s, conditions.seed, dict(conditions.mock)) == (
        1_700_000_000,
        7,
        {"port": "auto"},
    )
    refused(tmp_path, "metadata.seed", metadata={"seed": -1})
    refused(tmp_path, "metadata.clock", metadata={"clock": "now"})
    refused(tmp_path, "metadata.mock", metadata={"mock": []})
    refused(tmp_path, "metadata", metadata=[])


def test_r74_a_fixture_with_dependencies_names_its_lockfile(tmp_path: Path) -> None:
    fixture = write_task(tmp_path) / "fixtures" / "sum"
    (fixture / "package.json").write_text('{"dependencies": {"left-pad": "1.3.0"}}')
    refused(tmp_path, "lockfile")
    refused(tmp_path, "lockfile", lockfile="package-lock.json")
    refused(tmp_path, "lockfile", lockfile="../package-lock.json")
    (fixture / "package-lock.json").write_text("{}")
    assert load(tmp_path, lockfile="package-lock.json")
    (fixture / "package.json").write_text("{ broken")
    assert load(tmp_path)
