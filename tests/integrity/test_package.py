"""Harbor's package digest: which files, which bytes, and equality with Harbor's own."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from harbor_author.integrity import IntegrityError, package_digest, package_files
from tests.conftest import SHARED

NAMES = [
    "a", "b.pyc", "test.sh", "__pycache__", ".DS_Store", "x~", "é", "node_modules", "keep", "z.log", ".harborignore",
    ".gitignore", "sub dir", "!x", "#c",
]  # fmt: skip
PATTERNS = [
    "*.log", "!keep", "/a", "sub*/", "a/", "tests/a", "**/x~", "!*.pyc", "*", "!a", "!*/", "environment/**", "é",
    "\\#c", "\\!x", "a/**/b.pyc", "/tests/*", "!tests/a", "[ab]*", "", "# c", "/steps/",
]  # fmt: skip


def write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write(
        tmp_path / "task",
        "task.toml",
        "instruction.md",
        "tests/test.sh",
        "environment/Dockerfile",
        "notes.md",
    )


def test_the_digest_is_over_paths_and_contents(task: Path) -> None:
    files = ["environment/Dockerfile", "instruction.md", "task.toml", "tests/test.sh"]
    assert package_files(task) == files
    whole = hashlib.sha256()
    for name in files:
        whole.update(f"{name}\0{hashlib.sha256(name.encode()).hexdigest()}\n".encode())
    assert package_digest(task) == f"sha256:{whole.hexdigest()}"


def test_modes_times_empty_directories_and_other_root_files_do_not_count(task: Path) -> None:
    before = package_digest(task)
    (task / "tests" / "test.sh").chmod(0o755)
    os.utime(task / "task.toml", (1, 1))
    (task / "solution" / "empty").mkdir(parents=True)
    write(task, "proof.json", "CHANGES.md", "provenance/x")
    assert package_digest(task) == before
    write(task, "README.md")
    assert package_digest(task) != before


def test_harbors_default_ignores_hold_until_the_task_has_its_own(task: Path) -> None:
    write(
        task,
        "tests/__pycache__/x.py",
        "tests/x.pyc",
        "tests/x.swp",
        "tests/.DS_Store",
        "tests/x~",
        "tests/keep.log",
    )
    assert package_files(task)[-2:] == ["tests/keep.log", "tests/test.sh"]
    (task / ".gitignore").write_text("*.log\n/instruction.md\n")
    assert {"tests/x.pyc", "tests/x~"} <= set(package_files(task))
    assert not {"tests/keep.log", "instruction.md"} & set(package_files(task))


def test_harborignore_holds_in_tests_and_solution_only(task: Path) -> None:
    write(
        task,
        "tests/a.log",
        "tests/sub/b.log",
        "tests/sub/keep.log",
        "environment/a.log",
        "steps/one/solution/a.log",
    )
    for folder in ("tests", "environment", "steps/one/solution"):
        (task / folder / ".harborignore").write_text("*.log\n")
    (task / "tests" / "sub" / ".harborignore").write_text("!keep.log\n")
    assert [name for name in package_files(task) if name.endswith((".log", "ignore"))] == [
        "environment/a.log",
        "tests/sub/keep.log",
    ]


@pytest.mark.parametrize(
    "name", ["tests/link", "README.md", "environment/link", ".gitignore", "tests/.harborignore"]
)
def test_links_and_special_files_are_refused(task: Path, name: str, tmp_path: Path) -> None:
    write(tmp_path, "outside")
    (task / name).symlink_to(tmp_path / "outside")
    with pytest.raises(IntegrityError, match="symbolic link"):
        package_digest(task)
    (task / name).unlink()
    os.mkfifo(task / name)
    with pytest.raises(IntegrityError, match="not a regular file"):
        package_digest(task)


def test_a_link_that_is_left_out_does_not_matter(task: Path) -> None:
    before = package_digest(task)
    (task / "tests" / "x~").symlink_to("/etc/passwd")
    (task / "elsewhere").symlink_to("/etc")
    assert package_digest(task) == before


@pytest.mark.parametrize("text", [b"\xff", b"*a" * 9, b"**/" * 9 + b"x", b"x\n" * 40_000])
def test_ignore_files_that_cannot_be_read_in_bounded_time_are_refused(task: Path, text: bytes) -> None:
    (task / ".gitignore").write_bytes(text)
    with pytest.raises(IntegrityError, match="gitignore"):
        package_digest(task)


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="is not a directory"):
        package_digest(tmp_path / "none")


def fill(folder: Path, chance: random.Random, depth: int) -> None:
    folder.mkdir(exist_ok=True)
    for name in chance.sample(NAMES, chance.randint(0, 6)):
        path = folder / name
        if name in (".harborignore", ".gitignore"):
            path.write_text("\n".join(chance.choices(PATTERNS, k=chance.randint(0, 4))))
        elif depth and chance.random() < 0.5:
            fill(path, chance, depth - 1)
        elif not path.exists():
            path.write_text(str(chance.random()))


PEER = """
import json, pathlib, sys
from harbor.publisher.packager import Packager
tasks = sorted(pathlib.Path(sys.argv[1]).iterdir())
print(json.dumps({task.name: "sha256:" + Packager.compute_content_hash(task)[0] for task in tasks}))
"""


@pytest.mark.parity
def test_the_digest_equals_harbors_own(tmp_path: Path) -> None:
    peer = SHARED / "tools" / "harbor-peer"
    if not peer.is_file():
        pytest.skip(f"{peer} is not there")
    subprocess.run([peer, "setup"], check=True, capture_output=True)
    folder = tmp_path / "tasks"
    folder.mkdir()
    chance = random.Random(11)
    for number in range(150):
        task = write(folder / f"t{number}", "task.toml")
        for name in ("instruction.md", "README.md", "trajectory.json"):
            if chance.random() < 0.7:
                write(task, name)
        if chance.random() < 0.6:
            (task / ".gitignore").write_text("\n".join(chance.choices(PATTERNS, k=chance.randint(0, 5))))
        for name in ("environment", "tests", "solution", "steps", "other"):
            fill(task / name, chance, 3)
        for name in ("one", "two"):
            if not (task / "steps" / name).is_file():
                for part in ("tests", "solution"):
                    (task / "steps" / name).mkdir(exist_ok=True)
                    fill(task / "steps" / name / part, chance, 2)
    image = f"harbor-peer:{os.environ.get('HARBOR_VERSION', '0.26.0')}"
    command = ["docker", "run", "--rm", "--network", "none", "-v", f"{folder}:{folder}:ro", image]
    done = subprocess.run(
        [*command, "python3", "-c", PEER, folder], check=True, capture_output=True, text=True
    )
    assert {task.name: package_digest(task) for task in folder.iterdir()} == json.loads(done.stdout)
