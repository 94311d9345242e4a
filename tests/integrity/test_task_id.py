"""Requirements 7 to 12: the id, checked before anything is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_author.integrity import TaskDefinitionError, load_benchmark_task
from tests.integrity.support import write_task

BAD = [
    "", "A", "Fix", "-a", "a_b", "a.b", ".", "..", "../a", "a/b", "a\\b", "/a", "a\0", "a\n", "\na", "a b", "ａ", "é",
    "a/../a", "%2e%2e", "a\u200b", "~", "c:a", "a" + "\r\n",
]  # fmt: skip


@pytest.mark.parametrize("bad", [*BAD, None, 5, b"a"])
def test_r7_r9_the_pattern_holds_for_the_whole_text(tmp_path: Path, bad: str) -> None:
    with pytest.raises(TaskDefinitionError, match="任务 ID 无效") as caught:
        load_benchmark_task(tmp_path, bad)
    assert caught.value.code == "id"


@pytest.mark.parametrize("bad", BAD)
def test_r8_r130_nothing_is_touched_before_the_id_is_right(
    bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[str] = []

    def refuse(*arguments: object, **_: object) -> None:
        touched.append(repr(arguments))
        raise AssertionError("a file was touched")

    for name in ("open", "lstat", "stat", "scandir", "listdir", "readlink"):
        monkeypatch.setattr(os, name, refuse)
    with monkeypatch.context() as patched:
        patched.setattr(os.path, "realpath", refuse)
        with pytest.raises(TaskDefinitionError, match="任务 ID 无效"):
            load_benchmark_task(tmp_path, bad)
    monkeypatch.undo()
    assert touched == []


def test_r10_the_manifest_says_the_directorys_name(tmp_path: Path) -> None:
    write_task(tmp_path, "one").rename(tmp_path / "two")
    with pytest.raises(TaskDefinitionError, match=r"任务 schema 无效.*: id$"):
        load_benchmark_task(tmp_path, "two")


def test_r11_the_display_name_is_the_title(tmp_path: Path) -> None:
    write_task(tmp_path, title="Mend the Sum! (v2)")
    assert load_benchmark_task(tmp_path, "fix-sum").title == "Mend the Sum! (v2)"


@pytest.mark.parametrize(("good", "bad"), [("a-b", "a-b-"), ("a--b", "a--"), ("0", "0-")])
def test_r12_hyphens_stand_inside(tmp_path: Path, good: str, bad: str) -> None:
    write_task(tmp_path, good)
    assert load_benchmark_task(tmp_path, good).id == good
    with pytest.raises(TaskDefinitionError, match="任务 ID 无效"):
        load_benchmark_task(tmp_path, bad)
