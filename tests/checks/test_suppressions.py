"""Accepted faults: with a reason, for a time, and reported when they accept nothing."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from harbor_author.checks import CheckError, Finding, validate
from harbor_author.suite import Task, find_suite
from tests.checks.support import Draft, sound_suite, sound_task, suite_task, task_at

TODAY = datetime.date(2027, 1, 15)


def faulty(tmp_path: Path) -> Draft:
    draft = sound_task(tmp_path / "words")
    draft.before("pkill -f bash")
    return draft


def found(task: Task, **more: object) -> dict[str, Finding]:
    return {f.rule: f for f in validate([task], today=TODAY, **more).findings}  # type: ignore[arg-type]


def test_a_reason_silences(tmp_path: Path) -> None:
    draft = faulty(tmp_path)
    draft.append("task.toml", '\n[metadata.author.ignore]\nbroad-kill = "the only shell in its container"\n')
    assert found(task_at(draft.root)) == {}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('broad-kill = ""', "without a reason"),
        ('broad-kill = { until = "2030-01-01" }', "without a reason"),
        ("broad-kill = true", "without a reason"),
        ('broad-kil = "because"', "there is no rule 'broad-kil'"),
        ('broad-kill = { reason = "x", until = "soon" }', "is no date"),
    ],
)
def test_a_bad_suppression_silences_nothing(tmp_path: Path, entry: str, said: str) -> None:
    draft = faulty(tmp_path)
    draft.append("task.toml", f"\n[metadata.author.ignore]\n{entry}\n")
    findings = found(task_at(draft.root))
    assert set(findings) == {"broad-kill", "bad-suppression"}
    assert said in findings["bad-suppression"].message
    assert findings["bad-suppression"].line == 19


@pytest.mark.parametrize(("until", "holds"), [("2027-01-15", True), ("2027-01-14", False)])
def test_an_end_is_kept(tmp_path: Path, until: str, holds: bool) -> None:
    draft = faulty(tmp_path)
    draft.append(
        "task.toml", f'\n[metadata.author.ignore]\nbroad-kill = {{ reason = "x", until = {until} }}\n'
    )
    assert ("broad-kill" not in found(task_at(draft.root))) is holds


def test_an_ended_one_is_told(tmp_path: Path) -> None:
    draft = faulty(tmp_path)
    draft.append(
        "task.toml", '\n[metadata.author.ignore]\nbroad-kill = { reason = "x", until = 2020-01-31 }\n'
    )
    findings = found(task_at(draft.root))
    assert set(findings) == {"broad-kill", "expired-suppression"}
    assert "2020-01-31" in findings["expired-suppression"].message


def test_a_stale_one_is_told(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.append("task.toml", '\n[metadata.author.ignore]\nbroad-kill = "once upon a time"\n')
    findings = found(task_at(draft.root))
    assert set(findings) == {"unused-suppression"}
    assert findings["unused-suppression"].severity == "warning"
    assert found(task_at(draft.root), ignore=["broad-kill"]) == {}, "a rule that did not run proves nothing"


def test_suppressions_cannot_be_suppressed(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.append(
        "task.toml",
        '\n[metadata.author.ignore]\nbroad-kill = ""\nbad-suppression = "hush"\nunused-suppression = "hush"\n',
    )
    assert set(found(task_at(draft.root))) == {"bad-suppression", "unused-suppression"}


def _suite(tmp_path: Path, table: str) -> Draft:
    draft = sound_suite(tmp_path / "suite")
    with (tmp_path / "suite/author.toml").open("a") as stream:
        stream.write(f"\n[validate]\n{table}\n")
    draft.change("tests/test.sh", "set -u\n", "set -u\npkill -f bash\n")
    return draft


def test_the_suite_accepts_a_fault_of_one_task(tmp_path: Path) -> None:
    table = 'suppress = [{ rule = "broad-kill", task = "H9", reason = "x", until = 2027-06-01 }]'
    draft = _suite(tmp_path, table)
    assert found(suite_task(draft)) == {}
    later = validate([suite_task(draft)], today=datetime.date(2027, 6, 2))
    assert {f.rule for f in later.findings} == {"broad-kill", "unused-suppression"}


def test_the_suites_stale_one_is_told_where_all_is_known(tmp_path: Path) -> None:
    table = 'suppress = [{ rule = "fixed-port", reason = "x" }, '
    table += '{ rule = "broad-kill", task = "H9-trap", reason = "y" }]'
    draft = _suite(tmp_path, table)
    (finding,) = found(suite_task(draft)).values()
    assert finding.rule == "unused-suppression"
    assert finding.task == "author.toml"
    assert "fixed-port" in finding.message
    other = sound_suite(tmp_path / "second").root
    other.rename(tmp_path / "suite/tasks/H10-other")
    assert found(suite_task(draft)) == {}, "with tasks unseen nobody knows that it is stale"


def test_the_suite_selects_ignores_and_weighs(tmp_path: Path) -> None:
    draft = _suite(tmp_path, 'ignore = ["fixed-port"]\nseverity = { broad-kill = "warning" }')
    assert {r: f.severity for r, f in found(suite_task(draft)).items()} == {"broad-kill": "warning"}
    draft = _suite(tmp_path / "b", 'select = ["cards"]')
    assert found(suite_task(draft)) == {}
    assert set(found(suite_task(draft), select=["broad-kill"])) == {"broad-kill"}


@pytest.mark.parametrize(
    "table",
    [
        'suppress = [{ rule = "broad-kill" }]',
        'suppress = [{ reason = "x" }]',
        'suppress = [{ rule = "no-such", reason = "x" }]',
        'suppress = ["broad-kill"]',
        'ignore = ["no-such"]',
        "select = [1]",
        'severity = { broad-kill = "fatal" }',
    ],
)
def test_a_wrong_table_of_the_suite_stops_the_run(tmp_path: Path, table: str) -> None:
    draft = _suite(tmp_path, table)
    with pytest.raises(CheckError):
        validate([suite_task(draft)], suite=find_suite(tmp_path / "suite"))
