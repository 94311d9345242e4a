"""Requirements 107 to 112: the expected baseline, the grader, mutation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harbor_author.integrity import (
    BenchmarkTask,
    IntegrityError,
    TaskDefinitionError,
    load_benchmark_task,
    probe_baseline,
    read_baseline,
    run_grader,
    with_fixture_copy,
)
from harbor_author.integrity.process import MAX_OUTPUT_CHARS
from tests.integrity.support import PREFIX, write_task

TAP = "TAP version 13\nok 1 - adds\nnot ok 2 - empty list\n  # Subtest: x\n  not ok 3 - later # TODO soon\n1..2\n"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def load(root: Path, code: str = "pass", **changes: Any) -> BenchmarkTask:
    changes.setdefault("grader", {"type": "command", "command": python(code), "timeout": 20})
    write_task(root, **changes)
    return load_benchmark_task(root, "fix-sum")


def grade(task: BenchmarkTask) -> Any:
    return with_fixture_copy(task.fixture, lambda path: run_grader(task, path), prefix=PREFIX)


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "bugfix", "command": ["x"]},
        {"kind": "bugfix", "command": ["x"], "fails": ["one"]},
        {"kind": "refactor", "command": ["x"], "structure": ["one module a theme"]},
        {"kind": "feature", "command": ["x"], "fails": ["one", "two"]},
    ],
)
def test_r107_each_kind_declares_its_own_baseline(value: dict[str, Any]) -> None:
    assert read_baseline(value).kind == value["kind"]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({"kind": "red", "command": ["x"]}, "kind"),
        ({"kind": "bugfix", "command": []}, "command"),
        ({"kind": "bugfix", "command": ["x"], "fails": ["one", "two"]}, "fails"),
        ({"kind": "refactor", "command": ["x"]}, "structure"),
        ({"kind": "refactor", "command": ["x"], "structure": ["a"], "fails": ["one"]}, "structure"),
        ({"kind": "feature", "command": ["x"]}, "fails"),
        ({"kind": "feature", "command": "x", "fails": ["a"]}, "command"),
        ([], "it"),
    ],
)
def test_r107_all_red_is_not_the_rule(tmp_path: Path, value: Any, key: str) -> None:
    with pytest.raises(IntegrityError, match=f"baseline is wrong: {key} "):
        read_baseline(value)
    with pytest.raises(TaskDefinitionError) as caught:
        load(tmp_path, expectedBaseline=value)
    assert caught.value.field == "expectedBaseline"


@pytest.mark.parametrize(
    ("fails", "output", "status", "deviation"),
    [
        (["empty list"], TAP, 1, None),
        ([], "ok 1 - adds\n", 0, None),
        (["empty list"], "✔ adds (1.2ms)\n✖ empty list (0.4ms)\n✖ failing tests:\n", 1, None),
        (["test_sum.py::test_empty"], "FAILED test_sum.py::test_empty - assert None == 0\n", 1, None),
        (["hidden"], "", 1, None),  # the output tells no names: the exit status must do
        ([], TAP, 1, "'empty list' fails; the tests' exit status is 1, and should be 0"),
        (["empty list"], "ok 1 - adds\nok 2 - empty list\n", 0, "exit status is 0, and should be not 0"),
        (["other"], TAP, 1, "'empty list' fails; 'other' does not fail"),
    ],
)
def test_r108_a_drifted_fixture_refuses_the_evaluation(
    tmp_path: Path, temporary: Path, fails: list[str], output: str, status: int, deviation: str | None
) -> None:
    command = python(f"import sys; print({output!r}); sys.exit({status})")
    task = load(tmp_path, expectedBaseline={"kind": "bugfix", "command": command, "fails": fails})
    probe = lambda: with_fixture_copy(task.fixture, lambda path: probe_baseline(task, path), prefix=PREFIX)  # noqa: E731
    if deviation is None:
        probe()
    else:
        with pytest.raises(IntegrityError, match="is not as declared") as caught:
            probe()
        assert deviation in str(caught.value)


def test_r108_no_declared_baseline_is_nothing_to_probe(tmp_path: Path) -> None:
    probe_baseline(load(tmp_path), tmp_path)


def test_r109_the_grader_runs_in_the_copy_with_fixed_words(tmp_path: Path, temporary: Path) -> None:
    code = (
        "import os, sys; print(os.getcwd(), sys.argv, sorted(os.listdir())); print('api_key=sk-' + 'a' * 40)"
    )
    found = grade(load(tmp_path, code))
    assert found.passed is True
    assert "<workspace> ['-c'] ['sum.py']" in found.output
    assert "sk-" not in found.output
    assert str(temporary) not in found.output


def test_r109_output_is_cut_and_safe(tmp_path: Path, temporary: Path) -> None:
    found = grade(load(tmp_path, "print('\\x1b]0;owned\\x07' + 'a' * 100_000, flush=True)"))
    assert len(found.output) < MAX_OUTPUT_CHARS + 100
    assert "characters left out" in found.output
    assert "\x1b" not in found.output


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import time; time.sleep(60)", "over its time limit"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "over its output limit"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
    ],
)
def test_r109_a_grader_that_could_not_judge_is_no_zero(
    tmp_path: Path, temporary: Path, code: str, cause: str
) -> None:
    found = grade(load(tmp_path, grader={"type": "command", "command": python(code), "timeout": 1.5}))
    assert (found.passed, found.cause) == (None, cause)
    assert found.duration_s < 30, "the grader's own time limit counts, not the task's"


def test_r42_r43_the_grader_gets_the_definitions_variables_clock_and_seed(
    tmp_path: Path, temporary: Path
) -> None:
    code = "import os; print(*(os.environ[name] for name in ('CASE', 'SOURCE_DATE_EPOCH', 'PYTHONHASHSEED')))"
    task = load(tmp_path, code, environment={"CASE": "one"}, metadata={"clock": 1_700_000_000, "seed": 7})
    assert grade(task).output == "one 1700000000 7\n"


def test_r110_the_agents_own_tests_decide_nothing(tmp_path: Path, temporary: Path) -> None:
    task = load(tmp_path, "import sum; assert sum.of([]) == 0")

    def agent(workspace: Path) -> Any:
        (workspace / "test_sum.py").write_text("def test_all_is_well(): pass\n")
        (workspace / "result.json").write_text('{"passed": true}')
        return run_grader(task, workspace)

    assert with_fixture_copy(task.fixture, agent, prefix=PREFIX).passed is False


def test_r110_a_grader_without_a_command_cannot_be_run(tmp_path: Path, temporary: Path) -> None:
    task = load(tmp_path, grader={"type": "hidden-tests"})
    with pytest.raises(IntegrityError, match="no command"):
        grade(task)
    task = load(tmp_path, network="public", grader={"type": "command", "command": ["author-no-such-program"]})
    with pytest.raises(IntegrityError, match="author-no-such-program cannot be started"):
        grade(task)


def test_r112_a_mutation_is_planted_in_a_copy_made_anew(tmp_path: Path, temporary: Path) -> None:
    task = load(tmp_path, "import sum; assert sum.of([]) == 0 and sum.of([1, 2]) == 3")
    right = "def of(numbers):\n    return sum(numbers)\n"

    def submit(text: str) -> bool | None:
        def operation(workspace: Path) -> bool | None:
            assert "else None" in (workspace / "sum.py").read_text(), "not a fresh copy"
            (workspace / "sum.py").write_text(text)
            return run_grader(task, workspace).passed

        return with_fixture_copy(task.fixture, operation, prefix=PREFIX)

    assert submit(right.replace("sum(numbers)", "sum(numbers) + 1")) is False
    assert submit(right) is True
