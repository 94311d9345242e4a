"""Each rule against its faulty tasks and near misses; over all of them, precision and recall are 1."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from harbor_author.checks import Finding, all_rules, apply_fixes, plan_fixes, validate
from harbor_author.suite import Task
from tests.checks.cases import CASES, Case
from tests.checks.support import Draft, sound_suite, sound_task, suite_task, task_at

for _path in sorted(Path(__file__).parent.glob("cases_*.py")):
    importlib.import_module(f"tests.checks.{_path.stem}")

Outcomes = Mapping[str, list[Finding]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cases, a folder each."""
    root = tmp_path_factory.mktemp("cases")
    for case in CASES:
        case.mutate((sound_suite if case.inside else sound_task)(root / case.name))
    return root


@pytest.fixture(scope="module")
def outcomes(root: Path) -> Outcomes:
    """What is found in each case."""
    return found_in(root)


def task_of(case: Case, root: Path) -> Task:
    if not case.inside:
        return task_at(root / case.name)
    (path,) = [p for p in (root / case.name / "tasks").iterdir() if (p / "instruction.md").is_file()]
    return suite_task(Draft(path))


def found_in(root: Path) -> Outcomes:
    """All cases are checked in a few runs, as a dataset is."""
    found: dict[str, list[Finding]] = {}
    groups: dict[tuple[bool, str], list[Case]] = {}
    for case in CASES:
        groups.setdefault((case.inside, case.select), []).append(case)
    for (_, select), cases in groups.items():
        tasks = [task_of(case, root) for case in cases]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(root / "cache"))
            report = validate(tasks, select=[select] if select else (), jobs=1, remember=True)
            again = validate(tasks, select=[select] if select else (), jobs=1, remember=True)
        assert again == report, "a verdict that was kept differs"
        for case, task in zip(cases, tasks, strict=True):
            prefix = str(root / case.name) + "/"
            found[case.name] = [
                f for f in report.findings if (f.path + "/").startswith(prefix) or f.path == str(task.path)
            ]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, outcomes: Outcomes) -> None:
    found = outcomes[case.name]
    told = "\n".join(f"{f.path}:{f.line}: {f.rule}: {f.message}" for f in found)
    assert {f.rule for f in found} == case.expected, told
    if case.where is not None:
        places = {(f.path, f.line) for f in found if f.rule == case.rule}
        files = {path for path, _ in places}
        assert any(path.endswith(f"/{case.where}") for path in files) or not case.where, told
        if case.line is not None:
            assert case.line in {line for _, line in places}, told


def test_network_of_a_shared_judge_is_a_warning(outcomes: Outcomes) -> None:
    """Harbor's own template installs while judging; without a network, or in a separate judge, that is an error."""
    given = {(f.rule, f.severity) for f in outcomes["judging-template_with_a_network"]}
    assert given == {("verifier-runtime-install", "warning"), ("verifier-network-download", "warning")}
    assert {f.severity for f in outcomes["judging-download_without_a_network"]} == {"error"}


def test_what_is_missing_as_a_whole_is_told_once(outcomes: Outcomes) -> None:
    (contract,) = outcomes["suite-no_contract"]
    assert contract.message == "the contract BENCHMARK-AUTH-v1 (mutable) is missing"
    (empty,) = outcomes["suite-no_instruction"]
    assert empty.fix == "write what the agent is to do, with which files, and what it shall leave behind"


def test_remedies_are_clauses(outcomes: Outcomes) -> None:
    """As every error of ours has them: in lower case, without a stop."""
    given = {f.fix or "" for findings in outcomes.values() for f in findings}
    assert [fix for fix in given if not fix or fix[0].isupper() or fix.endswith(".")] == []


@pytest.mark.slow
def test_author_fix_does_what_a_finding_says_and_makes_no_new_one(root: Path, outcomes: Outcomes) -> None:
    said = {
        (case.name, f.rule, f.path) for case in CASES for f in outcomes[case.name] if "author fix" in f.fix
    }
    assert said
    for case in CASES:
        apply_fixes(plan_fixes([task_of(case, root)]))
    repaired = found_in(root)
    assert [
        finding for case in CASES for finding in repaired[case.name] if finding.rule not in case.expected
    ] == []
    left = {(case.name, f.rule, f.path) for case in CASES for f in repaired[case.name]}
    assert said & left == set()


def test_every_rule_has_a_fault_and_a_near_miss() -> None:
    faulty = {case.rule for case in CASES if case.expected and case.rule in case.expected}
    missed = {case.rule for case in CASES if case.rule not in case.expected}
    assert set(all_rules()) - faulty == _ELSEWHERE
    assert set(all_rules()) - missed == _ELSEWHERE


#: Tested where what they need can be made: several tasks, a rule that crashes, a program that is missing, suppressions.
_ELSEWHERE = {
    "rule-crashed",
    "duplicate-task-name",
    "missing-checker",
    "unreadable-file",
    "bad-suppression",
    "expired-suppression",
    "unused-suppression",
}


def test_precision_and_recall(outcomes: Outcomes, capsys: pytest.CaptureFixture[str]) -> None:
    """Over all cases: what was found and should be, what was found and should not, what was missed."""
    rows = []
    for name in all_rules():
        right = wrong = missed = 0
        for case in CASES:
            told = name in {f.rule for f in outcomes[case.name]}
            should = name in case.expected
            right += told and should
            wrong += told and not should
            missed += should and not told
        rows.append((name, right, wrong, missed))
    total = [sum(row[index] for row in rows) for index in (1, 2, 3)]
    with capsys.disabled():
        print(f"\n{'rule':34} found  false  missed")
        for name, right, wrong, missed in rows:
            print(f"{name:34} {right:5}  {wrong:5}  {missed:6}")
        print(f"{len(rows)} rules, {len(CASES)} tasks: {total[0]} found, {total[1]} false, {total[2]} missed")
    assert total[1] == 0
    assert total[2] == 0
    assert total[0] > len(all_rules())
