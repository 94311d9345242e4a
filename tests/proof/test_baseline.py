"""The expected baseline in containers: a task whose untouched fixture drifted is not proved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner
from tests.proof.tasks import FILES, TOML, write_files

pytestmark = pytest.mark.engine

DOCKERFILE = "FROM node:24-bookworm\nWORKDIR /app\nCOPY fixture /app/fixture\n"
TESTS = """import test from "node:test";
import assert from "node:assert";
test("adds", () => assert.equal(1 + 1, 2));
test("empty list", () => assert.equal({value}, 0));
"""
BASELINE = """
[metadata.baseline]
kind = "bugfix"
command = ["node", "--test", "--test-reporter=tap"]
fails = ["empty list"]
"""


def make(parent: Path, name: str, value: int, baseline: str = BASELINE) -> Path:
    files = {
        **FILES,
        "task.toml": TOML + baseline,
        "environment/Dockerfile": DOCKERFILE,
        "environment/fixture/sum.test.mjs": TESTS.format(value=value),
    }
    write_files(parent / name, files)
    return parent / name


def test_r108_the_probe_before_the_trials_refuses_a_drifted_fixture(
    author: AuthorRunner, tmp_path: Path
) -> None:
    tasks = [
        make(tmp_path, "as-declared", 1),
        make(tmp_path, "drifted", 0),
        make(tmp_path, "wrong-table", 1, BASELINE.replace("bugfix", "red")),
        make(
            tmp_path,
            "killed",
            1,
            BASELINE.replace('"node", "--test", "--test-reporter=tap"', '"sh", "-c", "kill -9 $$"'),
        ),
    ]
    ran = author("oracle-check", "--json", *tasks)
    results = {result["task"]: result for result in json.loads(ran.out)["results"]}
    assert {name: (result["verdict"], result["cause"]) for name, result in results.items()} == {
        "as-declared": ("pass", None),
        "drifted": ("error", "baseline-drifted"),
        "wrong-table": ("error", "task-invalid"),
        "killed": ("error", "baseline-drifted"),
    }
    assert ran.status == 1
    assert results["drifted"]["trials"] == []
    assert "'empty list' does not fail" in results["drifted"]["message"]
    assert not (tmp_path / "drifted" / "proof.json").exists()
