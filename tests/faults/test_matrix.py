"""Which fault is tried at which command: no cell without a test. `pytest -s` prints the table."""

from __future__ import annotations

import ast

from tests.conftest import REPOSITORY
from tests.faults.commands import WRITERS
from tests.faults.injection import FAULTS

COMMANDS = "tests/faults/test_commands.py::test_a_fault_at_any_change_leaves_old_or_new"
ENGINE_APART = "tests/faults/test_commands.py::test_an_engine_that_stalls_or_is_gone_is_no_matter"
STAGES = "tests/sandbox/test_own_engine.py::test_a_run_that_is_ended_at_a_stage"
#: Fault -> the test of it for `oracle-check`, which does its work in an engine.
PROOF = {
    "SIGKILL": STAGES,
    "SIGTERM": STAGES,
    "SIGINT": STAGES,
    "ENOSPC": "tests/sandbox/test_own_engine.py::test_an_engine_whose_disk_is_full",
    "DISKFULL": "tests/sandbox/test_own_engine.py::test_a_disk_filler_ends_with_the_limit_named",
    "NOMEM": "tests/proof/test_oracle_check.py::"
    "test_what_takes_too_much_of_something_ends_with_the_limit_named",
    "CLOCK": "tests/integrity/test_orphans.py::test_r87_what_is_younger_than_the_limit_and_than_this_run_stays",
    "engine killed": "tests/sandbox/test_own_engine.py::test_an_engine_that_is_killed_and_comes_back",
    "engine stalled": "tests/sandbox/test_engine_faults.py::test_an_engine_that_stalls_midway",
}


def cells() -> dict[tuple[str, str], str]:
    """(command, fault) -> the test."""
    found = {("oracle-check", fault): test for fault, test in PROOF.items()}
    for command in WRITERS:
        found |= {(command, fault): COMMANDS for fault in FAULTS}
        found |= {(command, fault): ENGINE_APART for fault in ("engine killed", "engine stalled")}
    return found


def test_every_cell_has_a_test() -> None:
    found = cells()
    faults = [*FAULTS, "engine killed", "engine stalled"]
    for command in ("oracle-check", *WRITERS):
        print(f"{command:13} {' '.join(fault if (command, fault) in found else '-' for fault in faults)}")
    assert [
        (command, fault)
        for command in ("oracle-check", *WRITERS)
        for fault in faults
        if (command, fault) not in found
    ] == []
    for place in set(found.values()):
        path, _, name = place.partition("::")
        tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, place


def test_the_commands_that_the_promise_names_are_there() -> None:
    named = {
        "new",
        "extract",
        "sync",
        "publish",
        "fix",
        "rename",
        "retire",
        "manifest",
        "import",
        "vendor",
        "report",
    }
    assert named <= WRITERS.keys()
