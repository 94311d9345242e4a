"""Requirements 113 to 116: the manifest, explained changes, retirement; `author manifest` and `author retire`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from harbor_author.cli.main import main
from harbor_author.integrity import IntegrityError, package_digest, tree_hash
from harbor_author.integrity.manifest import compare, plan_manifest, read_manifest
from harbor_author.suite import TaskId, find_suite, used_ids
from tests.conftest import AuthorRunner, Ran

ENTRY = (
    "## 2026-11-30: a clearer fixture\n\n- Intent: clearer\n- Grading: as before\n- Comparability: {why}\n\n"
)


@pytest.fixture
def author(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> AuthorRunner:
    """The command line in this process: dozens of new ones would take most of these tests' time."""

    def run(*arguments: str | Path, cwd: Path) -> Ran:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["author", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run


def add_task(root: Path, name: str, baseline: str = "") -> Path:
    task = root / "tasks" / name
    for folder in ("environment/fixture", "tests", "solution"):
        (task / folder).mkdir(parents=True)
    (task / "task.toml").write_text(
        f'[task]\nname = "scratch/{name.split("-")[0].lower()}"\n[metadata]\n{baseline}'
    )
    for file in ("instruction.md", "environment/Dockerfile", "environment/fixture/index.js", "tests/test.sh"):
        (task / file).write_text(f"{file}\n")
    (task / "solution" / "solve.sh").write_text("true\n")
    return task


@pytest.fixture
def root(suite_root: Path) -> Path:
    add_task(suite_root, "H23-one")
    add_task(suite_root, "H24-two")
    return suite_root


def explain(task: Path, why: str = "none with older results") -> None:
    path = task / "CHANGES.md"
    path.write_text("# Changes\n\n" + ENTRY.format(why=why) + (path.read_text() if path.exists() else ""))


def messages(root: Path) -> list[str]:
    return [f"{finding.task}: {finding.message}" for finding in plan_manifest(find_suite(root)).findings]


def test_r113_all_source_hashes_stand_in_the_manifest(root: Path, author: AuthorRunner) -> None:
    assert messages(root) == ["H23: is not in the manifest", "H24: is not in the manifest"]
    assert author("manifest", "--check", cwd=root).status == 1
    assert not (root / "manifest.json").exists()
    ran = author("manifest", cwd=root)
    assert (ran.status, ran.out) == (0, "manifest.json: 2 tasks, 0 retired; written\n")
    entry = read_manifest(root / "manifest.json")["H23"]
    task = root / "tasks" / "H23-one"
    assert entry.version.package == package_digest(task)
    assert entry.version.fixture == tree_hash(task / "environment" / "fixture")
    before = (root / "manifest.json").read_bytes()
    assert author("manifest", "--check", cwd=root).status == 0
    assert author("manifest", cwd=root).out == "manifest.json: 2 tasks, 0 retired; true\n"
    assert (root / "manifest.json").read_bytes() == before


def test_r113_a_task_that_cannot_be_hashed_stops_the_gate(root: Path, author: AuthorRunner) -> None:
    (root / "tasks" / "H23-one" / "environment" / "fixture" / "link").symlink_to("/etc/passwd")
    ran = author("manifest", cwd=root)
    assert ran.status == 1
    assert "H23: has no version: H23-one/environment/fixture/link: is a symbolic link" in ran.out
    assert list(read_manifest(root / "manifest.json")) == ["H24"]


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("instruction.md", "definition"), ("tests/test.sh", "definition"), ("task.toml", "definition"),
        ("environment/Dockerfile", "environment"), ("environment/fixture/index.js", "environment and fixture"),
    ],
)  # fmt: skip
def test_r114_a_changed_hash_needs_a_reason(root: Path, author: AuthorRunner, file: str, what: str) -> None:
    author("manifest", cwd=root)
    recorded = read_manifest(root / "manifest.json")["H23"]
    task = root / "tasks" / "H23-one"
    (task / file).write_text((task / file).read_text() + "# more\n")
    assert messages(root) == [f"H23: the {what} changed, and CHANGES.md has no new entry"]
    assert author("manifest", cwd=root).status == 1
    assert read_manifest(root / "manifest.json")["H23"] == recorded
    (task / "CHANGES.md").write_text("## Today\n\nIntent: none\n")
    assert messages(root) == [
        f"H23: the {what} changed, and its new entry 'Today' lacks Grading, Comparability"
    ]
    explain(task)
    assert author("manifest", "--check", cwd=root).status == 1
    assert author("manifest", cwd=root).status == 0
    entry = read_manifest(root / "manifest.json")["H23"]
    assert entry.version != recorded.version
    assert entry.history == ((recorded.version, "2026-11-30: a clearer fixture"),)
    assert messages(root) == []


def test_r114_an_old_reason_explains_no_new_change(root: Path, author: AuthorRunner) -> None:
    task = root / "tasks" / "H23-one"
    explain(task)
    author("manifest", cwd=root)
    (task / "instruction.md").write_text("changed")
    assert messages(root) == ["H23: the definition changed, and CHANGES.md has no new entry"]


def test_r114_the_oracle_may_change_without_a_reason(root: Path, author: AuthorRunner) -> None:
    author("manifest", cwd=root)
    (root / "tasks" / "H23-one" / "solution" / "solve.sh").write_text("echo better\n")
    assert author("manifest", "--check", cwd=root).status == 1
    assert author("manifest", cwd=root).status == 0
    assert messages(root) == []


def test_findings_say_in_which_file_and_line(root: Path, author: AuthorRunner) -> None:
    author("manifest", cwd=root)
    add_task(root, "M15-bad", '[metadata.baseline]\nkind = "red"\ncommand = ["x"]\n')
    (root / "tasks" / "H23-one" / "instruction.md").write_text("changed")
    (root / "tasks" / "H23-one" / "CHANGES.md").write_text("# Changes\n\n## Today\n\nIntent: none\n")
    shutil.rmtree(root / "tasks" / "H24-two")
    ran = author("manifest", "--check", cwd=root)
    entry = (root / "manifest.json").read_text().splitlines().index('    "H24": {') + 1
    assert [line.split(" ")[0] for line in ran.out.splitlines() if not line.startswith("  ")][:-1] == [
        "tasks/H23-one/CHANGES.md:3:",
        f"manifest.json:{entry}:",
        "tasks/M15-bad/task.toml:4:",
        "manifest.json:",
    ]


def test_r115_comparisons_take_the_common_versions_only(
    root: Path, tmp_path: Path, author: AuthorRunner
) -> None:
    add_task(root, "H25-three")
    author("manifest", cwd=root)
    old = tmp_path / "old.json"
    shutil.copy(root / "manifest.json", old)
    explain(root / "tasks" / "H23-one")
    (root / "tasks" / "H23-one" / "environment" / "fixture" / "index.js").write_text("changed")
    author("manifest", cwd=root)
    author("retire", "H25", "--reason", "leaked", cwd=root)
    add_task(root, "M15-new")
    author("manifest", cwd=root)
    found = compare(read_manifest(old), read_manifest(root / "manifest.json"))
    assert found.common == ("H24",)
    assert found.excluded == {
        "H23": "not directly comparable: environment and fixture changed",
        "H25": "retired: leaked",
        "M15": "only in the second",
    }
    ran = author("manifest", "--compare", old, "--json", cwd=root)
    assert json.loads(ran.out)["common"] == ["H24"]


def test_r116_a_retired_task_keeps_its_evidence_and_its_number(root: Path, author: AuthorRunner) -> None:
    author("manifest", cwd=root)
    task = root / "tasks" / "H24-two"
    (task / "proof.json").write_text("{}")
    version = read_manifest(root / "manifest.json")["H24"].version
    text = (root / "author.toml").read_text()
    (root / "author.toml").write_text(text.replace("[registry]", "# kept comment\n[registry]"))
    ran = author("retire", "H24", "--reason", 'the answer "leaked"', cwd=root)
    assert ran.status == 0, ran.err
    suite = find_suite(root)
    assert suite.settings.retired == {"H24": 'the answer "leaked"'}
    assert "# kept comment" in (root / "author.toml").read_text()
    entry = read_manifest(root / "manifest.json")["H24"]
    assert (entry.retired, entry.version) == ('the answer "leaked"', version)
    assert (task / "proof.json").read_text() == "{}"
    assert [one.name for one in suite.tasks()] == ["H23-one"]
    assert "H24" not in author("list", cwd=root).out
    assert "H25" in author("next-id", "--series", "H", cwd=root).out
    assert author("manifest", "--check", cwd=root).status == 0
    (task / "instruction.md").write_text("changed later")
    assert author("manifest", "--check", cwd=root).status == 0
    shutil.rmtree(task)
    assert author("manifest", "--check", cwd=root).status == 0
    assert TaskId("H", 24) in used_ids(find_suite(root))
    add_task(root, "H24-swapped")
    assert messages(root) == ["H24: the number of the retired H24-two is used again by H24-swapped"]


def test_r116_a_task_that_was_never_recorded_is_recorded_when_it_retires(
    root: Path, author: AuthorRunner
) -> None:
    digest = package_digest(root / "tasks" / "H23-one")
    assert author("retire", "H23", "--reason", "too easy", cwd=root).status == 0
    assert read_manifest(root / "manifest.json")["H23"].version.package == digest


def test_r116_a_task_that_cannot_be_hashed_can_be_retired(root: Path, author: AuthorRunner) -> None:
    (root / "tasks" / "H23-one" / "README.md").symlink_to("/etc/passwd")
    assert author("retire", "H23", "--reason", "broken", cwd=root).status == 0
    assert read_manifest(root / "manifest.json")["H23"].version.package == ""
    assert messages(root) == ["H24: is not in the manifest"]


@pytest.mark.parametrize(
    ("id_", "reason", "message"),
    [
        ("H99", "x", "there never was a task H99"),
        ("h23", "x", "is not the ID of a task"),
        ("H23-two", "x", "is not the ID of a task"),
        ("H23", " ", "needs a reason"),
        ("H23", "a\x1b[31m", "needs a reason"),
    ],
)
def test_r116_what_cannot_be_retired(
    root: Path, author: AuthorRunner, id_: str, reason: str, message: str
) -> None:
    before = (root / "author.toml").read_bytes()
    ran = author("retire", id_, "--reason", reason, cwd=root)
    assert (ran.status, message in ran.err) == (2, True), ran.err
    assert (root / "author.toml").read_bytes() == before
    assert not (root / "manifest.json").exists()


def test_r116_retiring_twice_is_refused(root: Path, author: AuthorRunner) -> None:
    author("retire", "H23", "--reason", "first", cwd=root)
    ran = author("retire", "H23", "--reason", "second", cwd=root)
    assert ran.status == 2
    assert "is retired already: first" in ran.err


def test_r116_a_vanished_task_must_be_retired(root: Path, author: AuthorRunner) -> None:
    author("manifest", cwd=root)
    shutil.rmtree(root / "tasks" / "H24-two")
    assert messages(root) == ["H24: H24-two is in the manifest and has no directory"]
    assert author("manifest", cwd=root).status == 1
    assert "H24" in read_manifest(root / "manifest.json")
    assert author("retire", "H24", "--reason", "gone", cwd=root).status == 0
    assert messages(root) == []


def test_r107_a_declared_baseline_is_recorded_and_a_wrong_one_is_a_finding(
    root: Path, author: AuthorRunner
) -> None:
    good = '[metadata.baseline]\nkind = "bugfix"\ncommand = ["node", "--test"]\nfails = ["empty list"]\n'
    add_task(root, "M15-good", good)
    add_task(root, "M16-bad", good.replace('["empty list"]', '["a", "b"]'))
    assert "M16: the expected baseline is wrong: fails a bugfix may fail one test at most" in messages(root)
    author("manifest", cwd=root)
    baseline = read_manifest(root / "manifest.json")["M15"].baseline
    assert baseline == {"kind": "bugfix", "command": ["node", "--test"], "fails": ["empty list"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "other"}',
        '{"schema": "author/manifest/1", "tasks": {"H1": {}}}',
        "[" * 5000,
    ],
)
def test_a_broken_manifest_is_named(root: Path, text: str, author: AuthorRunner) -> None:
    (root / "manifest.json").write_text(text)
    with pytest.raises(IntegrityError, match=r"manifest\.json"):
        plan_manifest(find_suite(root))
    ran = author("manifest", cwd=root)
    assert ran.status == 2
    assert (root / "manifest.json").read_text() == text
