"""The shared golden cases, read where they are; they are never copied into the project."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import pytest

from tests.conftest import SHARED

GOLDEN = SHARED / "golden"
CASE_FILES = ("executor_cases", "harsh_critic_cases", "fuzz_generic", "fuzz_harsh_critic", "fuzz_inline")


def require_golden() -> None:
    """Skip the test where the shared folder is not given; in CI its absence is a failure."""
    if GOLDEN.is_dir():
        return
    reason = f"no golden cases at {GOLDEN}; set HARBOR_AUTHOR_SHARED"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@cache
def load(name: str) -> Any:
    """The parsed golden file `name`.json."""
    require_golden()
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


@cache
def truth_file(relative: str) -> dict[str, Any]:
    """A ground truth that cases name, by its path below the golden folder."""
    document = json.loads((GOLDEN / relative).read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def truth_of(case: dict[str, Any]) -> dict[str, Any]:
    """The ground truth of a case, inline or by file."""
    return case["ground_truth_inline"] if "ground_truth_inline" in case else truth_file(case["ground_truth"])


def all_cases() -> list[dict[str, Any]]:
    """Every whole case: report, truth, parser and what must come out."""
    return [case for name in CASE_FILES for case in load(name)]
