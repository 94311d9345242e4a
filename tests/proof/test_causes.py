"""The closed list of causes, and its documentation."""

from __future__ import annotations

import re

from harbor_author.proof.causes import CAUSES, NOT_THE_TASK
from tests.conftest import REPOSITORY


def test_every_cause_is_documented_as_it_is() -> None:
    text = (REPOSITORY / "docs" / "proof.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| (ERROR|FAIL) \| (.*) \|$", text, re.MULTILINE)
    wanted = [
        (cause.name, "ERROR" if cause.is_error else "FAIL", cause.meaning)
        for cause in CAUSES.values()
        if cause.name != "not-applicable"
    ]
    assert rows == wanted


def test_every_cause_has_a_hint_and_the_machines_faults_are_errors() -> None:
    assert all(cause.hint and cause.meaning for cause in CAUSES.values())
    assert all(CAUSES[name].is_error for name in NOT_THE_TASK)
