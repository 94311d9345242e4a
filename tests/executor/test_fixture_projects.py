"""The projects that the executor tasks hand out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

TASKS = sorted((REPOSITORY / "tasks").glob("E*"))
TEMPLATES = REPOSITORY / "templates"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_lock_file_names_versions_and_digests_but_no_registry(task: Path) -> None:
    text = (task / "environment" / "fixture" / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    installed = {name: entry for name, entry in packages.items() if name}
    assert "node_modules/express" in installed
    assert all(entry["integrity"].startswith("sha512-") for entry in installed.values())
    assert "resolved" not in text


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_nothing_of_the_solution_is_in_the_image(task: Path) -> None:
    given = {path.read_bytes() for path in (task / "environment").rglob("*") if path.is_file()}
    changed = {path.read_bytes() for path in (task / "solution" / "project").rglob("*") if path.is_file()}
    assert changed
    assert not given & changed


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_decoy_and_variant_leaves_a_tree_of_its_own(task: Path) -> None:
    reference = files_of(task / "solution" / "project")
    trees = {"untouched": {}, "oracle": reference}
    for folder in [*(task / "solution" / "decoys").iterdir(), *(task / "solution" / "variants").iterdir()]:
        solve = (folder / "solve.sh").read_text(encoding="utf-8")
        own = files_of(folder / "project")
        assert all(f'"$here/project/{name}"' in solve for name in own), folder.name
        trees[folder.name] = {**(reference if '"$here/../../solve.sh"' in solve else {}), **own}
    fixture = files_of(task / "environment" / "fixture")
    assert len({json.dumps({**fixture, **tree}, sort_keys=True) for tree in trees.values()}) == len(trees)


def files_of(root: Path) -> dict[str, str]:
    paths = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_libraries_are_those_of_the_templates(task: Path) -> None:
    assert (task / "tests" / "service.mjs").read_bytes() == (
        TEMPLATES / "hostless/tests/service.mjs"
    ).read_bytes()
