"""`author validate` as a person uses it: what is named, what is said, with which status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harbor_author.checks import CheckError, find_tasks, validate
from harbor_author.suite import SuiteError, contract_block, find_suite
from tests.checks.support import git, sound_suite, sound_task, suite_task, task_at
from tests.conftest import SHARED, AuthorRunner


def rules_of(document: dict) -> list[str]:
    return [finding["rule"] for finding in document["findings"]]


def test_a_sound_task_has_no_finding(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_task(tmp_path / "words")
    ran = author("validate", draft.root, "--json")
    assert ran.status == 0
    assert json.loads(ran.out) == {
        "schema": "author/validate/1",
        "findings": [],
        "summary": {"tasks": 1, "errors": 0, "warnings": 0, "notes": 0},
    }


def test_shape_of_a_finding(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_task(tmp_path / "words")
    draft.change("task.toml", "cpus = 1", 'cpus = "many"')
    ran = author("validate", "words", "--json")
    assert ran.status == 1
    (finding,) = json.loads(ran.out)["findings"]
    assert finding == {
        "task": "words",
        "rule": "invalid-task-config",
        "severity": "error",
        "path": "words/task.toml",
        "line": 14,
        "column": 1,
        "message": "'cpus' in [environment] is a string, not number",
        "fix": "write 2.5",
    }


def test_warnings_do_not_fail(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_task(tmp_path / "words")
    draft.change("task.toml", "[agent]\ntimeout_sec = 300.0\n", "")
    ran = author("validate", draft.root)
    assert ran.status == 0
    assert "[agent]" in ran.out
    assert "1 task: 0 errors, 1 warning, 0 notes" in ran.out


def test_dataset_names_every_child(tmp_path: Path, author: AuthorRunner) -> None:
    for name in ("one", "two"):
        sound_task(tmp_path / "tasks" / name).change("task.toml", "word-count", name)
    (tmp_path / "tasks/leftover").mkdir()
    (tmp_path / "tasks/notes.txt").write_text("no task")
    ran = author("validate", tmp_path / "tasks", "--json")
    document = json.loads(ran.out)
    assert ran.status == 1
    assert document["summary"]["tasks"] == 3
    assert {finding["task"] for finding in document["findings"]} == {"leftover"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "does not exist"),
        (["empty"], "holds no task"),
        ([], "no suite"),
        (["words", "--select", "no-such-rule"], "'no-such-rule'"),
        (["words", "--select", "answer-leaks"], "did you mean 'answer-leak'?"),
        (["words", "--severity", "answer-leak"], "RULE=WEIGHT"),
        (["words", "--severity", "answer-leak=fatal"], "no severity"),
        (["words", "--base", "main"], "--changed"),
        (["words", "--json", "--format", "text"], "contradict"),
        (["words", "--changed"], "git checkout"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, author: AuthorRunner, arguments: list[str], said: str) -> None:
    sound_task(tmp_path / "words")
    (tmp_path / "empty").mkdir()
    ran = author("validate", *arguments)
    assert ran.status == 2
    assert said in ran.err
    assert not ran.out


def test_an_empty_suite_is_an_error(tmp_path: Path, author: AuthorRunner, suite_root: Path) -> None:
    ran = author("validate", cwd=suite_root)
    assert ran.status == 2
    assert "no task" in ran.err


@pytest.mark.slow
def test_tasks_of_a_suite_by_id_name_and_path(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_suite(tmp_path / "suite")
    for argument in ("H9", "H9-trap", "tasks/H9-trap", "tasks", "."):
        ran = author("validate", argument, "--json", cwd=tmp_path / "suite")
        assert json.loads(ran.out)["summary"] == {"tasks": 1, "errors": 0, "warnings": 0, "notes": 0}, (
            argument
        )
    ran = author("validate", draft.root, "--json", cwd=tmp_path)
    assert json.loads(ran.out)["findings"] == []


def test_suite_rules_hold_only_inside_a_suite(tmp_path: Path) -> None:
    inside = sound_suite(tmp_path / "suite")
    inside.write("instruction.md", "Bring it back.\n")
    outside = tmp_path / "H9-trap"
    inside.root.rename(outside)
    assert validate([task_at(outside)]).findings == ()


def test_select_and_ignore(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.before("pkill -f bash")
    draft.change("task.toml", "[agent]\ntimeout_sec = 300.0\n", "")
    task = [task_at(draft.root)]
    assert {f.rule for f in validate(task).findings} == {"broad-kill", "no-agent-timeout"}
    assert {f.rule for f in validate(task, select=["processes"]).findings} == {"broad-kill"}
    assert {f.rule for f in validate(task, ignore=["broad-kill"]).findings} == {"no-agent-timeout"}
    assert {f.rule for f in validate(task, select=["ALL"], ignore=["harbor"]).findings} == set()
    report = validate(task, severity={"broad-kill": "note", "no-agent-timeout": "error"})
    assert {f.rule: f.severity for f in report.findings} == {
        "broad-kill": "note",
        "no-agent-timeout": "error",
    }


def test_harbors_own_table_is_honoured(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.before("pip install pytest==8.4.1")
    task = [task_at(draft.root)]
    assert {f.rule for f in validate(task).findings} == {"verifier-runtime-install"}
    draft.append(
        "task.toml", '\n[metadata.harbor.lint]\nignore = ["verifier-runtime-install", "broad-kill"]\n'
    )
    assert validate(task).findings == ()
    draft.before("pkill -f bash")
    assert {f.rule for f in validate(task).findings} == {"broad-kill"}, "ours are not Harbor's to silence"
    draft.change("task.toml", "ignore =", 'extend-select = ["shared-verifier"]\nignore =')
    assert {f.rule for f in validate(task).findings} == {"broad-kill", "shared-verifier"}
    report = validate(task, select=["verifier-runtime-install"])
    assert {f.rule for f in report.findings} >= {"verifier-runtime-install"}


def test_a_program_that_is_missing_is_said(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.write("tests/judge.mjs", "const score = ;\n")
    script = (
        "import sys, json\nfrom pathlib import Path\nfrom harbor_author.checks import validate\n"
        "from harbor_author.suite import Task\n"
        "report = validate([Task(Path(sys.argv[1]))])\n"
        "print(json.dumps([[f.rule, f.severity] for f in report.findings]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(draft.root)],
        env={"PATH": "/nowhere", "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert ["judge-syntax", "error"] in found, "the grammar stands in for node"
    assert ["missing-checker", "note"] in found


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_finding(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    (draft.root / "instruction.md").chmod(0)
    assert "unreadable-file" in {f.rule for f in validate([task_at(draft.root)]).findings}


def test_a_task_that_vanishes_is_a_finding(tmp_path: Path) -> None:
    report = validate([task_at(tmp_path / "gone")])
    assert "invalid-task-files" in {f.rule for f in report.findings}
    assert report.summary.tasks == 1


def test_a_rule_that_crashes_is_a_finding_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from harbor_author.checks import registry

    draft = sound_task(tmp_path / "words")
    draft.before("pkill -f bash")

    def explode(_: object) -> list[object]:
        raise RuntimeError("out of luck")

    rules = dict(registry.all_rules())
    monkeypatch.setitem(
        registry.all_rules(), "colliding-names", replace(rules["colliding-names"], check=explode)
    )
    found = validate([task_at(draft.root)], jobs=1).findings
    assert {f.rule for f in found} == {"rule-crashed", "broad-kill"}
    crash = next(f for f in found if f.rule == "rule-crashed")
    assert "colliding-names" in crash.message
    assert "out of luck" in crash.message


def test_many_processes_find_the_same(tmp_path: Path) -> None:
    tasks = []
    for number in range(60):
        draft = sound_task(tmp_path / f"words-{number:02}")
        draft.change("task.toml", "demo/word-count", f"demo/words-{number}")
        if number % 7 == 0:
            draft.before("pkill -f bash")
        tasks.append(task_at(draft.root))
    alone, together = validate(tasks, jobs=1), validate(tasks, jobs=4)
    assert alone == together
    assert alone.summary.errors == 9


def test_a_name_used_twice(tmp_path: Path) -> None:
    tasks = [task_at(sound_task(tmp_path / name).root) for name in ("one", "two", "three")]
    (tmp_path / "three/task.toml").write_text(
        (tmp_path / "three/task.toml").read_text().replace("word-count", "third")
    )
    assert validate(tasks).findings == ()
    (finding,) = validate(
        tasks, select=["harbor"], ignore=["shared-verifier", "root-agent", "unpinned-image"]
    ).findings
    assert (finding.task, finding.rule, finding.severity) == ("two", "duplicate-task-name", "error")
    assert "also that of one" in finding.message
    assert finding.line == 4


@pytest.mark.slow
def test_no_room_for_temporary_files(tmp_path: Path, author: AuthorRunner) -> None:
    sound_task(tmp_path / "words")
    (tmp_path / "file").write_text("")
    ran = author("validate", "words", env={"XDG_CACHE_HOME": str(tmp_path / "none")}, cwd=tmp_path)
    assert ran.status == 0
    script = "import tempfile, sys; tempfile.tempdir = sys.argv.pop(1); from harbor_author.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "file"), "validate", "words"],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "XDG_CACHE_HOME": str(tmp_path / "new"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot be given the scripts" in done.stderr
    assert "Traceback" not in done.stderr


def test_huge_and_odd_files_are_data(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    with (draft.root / "environment/data/large.txt").open("wb") as stream:
        stream.truncate(50 << 20)
    draft.write("environment/data/long-line.txt", "x" * 3_000_000)
    draft.write("environment/data/bytes.bin", bytes(range(256)) * 100)
    assert validate([task_at(draft.root)]).findings == ()


@pytest.mark.slow
def test_changed_means_what_git_says(tmp_path: Path, author: AuthorRunner) -> None:
    for name in ("one", "two"):
        sound_task(tmp_path / "tasks" / name)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "start")

    def seen(*arguments: str) -> list[str]:
        ran = author("validate", "tasks", "--changed", *arguments, "--format", "junit")
        return [name for name in ("one", "two") if f'testsuite name="{name}"' in ran.out]

    assert seen() == []
    (tmp_path / "tasks/two/new.txt").write_text("x")
    assert seen() == ["two"]
    git(tmp_path, "checkout", "-qb", "work")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "more")
    assert seen() == []
    assert seen("--base", "main") == ["two"]
    ran = author("validate", "tasks", "--changed", "--base", "no-such")
    assert ran.status == 2
    assert "no revision 'no-such'" in ran.err
    git(tmp_path, "checkout", "-q", "--detach")
    (tmp_path / "tasks/one/README.md").write_text("x")
    assert seen() == ["one"]
    assert seen("--base", "main") == ["one", "two"]
    git(tmp_path, "mv", "tasks/two/task.toml", "tasks/one/moved.toml")
    assert seen() == ["one", "two"]
    git(tmp_path, "reset", "-q", "--hard")
    git(tmp_path, "worktree", "add", "-q", "beside", "HEAD")
    (tmp_path / "beside/tasks/two/README.md").write_text("x")
    ran = author("validate", "beside/tasks", "--changed", "--format", "junit")
    assert ('name="one"' in ran.out, 'name="two"' in ran.out) == (False, True)


def test_watch_validates_again(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    process = subprocess.Popen(
        [sys.executable, "-m", "harbor_author", "validate", str(draft.root), "--watch"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert process.stdout is not None
        assert "0 errors" in process.stdout.readline()
        draft.before("pkill -f bash")
        lines = [process.stdout.readline() for _ in range(5)]
        assert any("broad-kill" in line for line in lines), lines
    finally:
        process.kill()
        process.wait()


def test_a_broken_suite_is_said(tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    (tmp_path / "suite/author.toml").write_text("[suite\n")
    with pytest.raises(SuiteError):
        find_tasks([str(draft.root)], None)
    with pytest.raises(CheckError):
        validate([])


def test_modes_of_the_contract(tmp_path: Path) -> None:
    for mode in ("readonly", "mutable", "build-artifacts-only"):
        draft = sound_suite(tmp_path / mode)
        draft.change("task.toml", 'mode = "mutable"', f'mode = "{mode}"')
        draft.write("instruction.md", f"Look at it.\n\n{contract_block(mode)}")
        assert validate([suite_task(draft)]).findings == (), mode


def test_card_citation_names_what_it_must_become(tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    draft.change("solution/SOLUTION.md", "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-01..04")
    (finding,) = validate([suite_task(draft)]).findings
    assert "DSH-0.1.2-A1-01, DSH-0.1.2-A1-02, DSH-0.1.2-A1-04" in finding.message
    assert "A1-03" not in finding.message


def test_the_shared_cases(tmp_path: Path) -> None:
    """The broken tasks of public reports, where they lie beside the checkout."""
    maker = SHARED / "broken-tasks/make_cases.py"
    if not maker.is_file():
        pytest.skip("no shared cases beside this checkout")
    subprocess.run([sys.executable, str(maker), str(tmp_path / "cases")], check=True, capture_output=True)
    expected = {
        "c00_base": set(),
        "c01_unconditional_reward": {("unconditional-reward", "error")},
        "c03_prefix_match": set(),
        "c05_judge_crash_no_reward": {("reward-not-on-every-path", "warning")},
        "c07_forged_reward_survives": {("reward-read-before-written", "warning")},
        "c11_flaky": set(),
        "c13_oracle_fails": set(),
        "c14_network_in_verifier": {("verifier-network-download", "error")},
        "c16_future_history": {("git-history-leak", "error")},
        "c17_solution_in_image_by_dir": {("answer-leak", "error")},
        "c19_crlf": {("crlf-line-ends", "error")},
        "c21_bom": {("byte-order-mark", "error")},
        "c24_exec_bit_lost": {("run-not-executable", "error")},
        "c26_gitignored_fixture": {("ignored-by-git", "error")},
        "c28_huge_context": {("large-context", "warning")},
        "c30_broad_pkill": {("broad-kill", "error")},
        "c33_missing_agent_table": {("no-agent-timeout", "warning")},
        "c34_swallowed_failure": {("missing-test-path", "error"), ("swallowed-failure", "warning")},
    }
    report = validate(find_tasks([str(tmp_path / "cases")], None))
    found: dict[str, set[tuple[str, str]]] = {task: set() for task in report.tasks}
    for finding in report.findings:
        found[finding.task].add((finding.rule, finding.severity))
    for name, rules in expected.items():
        assert found[name] == rules, name


def test_our_own_suite_is_clean() -> None:
    repository = Path(__file__).parents[2]
    suite = find_suite(repository)
    report = validate(suite.tasks(), suite=suite)
    assert [f for f in report.findings if f.severity != "note"] == []
    assert {f.rule for f in report.findings} <= {"placeholder"}


@pytest.mark.slow
def test_a_fresh_scaffold_has_only_placeholders(
    tmp_path: Path, author: AuthorRunner, suite_root: Path
) -> None:
    for series in ("S", "M", "H"):
        ran = author("new", "--series", series, "--title", 'A "title" 中文 \\', cwd=suite_root)
        assert ran.status == 0, ran.err
    ran = author("validate", "--json", cwd=suite_root)
    document = json.loads(ran.out)
    assert document["summary"]["tasks"] == 3
    assert set(rules_of(document)) == {"placeholder"}, document
    assert ran.status == 0


def test_hint_names_the_table_of_a_misplaced_key(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.change("task.toml", "[agent]\n", "[agent]\nmemory_mb = 5\n")
    (finding,) = validate([task_at(draft.root)]).findings
    assert finding.fix == "'memory_mb' belongs in [environment]"
    assert (finding.line, finding.column) == (8, 1)


def test_messages_stay_on_one_line(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.write("environment/data/a\nb\x1b[31m.txt", "x")
    draft.write(os.fsdecode(b"environment/data/\xff.txt"), "x")
    for finding in validate([task_at(draft.root)]).findings:
        assert finding.path.isprintable()
        assert finding.message.isprintable()
