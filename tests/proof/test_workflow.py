"""The workflow over an engine of dictionaries: verdicts, causes, receipts, and what is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harbor_author.integrity.files import write_atomic
from harbor_author.proof import Options, check_receipt, oracle_check
from harbor_author.sandbox import EngineError, ExecResult
from tests.proof.tasks import TOML, make_task
from tests.sandbox.fake_engine import FakeContainer, FakeEngine, Shell


def honest(container: FakeContainer, command: str) -> ExecResult:
    """Runs the scripts of `make_task`: what they do, not how."""
    if "/solution/solve.sh" in command:
        container.files["/app/answer"] = b"done"
    elif "/tests/test.sh" in command:
        reward = b"1" if "/app/answer" in container.files else b"0"
        container.files["/logs/verifier/reward.txt"] = reward
    elif command.startswith("rm -f -- "):
        container.files.pop("/logs/verifier/reward.txt", None)
    return ExecResult(0)


def prove(tmp_path: Path, shell: Shell = honest, **changes: str | None):
    engine = FakeEngine(shell)
    task = make_task(tmp_path, **{"environment__Dockerfile": "FROM base\n", **changes})
    (result,) = oracle_check([task], Options(), engine=engine)
    assert engine.live == {}, "every container is removed"
    return result, engine, task


def test_a_sound_task_passes_and_has_a_receipt(tmp_path: Path) -> None:
    result, _, task = prove(tmp_path)
    assert (result.verdict, result.cause) == ("pass", None)
    assert [(trial.name, trial.reward) for trial in result.trials] == [("untouched", 0.0), ("oracle", 1.0)]
    receipt = json.loads((task.path / "proof.json").read_text())
    assert receipt["verdict"] == "pass"
    assert receipt["inputs"]["bases"] == {"base": "sha256:base"}


def test_tests_come_after_the_submission_and_the_solution_is_the_oracles_alone(tmp_path: Path) -> None:
    seen: dict[str, set[str]] = {}

    def look(container: FakeContainer, command: str) -> ExecResult:
        if "/solution/solve.sh" in command:
            seen["solve"] = {path for path in container.files if path.startswith("/tests")}
        elif "/tests/test.sh" in command:
            solved = "oracle" if "/app/answer" in container.files else "untouched"
            seen[solved] = {path for path in container.files if path.startswith("/solution")}
        return honest(container, command)

    prove(tmp_path, look)
    assert seen == {"solve": set(), "untouched": set(), "oracle": {"/solution/solve.sh"}}


def test_a_reward_left_by_the_submission_is_cleared(tmp_path: Path) -> None:
    def leave_one(container: FakeContainer, command: str) -> ExecResult:
        if "/solution/solve.sh" in command:
            container.files["/logs/verifier/reward.txt"] = b"1"
            return ExecResult(0)
        if "/tests/test.sh" in command:
            container.files.setdefault("/logs/verifier/reward.txt", b"0")
            return ExecResult(0)
        return honest(container, command)

    result, _, _ = prove(tmp_path, leave_one)
    assert result.trials[1].reward == 0
    assert (result.verdict, result.cause) == ("fail", "reward-too-low")


def judge_that(code: int | None, **files: bytes) -> Shell:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        if "/tests/test.sh" in command:
            container.files.update(
                {f"/logs/verifier/{name.replace('_', '.')}": data for name, data in files.items()}
            )
            return ExecResult(code, timed_out=code is None)
        return honest(container, command)

    return shell


@pytest.mark.parametrize(
    ("shell", "cause"),
    [
        (judge_that(0), "reward-missing"),
        (judge_that(0, reward_txt=b""), "reward-empty"),
        (judge_that(0, reward_txt=b"yes"), "reward-unparsable"),
        (judge_that(143), "judge-killed"),
        (judge_that(137, reward_txt=b"0"), "judge-killed"),
        (judge_that(None), "judge-timeout"),
        (judge_that(255), "reward-missing"),
    ],
)
def test_a_judge_that_could_not_judge_is_an_error_and_no_score(
    tmp_path: Path, shell: Shell, cause: str
) -> None:
    result, _, _ = prove(tmp_path, shell)
    assert (result.verdict, result.cause) == ("error", cause)
    assert {trial.verdict for trial in result.trials} == {"error"}


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{}", "holds nothing"), (b'{"style": 1, "score": 0.5}', "holds score, style, and no reward")],
)
def test_a_reward_file_without_a_reward_says_what_it_holds(tmp_path: Path, content: bytes, said: str) -> None:
    result, _, _ = prove(tmp_path, judge_that(0, reward_json=content))
    assert (result.verdict, result.cause) == ("error", "reward-unnamed")
    assert said in result.message
    assert [trial.harbor_error for trial in result.trials] == [None, None], "Harbor takes such a file"


def test_the_judges_own_error_is_no_zero(tmp_path: Path) -> None:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        if "/tests/test.sh" in command:
            container.files["/logs/verifier/test-stdout.txt"] = b'{"score":0,"max":100,"error":"no host"}\n'
        return honest(container, command)

    result, _, _ = prove(tmp_path, shell, tests__judge_mjs="")
    assert (result.verdict, result.cause) == ("error", "judge-error")
    assert "no host" in result.message


def test_our_judges_must_end_in_their_line(tmp_path: Path) -> None:
    result, _, _ = prove(tmp_path, tests__judge_mjs="")
    assert (result.verdict, result.cause) == ("error", "judge-line-unparsable")


def test_a_failing_solution_that_scores_is_no_pass(tmp_path: Path) -> None:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        honest(container, command)
        return ExecResult(3 if "/solution/solve.sh" in command else 0)

    result, _, _ = prove(tmp_path, shell)
    assert (result.verdict, result.cause) == ("fail", "solve-failed")
    assert result.trials[1].reward == 1


def test_a_submission_out_of_time_is_still_judged(tmp_path: Path) -> None:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        if "/solution/solve.sh" in command:
            return ExecResult(None, timed_out=True)
        return honest(container, command)

    result, _, _ = prove(tmp_path, shell)
    assert (result.verdict, result.cause, result.trials[1].reward) == ("fail", "agent-timeout", 0)


def test_a_task_without_a_solution_is_an_error(tmp_path: Path) -> None:
    result, _, _ = prove(tmp_path, solution__solve_sh=None)
    assert (result.verdict, result.cause, result.trials[1].reward) == ("error", "solution-missing", 0)


def test_a_source_that_changes_outranks_every_other_error(tmp_path: Path) -> None:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        (tmp_path / "answer" / "instruction.md").write_text("changed")
        return ExecResult(1)

    result, _, task = prove(tmp_path, shell)
    assert (result.verdict, result.cause) == ("error", "contamination")
    assert "reward-missing" in result.message
    assert not (task.path / "proof.json").exists()


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"tests__test_sh": "#!/bin/bash\r\necho\r\n"}, "crlf-script"),
        ({"task_toml": "\ufeff" + TOML}, "byte-order-mark"),
        ({"task_toml": TOML + "cpus = 'many'\n"}, "task-invalid"),
        ({"task_toml": TOML.replace('"no-network"', '"allowlist"')}, "unsupported-here"),
        ({"environment__docker-compose_yaml": "services: {}\n"}, "unsupported-here"),
        ({"instruction_md": None}, "task-invalid"),
        ({"tests__test_sh": None}, "task-invalid"),
        ({"task_toml": TOML + '[environment.env]\nA = "${AUTHOR_TEST_UNSET}"\n'}, "env-missing"),
    ],
)
def test_a_task_that_cannot_start_says_why(
    tmp_path: Path, changes: dict[str, str | None], cause: str
) -> None:
    result, _, _ = prove(tmp_path, **changes)
    assert (result.verdict, result.cause) == ("error", cause)


def test_an_unchanged_task_is_not_run_again_and_a_changed_one_is(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("harbor_author.proof.workflow.image_ids", lambda names: {"base": "sha256:base"})
    _, engine, task = prove(tmp_path)
    ran = len(engine.made)
    (again,) = oracle_check([task], engine=engine)
    assert (again.is_current, again.verdict, len(engine.made)) == (True, "pass", ran)
    (forced,) = oracle_check([task], Options(force=True), engine=engine)
    assert not forced.is_current
    write_atomic(task.path / "README.md", "only words\n")
    (noted,) = oracle_check([task], engine=engine)
    assert noted.is_current
    assert "README.md" in noted.notes[0]
    (task.path / "tests" / "test.sh").chmod(0o644)
    (moved,) = oracle_check([task], engine=engine)
    assert not moved.is_current


#: Of these, looking through an unchanged suite needs nothing, and loading them takes longer than all the rest.
_FOR_TRIALS_ONLY = ("docker", "http.client", "pathspec", "tarfile", "harbor_author.proof.session")


def test_what_only_trials_need_is_not_loaded_for_an_unchanged_task(tmp_path: Path) -> None:
    _, _, task = prove(tmp_path)
    code = (
        "import sys; from harbor_author.cli.main import main\n"
        "try: main()\n"
        f"finally: print([name for name in {_FOR_TRIALS_ONLY} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, "oracle-check", str(task.path)]
    environ = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert "current" in ran.stdout, ran.stderr
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_broken_engine_is_an_error_of_this_machine(tmp_path: Path) -> None:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        raise EngineError("the engine could not run a command in a container: it does not answer in time")

    result, _, task = prove(tmp_path, shell)
    assert (result.verdict, result.cause) == ("error", "engine-failed")
    assert not (task.path / "proof.json").exists()


def test_what_runs_on_is_reported(tmp_path: Path) -> None:
    engine = FakeEngine(honest)
    engine.left_processes = [(77, "node server.js")]
    task = make_task(tmp_path, environment__Dockerfile="FROM base\n")
    (result,) = oracle_check([task], engine=engine)
    assert result.trials[0].leftovers == ("process: node server.js",)


def test_a_task_that_vanishes_midway_is_said_to_have(tmp_path: Path) -> None:
    def shell(container: FakeContainer, command: str) -> ExecResult:
        shutil.rmtree(tmp_path / "answer", ignore_errors=True)
        return honest(container, command)

    result, engine, _ = prove(tmp_path, shell)
    assert (result.verdict, result.cause) == ("error", "task-vanished")
    assert engine.live == {}
    assert not (tmp_path / "answer").exists()


def test_a_receipt_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "answer" / "proof.json").mkdir(parents=True)
    result, _, _ = prove(tmp_path)
    assert result.verdict == "pass"
    assert "no receipt was written" in result.notes[-1]


def test_a_prebuilt_image_needs_no_dockerfile_and_its_identity_counts(tmp_path: Path) -> None:
    result, _, task = prove(
        tmp_path, environment__Dockerfile=None, task_toml=TOML + 'docker_image = "base"\n'
    )
    assert result.verdict == "pass"
    assert check_receipt(task, {"base": "sha256:base"}).state == "current"
    assert check_receipt(task, {"base": "sha256:newer"}).because == ("the base image base",)
