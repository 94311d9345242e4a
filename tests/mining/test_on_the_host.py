"""Extracted tasks in containers: the reference is upstream's tree there, too, and the host tells the states apart."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harbor_author.mining.extract import ExtractRequest
from harbor_author.mining.task import extract_task
from harbor_author.scaffold import TaskRequest
from harbor_author.suite import find_suite
from tests.conftest import REPOSITORY, AuthorRunner
from tests.mining.history import History, git
from tests.mining.replay import LICENSE, entry, make_replay, manifest
from tests.mining.trees import tree_id, upstream_again


@pytest.fixture
def suite_with_cards(suite_root: Path) -> Path:
    """The scratch suite with our own cards."""
    shutil.copytree(REPOSITORY / "references", suite_root / "references", dirs_exist_ok=True)
    return suite_root


@pytest.mark.engine
def test_the_reference_in_a_container_is_upstreams_tree(tmp_path: Path, suite_root: Path) -> None:
    history = History(tmp_path / "r")
    history.commit(
        "start",
        {
            "package.json": manifest(),
            "LICENSE": LICENSE,
            "index.js": entry(inject=["tasks"]),
            "tool.sh": "#!/bin/sh\n",
            "a/b": "folder\n",
            "gone/deep/file.txt": "x\n",
            "日本 'q'.txt": "x",
        },
    )
    history.commit(
        "step",
        {
            "index.js": entry(inject=["jobs"]),
            "tool.sh": ("100755", "#!/bin/sh\n"),
            "a/b": None,
            "a": "now a file\n",
            "gone/deep/file.txt": None,
            "日本 'q'.txt": bytes(range(256)),
        },
    )
    marks = history.write()
    task = extract_task(
        find_suite(suite_root),
        ExtractRequest(repository=tmp_path / "r", commit=marks[2]),
        TaskRequest(series="M"),
    ).path
    name = f"author-mining-test-{tmp_path.name}"

    def docker(*arguments: str | Path) -> None:
        subprocess.run(["docker", *map(str, arguments)], check=True, capture_output=True, timeout=120)

    docker("create", "--name", name, "node:24-bookworm", "/solution/solve.sh")
    try:
        (tmp_path / "app").mkdir()
        shutil.copytree(task / "environment" / "fixture", tmp_path / "app" / "fixture")
        docker("cp", tmp_path / "app", f"{name}:/app")
        docker("cp", task / "solution", f"{name}:/solution")
        docker("start", "--attach", name)
        docker("cp", f"{name}:/app/fixture", tmp_path / "result")
    finally:
        docker("rm", "--force", name)
    upstream_again(task, tmp_path / "result", tmp_path / "r", marks[2])
    upstream = git(tmp_path / "r", "rev-parse", f"{marks[2]}^{{tree}}").decode().strip()
    assert tree_id(tmp_path / "result", tmp_path) == upstream


@pytest.mark.host
def test_forced_commits_become_tasks_that_the_host_proves(
    tmp_path: Path, suite_with_cards: Path, author: AuthorRunner
) -> None:
    replay = make_replay(tmp_path / "board.git", noise=2)
    found = json.loads(author("survey", replay.path, "--json").out)["candidates"][:4]
    assert {candidate["commits"][0] for candidate in found} == set(replay.forced)
    for candidate in found:
        ran = author("extract", replay.path, candidate["commits"][0], "--series", "M", cwd=suite_with_cards)
        assert ran.status == 0, ran.err
    ran = author("validate", "--json", cwd=suite_with_cards)
    assert [item for item in json.loads(ran.out)["findings"] if item["severity"] != "note"] == []
    ran = author("oracle-check", "--all", "--json", cwd=suite_with_cards)
    results = json.loads(ran.out)["results"]
    assert [(result["verdict"], result["cause"]) for result in results] == [("pass", None)] * 4, ran.out
