"""Requirements 115 and 119 to 135: versions, reports, artefacts, performance, the tests that the list names."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from pathlib import Path

import pytest

from harbor_author.integrity import (
    ArtefactFolder,
    CleanupError,
    ContaminationError,
    Evidence,
    IntegrityError,
    comparable,
    fixture,
    load_benchmark_task,
    remove_tree,
    run_grader,
    run_tasks,
    with_fixture_copy,
)
from harbor_author.integrity.artefacts import KINDS
from tests.integrity.support import PREFIX, leftovers, write_task


def test_r115_another_fixture_or_definition_is_another_version(tmp_path: Path) -> None:
    write_task(tmp_path)
    first = load_benchmark_task(tmp_path, "fix-sum")
    assert comparable(first, load_benchmark_task(tmp_path, "fix-sum"))
    (first.fixture / "sum.py").write_text("changed")
    changed = load_benchmark_task(tmp_path, "fix-sum")
    assert changed.definition_hash == first.definition_hash
    assert not comparable(first, changed)
    write_task(tmp_path, timeout=61)
    redefined = load_benchmark_task(tmp_path, "fix-sum")
    assert redefined.fixture_hash == first.fixture_hash
    assert not comparable(first, redefined)


def test_r119_r120_r121_a_report_proves_without_content(tmp_path: Path, temporary: Path) -> None:
    write_task(tmp_path)
    write_task(tmp_path, "other")
    tasks = [load_benchmark_task(tmp_path, id_) for id_ in ("fix-sum", "other")]

    def operation(task: object, _: Path) -> str:
        if task is tasks[1]:
            raise RuntimeError("SECRET-CONTENT")
        return "value"

    report = run_tasks(tasks, operation, prefix=PREFIX)
    first, second = report.tasks
    assert first.version == f"{tasks[0].definition_hash}+{tasks[0].fixture_hash}"
    assert first.evidence is not None
    assert first.evidence.before == first.evidence.after == tasks[0].fixture_hash
    assert (first.evidence.removed, first.value, second.state) == (True, "value", "failed")
    assert second.evidence is not None
    assert (second.evidence.outcome, second.evidence.operation_error) == ("operation-failed", "RuntimeError")
    assert report.tools["python"]
    text = repr(dataclasses.asdict(second.evidence)) + repr(first.evidence)
    for secret in ("SECRET-CONTENT", "def of", str(temporary), str(tmp_path)):
        assert secret not in text


def test_r122_artefacts_leave_by_a_list_redacted_cut_and_for_a_time(tmp_path: Path) -> None:
    folder = ArtefactFolder(tmp_path / "artefacts")
    secret = "ghp_" + "a" * 36
    text = f"{secret}\n{tmp_path}/x\n\x1b[31mred\n" + "x" * 1_000_000
    saved = folder.save("H23-x", "decoy:rename", "judge-output.txt", text, paths={tmp_path: "<tmp>"})
    assert saved == tmp_path / "artefacts" / "H23-x" / "decoy-rename" / "judge-output.txt"
    assert secret not in saved.read_text()
    assert saved.read_text().startswith("[redacted]\n<tmp>/x\nred\n")
    assert len(saved.read_text()) <= KINDS["judge-output.txt"] + 100
    for kind in ("../../x", "workspace.tar", "", "JUDGE-OUTPUT.TXT"):
        with pytest.raises(IntegrityError, match="is no artefact"):
            folder.save("H23-x", "oracle", kind, "")
    for name in ("..", "", "/", "..."):
        with pytest.raises(IntegrityError, match="cannot name"):
            folder.save(name, "oracle", "summary.txt", "")
    foreign = tmp_path / "artefacts" / "mine"
    foreign.mkdir()
    assert folder.expire(3600) == []
    for path in (tmp_path / "artefacts").rglob("*"):
        os.utime(path, (time.time() - 7200,) * 2)
    assert folder.expire(3600) == [tmp_path / "artefacts" / "H23-x"]
    assert foreign.is_dir()
    assert ArtefactFolder(tmp_path / "none").expire(0) == []


def test_r123_a_failed_run_keeps_no_directory(source: Path, temporary: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        with_fixture_copy(source, lambda _: 1 / 0, prefix=PREFIX)
    assert leftovers(temporary) == []


def test_r124_files_bytes_and_time_are_measured(source: Path, temporary: Path) -> None:
    seen: list[Evidence] = []
    with_fixture_copy(source, lambda _: None, prefix=PREFIX, evidence=seen.append)
    sizes = sum((source / name).stat().st_size for name in ("src/main.py", "run.sh", ".hidden"))
    assert (seen[0].entries, seen[0].size_bytes) == (5, sizes)
    assert seen[0].duration_s > 0


@pytest.mark.slow
def test_r126_r134_a_sentinel_never_comes_back(tmp_path: Path, temporary: Path) -> None:
    for id_ in ("one", "two"):
        write_task(tmp_path, id_)
    tasks = [load_benchmark_task(tmp_path, id_) for id_ in ("one", "two")]

    def operation(_: object, workspace: Path) -> list[str]:
        found = sorted(path.name for path in workspace.parent.rglob("*"))
        (workspace / "sentinel").touch()
        (workspace.parent / "sentinel").touch()
        return found

    values = [
        report.value
        for order in (tasks, tasks[::-1], tasks)
        for report in run_tasks(order, operation, prefix=PREFIX).tasks
    ]
    assert values == [["sum.py", "workspace"]] * 6


def test_r133_a_child_that_holds_a_file_is_ended_and_the_copy_removed(source: Path, temporary: Path) -> None:
    import subprocess

    holder = []

    def operation(workspace: Path) -> None:
        code = "import time; f = open('run.sh'); print(flush=True); time.sleep(600)"
        holder.append(subprocess.Popen([sys.executable, "-c", code], cwd=workspace, stdout=subprocess.PIPE))
        holder[0].stdout.readline()

    with_fixture_copy(source, operation, prefix=PREFIX)
    assert holder[0].wait(10) == -9
    holder[0].stdout.close()


def test_r133_each_attack_has_its_outcome(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def through_link(workspace: Path) -> None:
        (workspace / "way").symlink_to(source)
        (workspace / "way" / "run.sh").write_text("attacked")

    with pytest.raises(ContaminationError):  # hash alarm
        with_fixture_copy(source, through_link, prefix=PREFIX)

    def busy(path: Path) -> None:
        raise OSError(16, "busy")

    monkeypatch.setattr(fixture, "remove_tree", busy)
    with pytest.raises(CleanupError):  # clean-up warning
        with_fixture_copy(source, lambda _: None, prefix=PREFIX)
    monkeypatch.undo()
    for name in leftovers(temporary):
        remove_tree(temporary / name)
    (source / "link").symlink_to("/")
    with pytest.raises(IntegrityError, match="link: is a symbolic link"):  # refused at entry
        with_fixture_copy(source, lambda _: pytest.fail("started"), prefix=PREFIX)


def test_r135_a_starter_fails_and_a_solution_passes(tmp_path: Path, temporary: Path) -> None:
    write_task(
        tmp_path,
        grader={
            "type": "command",
            "command": [sys.executable, "-c", "import sum; assert sum.of([]) == 0, '实现'"],
        },
    )
    task = load_benchmark_task(tmp_path, "fix-sum")

    def solve(workspace: Path) -> bool | None:
        (workspace / "sum.py").write_text("of = sum\n")
        return run_grader(task, workspace).passed

    starter = with_fixture_copy(task.fixture, lambda path: run_grader(task, path), prefix=PREFIX)
    assert starter.passed is False
    assert "实现" in starter.output
    assert with_fixture_copy(task.fixture, solve, prefix=PREFIX) is True
