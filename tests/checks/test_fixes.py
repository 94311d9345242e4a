"""Repairs: each one removes its finding, keeps everything else, and does nothing the second time."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_author.checks import CheckError, apply_fixes, fixable, plan_fixes, validate
from tests.checks.support import Draft, git, sound_suite, sound_task, suite_task, task_at
from tests.conftest import AuthorRunner


def bom(t: Draft) -> None:
    t.write("task.toml", b"\xef\xbb\xbf" + (t.root / "task.toml").read_bytes())


def crlf(t: Draft) -> None:
    t.write("tests/test.sh", (t.root / "tests/test.sh").read_bytes().replace(b"\n", b"\r\n"), 0o755)


def mode(t: Draft) -> None:
    (t.root / "tests/test.sh").chmod(0o644)


def run_mode(t: Draft) -> None:
    t.write("environment/fixture/setup.sh", "#!/bin/sh\nexit 0\n")
    t.append("environment/Dockerfile", "RUN /app/fixture/setup.sh\n")


def private(t: Draft) -> None:
    t.change("environment/fixture/package.json", ',\n  "private": true', "")


def private_false(t: Draft) -> None:
    t.change("environment/fixture/package.json", "true", "false")


def readme(t: Draft) -> None:
    t.write("environment/fixture/README.md", "# plugin\n\nWorks.\n")


def contract(t: Draft) -> None:
    t.write("instruction.md", "Bring it back.\n")


def chinese_contract(t: Draft) -> None:
    t.write("instruction.md", "升级之后插件失效了，请修复。\n")


def declared(t: Draft) -> None:
    t.change("task.toml", 'execution_contract = "BENCHMARK-AUTH-v1"\n', "# who may do what\n")


def name(t: Draft) -> None:
    t.change("task.toml", '"demo-suite/h9"', '"demo-suite/h8" # its name')


def citations(t: Draft) -> None:
    t.change("solution/SOLUTION.md", "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-01..04, DSH-0.1.2-A1-01/02, A1-04")


def deprecated(t: Draft) -> None:
    t.change("task.toml", "memory_mb = 2048", 'memory = "2G" # enough')
    t.change("task.toml", 'network_mode = "public"', "allow_internet = true")
    t.change("task.toml", "schema_version", "version")


BROKEN: dict[str, tuple[str, Callable[[Draft], None]]] = {
    "bom": ("byte-order-mark", bom),
    "crlf": ("crlf-line-ends", crlf),
    "mode": ("script-not-executable", mode),
    "run_mode": ("run-not-executable", run_mode),
    "private": ("fixture-not-private", private),
    "private_false": ("fixture-not-private", private_false),
    "readme": ("fixture-readme", readme),
    "contract": ("contract-incomplete", contract),
    "chinese_contract": ("contract-incomplete", chinese_contract),
    "declared": ("contract-not-declared", declared),
    "name": ("task-name-mismatch", name),
    "citations": ("card-citation-short", citations),
    "deprecated": ("deprecated-config-field", deprecated),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_repair_removes_its_finding(broken: str, tmp_path: Path) -> None:
    rule, mutate = BROKEN[broken]
    draft = sound_suite(tmp_path / "suite")
    mutate(draft)
    task = suite_task(draft)
    assert rule in {f.rule for f in validate([task]).findings}
    changes = plan_fixes([task])
    assert {r for change in changes for r in change.rules} == {rule}
    assert all(change.diff() for change in changes)
    apply_fixes(changes)
    assert validate([suite_task(draft)]).findings == ()
    assert plan_fixes([task]) == []


def test_every_repair_is_tested() -> None:
    assert {rule for rule, _ in BROKEN.values()} == fixable()


def test_a_sound_task_needs_no_repair(tmp_path: Path) -> None:
    assert plan_fixes([suite_task(sound_suite(tmp_path / "suite"))]) == []
    assert plan_fixes([task_at(sound_task(tmp_path / "words").root)]) == []


def test_comments_and_order_stay(tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    deprecated(draft)
    name(draft)
    before = (draft.root / "task.toml").read_text()
    apply_fixes(plan_fixes([suite_task(draft)]))
    after = (draft.root / "task.toml").read_text()
    assert "memory_mb = 2048 # enough\n" in after
    assert '"demo-suite/h9" # its name\n' in after
    assert len(after.splitlines()) == len(before.splitlines())
    assert tomllib.loads(after)["environment"] == {"cpus": 1, "memory_mb": 2048, "network_mode": "public"}


def test_the_package_keeps_its_form(tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    draft.write("environment/fixture/package.json", '{\n\t"name": "x",\n\t"scripts": {"a": "b"}\n}')
    apply_fixes(plan_fixes([suite_task(draft)]))
    text = (draft.root / "environment/fixture/package.json").read_text()
    assert text == '{\n\t"private": true,\n\t"name": "x",\n\t"scripts": {"a": "b"}\n}'


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("environment/fixture/package.json", '{"name": "x", "private": "yes", "a": {"private": false}'),
        ("environment/fixture/package.json", "[1]"),
        ("task.toml", 'version = "1.0"\nschema_version = "1.4"\n[environment]\nmemory = "much"\n'),
        ("task.toml", "[task\n"),
        ("instruction.md", "Half a contract: BENCHMARK-AUTH-v1, there will be no follow-up user messages.\n"),
        ("solution/SOLUTION.md", "DSH-0.1.2-A1-07..09 and A9-01 and DSH-0.1.2-A1-01/07\n"),
        ("environment/fixture/README.md", b"\xff\xfe"),
    ],
)
def test_what_cannot_be_proved_is_left_alone(path: str, content: str | bytes, tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    draft.write(path, content)
    changes = plan_fixes(
        [suite_task(draft)], rules=fixable() - {"task-name-mismatch", "contract-not-declared"}
    )
    assert [change for change in changes if change.name == path] == []


@pytest.mark.slow
def test_dry_run_shows_and_changes_nothing(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_suite(tmp_path / "suite")
    crlf(draft)
    before = (draft.root / "tests/test.sh").read_bytes()
    ran = author("fix", "--dry-run", cwd=tmp_path / "suite")
    assert ran.status == 1
    assert "-#!/bin/bash␍" in ran.out
    assert "1 file would be repaired" in ran.out
    assert (draft.root / "tests/test.sh").read_bytes() == before
    ran = author("fix", "--json", cwd=tmp_path / "suite")
    document = json.loads(ran.out)
    assert ran.status == 0
    assert document["schema"] == "author/fix/1"
    assert [change["rules"] for change in document["changes"]] == [["crlf-line-ends"]]
    assert b"\r" not in (draft.root / "tests/test.sh").read_bytes()
    assert (draft.root / "tests/test.sh").stat().st_mode & 0o777 == 0o755
    assert "nothing to repair" in author("fix", cwd=tmp_path / "suite").out


def test_validate_fix_repairs_first(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_suite(tmp_path / "suite")
    mode(draft)
    ran = author("validate", "--fix", "--json", cwd=tmp_path / "suite")
    assert ran.status == 0
    assert json.loads(ran.out)["findings"] == []
    assert "executable" in ran.err


def test_the_index_gets_the_bit_too(tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    mode(draft)
    git(tmp_path / "suite", "init", "-q", "-b", "main")
    git(tmp_path / "suite", "add", ".")
    apply_fixes(plan_fixes([suite_task(draft)]))
    listed = git(tmp_path / "suite", "ls-files", "-s", "tasks/H9-trap/tests/test.sh")
    assert listed.startswith("100755")


def test_only_the_rules_that_are_named(tmp_path: Path, author: AuthorRunner) -> None:
    draft = sound_suite(tmp_path / "suite")
    mode(draft)
    readme(draft)
    changes = plan_fixes([suite_task(draft)], rules=["fixture-readme"])
    assert [change.name for change in changes] == ["environment/fixture/README.md"]
    with pytest.raises(CheckError, match="no automatic fix"):
        plan_fixes([suite_task(draft)], rules=["broad-kill"])
    assert author("fix", "--rule", "broad-kill", cwd=tmp_path / "suite").status == 2


def test_a_file_that_changed_meanwhile_is_left(tmp_path: Path) -> None:
    draft = sound_suite(tmp_path / "suite")
    readme(draft)
    changes = plan_fixes([suite_task(draft)])
    draft.append("environment/fixture/README.md", "Somebody typed this.\n")
    with pytest.raises(CheckError, match="changed while"):
        apply_fixes(changes)
    assert (draft.root / "environment/fixture/README.md").read_text().endswith("Somebody typed this.\n")
