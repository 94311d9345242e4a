"""A task's fixture and solution, carried out here instead of in a container, and git's own view of the result."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.mining.history import git


def solved(task: Path, work: Path, *, solution: str = "solution") -> Path:
    """The fixture after `solve.sh`: the script runs as it is, but for the fixture's place."""
    fixture = work / "fixture"
    shutil.copytree(task / "environment" / "fixture", fixture)
    shutil.copytree(task / solution, work / "solution")
    script = work / "solution" / "solve.sh"
    text = script.read_text("utf-8")
    assert text.count("/app/fixture") == 1
    script.write_text(text.replace("/app/fixture", str(fixture)), "utf-8")
    subprocess.run([str(script)], check=True, cwd="/", timeout=60)
    return fixture


def upstream_again(task: Path, tree: Path, repository: Path, commit: str, *, subdir: str = "") -> None:
    """Undo in `tree` what provenance/ records: edits, additions and what was left out, from git's own bytes."""
    record = provenance(task)
    prefix = f"{subdir}/" if subdir else ""
    for edit in record["edited"]:
        path = tree / edit["path"]
        if edit["what"].startswith("added"):
            path.unlink()
    for path in [
        *(edit["path"] for edit in record["edited"]),
        *(item["path"] for item in record["left_out"]),
    ]:
        listed = git(repository, "ls-tree", "-z", commit, f"{prefix}{path}")
        if not listed:
            continue
        mode = listed.split()[0].decode()
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        data = git(repository, "cat-file", "blob", f"{commit}:{prefix}{path}")
        if mode == "120000":
            target.symlink_to(data.decode())
        else:
            target.write_bytes(data)
            target.chmod(0o755 if mode == "100755" else 0o644)


def tree_id(tree: Path, work: Path) -> str:
    """Git's hash of a folder."""
    repository = work / "hash"
    repository.mkdir()
    git(repository, "init", "--quiet")
    git(repository, "config", "core.fileMode", "true")
    work_tree = {"GIT_WORK_TREE": str(tree), "GIT_DIR": str(repository / ".git")}
    git(tree, "add", "--all", "--force", ".", **work_tree)
    return git(tree, "write-tree", **work_tree).decode().strip()


def provenance(task: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((task / "provenance" / "provenance.json").read_text("utf-8"))
    return document
