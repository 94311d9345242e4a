"""Commands that write, with a fault at each of their changes: nothing half-written, nothing left after the next run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.faults.injection import FAULTS, run

COMMANDS = {
    "new": ["new", "--series", "H", "--slug", "fresh", "--title", "Fresh"],
    "sync": ["sync"],
    "manifest": ["manifest"],
    "retire": ["retire", "H23", "--reason", "leaked"],
    "rename": ["rename", "H23", "H23-renamed"],
    "extract": ["extract", "<repository>", "HEAD", "--series", "M", "--slug", "migrated"],
}
#: A fault at every change would take minutes: this many, spread over the run. scripts/bench-faults takes more.
POINTS = int(os.environ.get("HARBOR_AUTHOR_FAULT_POINTS", "1"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with a task and two registers that are not true."""
    root = tmp_path_factory.mktemp("faults") / "suite"
    (root / "tasks").mkdir(parents=True)
    (root / "references").mkdir()
    (root / "author.toml").write_text(
        '[suite]\nname = "scratch"\n[host]\ndsh = "0.1.2-alpha.3"\nsource = "pypi"\n'
        '[registry]\nreserved = ["H1-H22"]\n[registers]\nreadme = "README.md"\nscoring = "scoring.md"\n'
    )
    markers = "<!-- author:tasks:begin -->\n<!-- author:tasks:end -->\n"
    (root / "README.md").write_text("It contains 9 tasks.\n" + markers)
    (root / "scoring.md").write_text("Total 900 (9 tasks x 100)\n" + markers)
    make_repository(root.parent / "repository")
    made = run(["new", "--series", "H", "--slug", "first"], root)
    assert made.status == 0, made.err
    return root


def make_repository(path: Path) -> None:
    """A plugin's repository whose second commit is a migration."""
    path.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

    def git(*arguments: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        subprocess.run(command, cwd=path, check=True, capture_output=True, env=environment)

    git("init", "-q")
    shutil.copy(REPOSITORY / "LICENSE", path / "LICENSE")
    (path / "package.json").write_text('{"name": "dsh-plugin-x", "version": "1.0.0", "license": "MIT"}\n')
    (path / "index.js").write_text("export const inject = ['tasks'];\n")
    git("add", "-A")
    git("commit", "-qm", "before")
    (path / "index.js").write_text("export const inject = ['jobs'];\n")
    git("commit", "-qam", "migrate to the new host")


def content(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def temporary(names: Sequence[str]) -> list[str]:
    return [name for name in names if ".author-tmp-" in name or ".new/" in name or name.endswith(".new")]


@pytest.mark.parametrize("fault", FAULTS)
# `extract` starts git and takes seconds a run: it is for the long drill.
@pytest.mark.parametrize("command", [name for name in COMMANDS if POINTS > 1 or name != "extract"])
def test_a_fault_at_any_change_leaves_old_or_new(
    prepared: Path, tmp_path: Path, command: str, fault: str
) -> None:
    repository = str(prepared.parent / "repository")
    arguments = [repository if word == "<repository>" else word for word in COMMANDS[command]]
    clean = tmp_path / "clean" / "suite"
    shutil.copytree(prepared, clean)
    before = content(clean)
    ended = run(arguments, clean)
    assert ended.status == 0, ended.err
    after = content(clean)
    assert before != after
    assert ended.changes > 0
    points = sorted({1 + round((step + 0.5) * (ended.changes - 1) / POINTS) for step in range(POINTS)})
    for at in points:
        root = tmp_path / f"{at}" / "suite"
        shutil.copytree(prepared, root)
        hit = run(arguments, root, fault=fault, at=at)
        assert "Traceback" not in hit.err, hit.err
        assert "unforeseen" not in hit.err, hit.err
        if fault == "ENOSPC":
            # A command may do without a change, such as a cache; else it says what was wrong.
            assert hit.status in (0, 2), hit.err
            assert hit.status == 0 or "space" in hit.err, hit.err
        now = content(root)
        kept = {name: data for name, data in now.items() if not temporary([name])}
        if fault in ("SIGINT", "ENOSPC"):
            assert kept == now, f"{fault} at {at} left {sorted(now.keys() - kept.keys())}"
        for name, data in kept.items():
            assert data in (before.get(name), after.get(name)), (
                f"{fault} at {at}: {name} is neither old nor new"
            )
        new = [name for name in after.keys() - before.keys() if name.startswith("tasks/")]
        assert [name for name in new if name in kept] in ([], new) or command == "rename", (
            "half a task is visible"
        )
        again = run(arguments, root)
        done = kept.keys() == after.keys() and kept == after
        assert again.status == 0 or done or command in ("rename", "retire"), again.err
        assert temporary(list(content(root))) == [], f"left after the next run ({fault} at {at})"
