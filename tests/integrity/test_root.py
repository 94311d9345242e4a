"""Requirements 13 to 18: where a task's directory may lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_author.integrity import TaskDefinitionError, load_benchmark_task
from harbor_author.integrity.benchmark_task import is_outside
from tests.integrity.support import write_task


def test_r13_the_roots_real_path_counts(tmp_path: Path) -> None:
    real = tmp_path / "real"
    write_task(real)
    (tmp_path / "link").symlink_to(real)
    task = load_benchmark_task(tmp_path / "link", "fix-sum")
    assert task.path == (real / "fix-sum").resolve()
    outside = write_task(tmp_path / "elsewhere", "out")
    (real / "out").symlink_to(outside)
    with pytest.raises(TaskDefinitionError, match="任务超出基准目录") as caught:
        load_benchmark_task(real, "out")
    assert caught.value.code == "outside"


@pytest.mark.parametrize(
    ("root", "path", "outside"),
    [
        ("/bench/task-1", "/bench/task-10", True),
        ("/bench/task-1", "/bench/task-1", False),
        ("/bench/task-1", "/bench/task-1/x", False),
        ("/bench/task-1", "/bench/task-1/..x", False),
        ("/bench/task-1", "/bench", True),
        ("/bench/task-1", "/bench/task-1/../task-2", True),
        ("/bench", "/", True),
        ("/bench", "/benchmark", True),
    ],
)
def test_r14_outside_is_told_by_the_way(root: str, path: str, outside: bool) -> None:
    assert is_outside(Path(root), Path(path)) is outside


def test_r15_strings_then_directory_then_manifest_then_fixture(tmp_path: Path) -> None:
    def code(id_: str) -> tuple[str, str | None]:
        with pytest.raises(TaskDefinitionError) as caught:
            load_benchmark_task(tmp_path / "bench", id_)
        return caught.value.code, caught.value.field

    assert code("BAD") == ("id", None)
    assert code("fix-sum") == ("missing", None)
    task = write_task(tmp_path / "bench", prompt="", fixture="fixtures/none")
    assert code("fix-sum") == ("schema", "prompt")
    write_task(tmp_path / "bench", fixture="fixtures/none")
    assert code("fix-sum") == ("schema", "fixture")
    (task / "task.json").unlink()
    assert code("fix-sum") == ("schema", None)


def test_r16_absence_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for root, id_ in ((tmp_path / "none", "a"), (tmp_path, "a"), (tmp_path, "file"), (tmp_path, "a" * 300)):
        with pytest.raises(TaskDefinitionError) as caught:
            load_benchmark_task(root, id_)
        assert caught.value.code == "missing"
    with pytest.raises(TaskDefinitionError) as caught:
        load_benchmark_task(Path("nul\0"), "a")
    assert caught.value.code == "missing"


def test_r17_a_linked_task_is_refused_even_inside_the_root(tmp_path: Path) -> None:
    write_task(tmp_path, "real").joinpath("task.json")
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    for id_ in ("alias", "dangling"):
        with pytest.raises(TaskDefinitionError) as caught:
            load_benchmark_task(tmp_path, id_)
        assert caught.value.code == "link"


@pytest.mark.parametrize(
    "fixture",
    [
        "../fix-sum/fixtures/sum", "fixtures/../../x", "/etc", "\\etc", "C:\\x", "c:/x", "fixtures\\sum",
        "fixtures/sum/..", "..", "fixtures/..\\..", "~/x", "fixtures/link", "fixtures/hop", "fixtures/link/inner",
        "fixtures//sum", "./fixtures/sum",
    ],
)  # fmt: skip
def test_r18_r133_traversal_absolute_paths_both_separators_and_links(tmp_path: Path, fixture: str) -> None:
    task = write_task(tmp_path, fixture=fixture)
    (tmp_path / "outside" / "inner").mkdir(parents=True)
    (task / "fixtures" / "link").symlink_to(tmp_path / "outside")
    (task / "fixtures" / "hop").symlink_to("link")
    with pytest.raises(TaskDefinitionError, match="任务 schema 无效") as caught:
        load_benchmark_task(tmp_path, "fix-sum")
    assert caught.value.field == "fixture"
    assert os.path.lexists(task / "fixtures" / "link")
