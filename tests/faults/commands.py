"""The commands that write, each with a suite on which it has something to write."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import REPOSITORY
from tests.faults.injection import run


@dataclass(frozen=True)
class Writer:
    """A command line; `<repository>` stands for a plugin's repository beside the suite.

    Attributes:
        prepare: changes the copy of the suite that it runs in.
        status: its exit status when all goes well.
        again: whether a second run after a whole one does well, too; else it says that it is done already.
        slow: it takes seconds a run, and is for the long drill.
    """

    arguments: tuple[str, ...]
    prepare: Callable[[Path], None] = field(default=lambda _: None)
    status: int = 0
    again: bool = True
    slow: bool = False

    def words(self, repository: Path) -> list[str]:
        return [str(repository) if word == "<repository>" else word for word in self.arguments]


def _carriage_returns(root: Path) -> None:
    for name in ("tests/test.sh", "solution/solve.sh", "instruction.md"):
        path = root / "tasks" / "H23-first" / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _old_library(root: Path) -> None:
    path = root / "tasks" / "H23-first" / "tests" / "judge-utils.mjs"
    path.write_text(path.read_text() + "// edited\n")


def _folder_of_tasks(root: Path) -> None:
    (root / "author.toml").unlink()


def _ready(root: Path) -> None:
    from harbor_author.suite import Task, find_suite

    task = root / "tasks" / "H23-first"
    for path in task.rglob("*"):
        if path.is_file() and b"TODO(author)" in path.read_bytes():
            path.write_text(re.sub(r"TODO\(author\):?", "Said:", path.read_text()))
    done = run(["sync"], root)
    assert done.status == 0, done.err
    prove(Task(task, find_suite(root)))


def prove(task: object) -> None:
    """Write the receipt of a whole matrix that passed."""
    from harbor_author.proof.receipts import gather_inputs, write_receipt
    from harbor_author.proof.verdict import Trial
    from harbor_author.suite import Task

    assert isinstance(task, Task)
    names = ["untouched", "oracle", *(f"oracle#{number}" for number in range(2, 6)), "forged"]
    trials = [
        Trial(name, "pass", float("oracle" in name), "1" if "oracle" in name else "0") for name in names
    ]
    extra = {"repeats": {"oracle": {"1": 5}}, "ablation": {"killed": 1, "total": 1, "changes": {}}}
    write_receipt(task, gather_inputs(task, {}), trials, verdict="pass", cause=None, extra=extra)


WRITERS = {
    "new": Writer(("new", "--series", "H", "--slug", "fresh", "--title", "Fresh")),
    "sync": Writer(("sync",)),
    "manifest": Writer(("manifest",)),
    "retire": Writer(("retire", "H23", "--reason", "leaked"), again=False),
    "rename": Writer(("rename", "H23", "H23-renamed"), again=False),
    "fix": Writer(("fix",), prepare=_carriage_returns),
    "vendor": Writer(("vendor", "--update", "--force"), prepare=_old_library),
    "import": Writer(("import",), prepare=_folder_of_tasks, again=False),
    "init": Writer(("init", "inner"), again=False),
    "new-decoy": Writer(("new-decoy", "H23", "by-name"), again=False),
    "report": Writer(("report",), slow=True),
    "publish": Writer(("publish", "H23"), prepare=_ready, slow=True),
    "extract": Writer(("extract", "<repository>", "HEAD", "--series", "M", "--slug", "migrated"), slow=True),
}


def make_suite(root: Path) -> None:
    """A suite with a task and two registers that are not true; beside it, a plugin's repository."""
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
