"""Extracted tasks in containers: the reference is upstream's tree there, too, and the host tells the states apart."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harbor_author.mining import ExtractRequest, extract_task
from harbor_author.scaffold import TaskRequest
from harbor_author.suite import find_suite
from tests.conftest import REPOSITORY, AuthorRunner
from tests.mining.history import History, git
from tests.mining.replay import BUNDLE, EXPORTS, LICENSE, PATCH, entry, make_replay, manifest
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


@pytest.mark.host
def test_an_undeclared_package_is_there_so_the_boot_tells_of_the_migration(
    tmp_path: Path, suite_with_cards: Path, author: AuthorRunner
) -> None:
    code = "import colours from 'picocolors'\nexport const line = (a, b) => colours.bold(`${a}: ${b}`)\n"
    tools = {"picocolors": "1.1.1"}
    history = History(tmp_path / "r")
    history.commit(
        "start",
        {
            "LICENSE": LICENSE,
            "package.json": manifest(devDependencies=tools),
            ".dsh-plugin/index.js": entry(),
            ".dsh-plugin/format.js": code,
        },
    )
    history.commit(
        "become a bundle",
        {
            "package.json": manifest(main=None, exports=EXPORTS, dsh=BUNDLE, devDependencies=tools),
            "cordis.patch.yml": PATCH,
        },
    )
    marks = history.write()
    ran = author("extract", tmp_path / "r", marks[2], "--series", "M", cwd=suite_with_cards)
    assert "needs at start: picocolors 1.1.1, not declared for those who install it" in ran.out
    task = suite_with_cards / "tasks" / "M15-board"
    lock = json.loads((task / "environment" / "runtime" / "package-lock.json").read_text())
    assert lock["packages"]["node_modules/picocolors"]["integrity"].startswith("sha512-")
    assert "resolved" not in lock["packages"]["node_modules/picocolors"]
    ran = author("oracle-check", "M15", "--json", cwd=suite_with_cards)
    assert json.loads(ran.out)["results"][0]["verdict"] == "pass", ran.out
