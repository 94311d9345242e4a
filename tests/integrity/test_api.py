"""Requirements 1 to 6: the interface and its promise."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from harbor_author.integrity import (
    Evidence,
    TaskDefinitionError,
    load_benchmark_task,
    tally,
    tree_hash,
    with_fixture_copy,
)
from tests.integrity.support import PREFIX, write_task


def test_r1_the_task_and_the_operations_value_are_returned(tmp_path: Path, temporary: Path) -> None:
    write_task(tmp_path)
    task = load_benchmark_task(tmp_path, "fix-sum")
    assert (task.id, task.category, task.title) == ("fix-sum", "bugfix", "fix-sum")
    assert with_fixture_copy(task.fixture, lambda path: path.name, prefix=PREFIX) == "workspace"
    assert list(inspect.signature(load_benchmark_task).parameters) == ["root", "id"]
    assert list(inspect.signature(with_fixture_copy).parameters)[:3] == ["source", "operation", "prefix"]
    assert inspect.signature(with_fixture_copy).parameters["prefix"].default == "coding-agent-eval-"


@pytest.mark.parametrize("field", ["id", "category", "prompt", "fixture"])
@pytest.mark.parametrize("value", [None, 7, [], "", "  "])
def test_r2_four_fields_are_texts(tmp_path: Path, field: str, value: object) -> None:
    write_task(tmp_path, **{field: value})
    with pytest.raises(TaskDefinitionError, match=f"任务 schema 无效.*: {field}$") as caught:
        load_benchmark_task(tmp_path, "fix-sum")
    assert caught.value.field == field


def test_r3_the_operation_gets_only_the_copy(source: Path, temporary: Path) -> None:
    def operation(*arguments: Path) -> tuple[Path, ...]:
        assert not arguments[0].is_relative_to(source)
        assert arguments[0].is_relative_to(temporary)
        return arguments

    assert len(with_fixture_copy(source, operation, prefix=PREFIX)) == 1


def test_r4_r127_a_second_run_reads_the_original(source: Path, temporary: Path) -> None:
    def operation(workspace: Path) -> str:
        text = (workspace / "src" / "main.py").read_text()
        (workspace / "src" / "main.py").write_text("changed")
        (workspace / "new").write_text("new")
        return text + str(sorted(path.name for path in workspace.iterdir()))

    first = with_fixture_copy(source, operation, prefix=PREFIX)
    assert "original" in first
    assert with_fixture_copy(source, operation, prefix=PREFIX) == first


def test_r5_r128_success_and_failure_leave_no_directory(source: Path, temporary: Path) -> None:
    before = tally()
    with_fixture_copy(source, lambda _: None, prefix=PREFIX)
    assert list(temporary.iterdir()) == []
    with pytest.raises(ZeroDivisionError):
        with_fixture_copy(source, lambda _: 1 / 0, prefix=PREFIX)
    assert list(temporary.iterdir()) == []
    after = tally()
    assert (after.created - before.created, after.removed - before.removed) == (2, 2)


def test_r6_r129_the_source_is_hashed_before_and_after(source: Path, temporary: Path) -> None:
    content = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    seen: list[Evidence] = []
    with_fixture_copy(source, lambda path: (path / "x").touch(), prefix=PREFIX, evidence=seen.append)
    assert seen[0].before == seen[0].after == seen[0].copied == tree_hash(source)
    assert content == {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
