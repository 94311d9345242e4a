"""Verdicts that are kept from run to run: as if nothing were kept, whatever changes."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_author.checks import Report, engine, external, validate
from harbor_author.suite import find_suite
from tests.checks.support import Draft, git, sound_suite, sound_task, task_at
from tests.conftest import AuthorRunner

DAY = datetime.date(2026, 3, 1)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/harbor-author/verdicts-1.json"


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks whose rules ran."""
    names: list[str] = []
    run = external.Run.__init__

    def noted(self: external.Run, tasks: list) -> None:
        names.extend(files.task.name for files in tasks)
        run(self, tasks)

    monkeypatch.setattr(external.Run, "__init__", noted)
    return names


def check(root: Path, *, remember: bool = True, today: datetime.date = DAY, **options: object) -> Report:
    """A run of its own: the suite is read anew."""
    if (root / "author.toml").exists():
        suite = find_suite(root)
        return validate(suite.tasks(), suite=suite, today=today, remember=remember, **options)
    return validate([task_at(root)], today=today, remember=remember, **options)


def test_what_nothing_touched_is_not_checked_again(tmp_path: Path, looked: list[str]) -> None:
    draft = sound_task(tmp_path / "words")
    draft.change("task.toml", "cpus = 1", 'cpus = "many"')
    first = check(draft.root)
    assert looked == ["words"]
    assert check(draft.root) == first == check(draft.root, remember=False)
    assert first.findings
    assert looked == ["words", "words"]


TOUCHES: dict[str, Callable[[Draft], object]] = {
    "a byte of a file": lambda d: d.change("task.toml", "cpus = 1", "cpus = 2"),
    "a file more": lambda d: d.write("tests/rewards.json", "{}"),
    "a file less": lambda d: (d.root / "solution/solve.sh").unlink(),
    "a folder more": lambda d: (d.root / "environment/empty").mkdir(),
    "a mode": lambda d: (d.root / "tests/test.sh").chmod(0o644),
    "a name": lambda d: (d.root / "instruction.md").rename(d.root / "Instruction.md"),
    "a link": lambda d: (d.root / "environment/link").symlink_to("/etc/passwd"),
    "a pipe": lambda d: os.mkfifo(d.root / "environment/pipe"),
    "a git folder": lambda d: (d.root / "environment/.git").mkdir(),
    "an ignoring file above": lambda d: (d.root.parent / ".gitignore").write_text("*.sh\n"),
}


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_a_touched_task_is_checked_again(
    tmp_path: Path, looked: list[str], touch: Callable[[Draft], object]
) -> None:
    draft = sound_task(tmp_path / "all" / "words")
    check(draft.root)
    looked.clear()
    touch(draft)
    assert check(draft.root) == check(draft.root, remember=False)
    assert looked == ["words"] * 2


def test_same_size_and_same_time_are_no_alibi(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    check(draft.root)
    path = draft.root / "task.toml"
    before = path.stat()
    draft.change("task.toml", "cpus = 1", "cpus = x")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not check(draft.root).ok


def test_a_change_of_the_index_is_noticed(tmp_path: Path) -> None:
    """A script that git's index holds without its executable bit."""
    draft = sound_task(tmp_path / "top" / "words")
    draft.change(
        "environment/Dockerfile", "WORKDIR /app", 'WORKDIR /app\nCOPY run.sh /run.sh\nCMD ["/run.sh"]'
    )
    draft.write("environment/run.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    git(tmp_path / "top", "init", "-q")
    git(tmp_path / "top", "add", "-A")
    first = check(draft.root)
    git(tmp_path / "top", "update-index", "--chmod=-x", "words/environment/run.sh")
    second = check(draft.root)
    assert second == check(draft.root, remember=False)
    assert second != first


@pytest.mark.parametrize(
    "touch",
    [
        lambda root: (root / "author.toml").write_text(
            (root / "author.toml").read_text() + '\n[validate]\nseverity = {harbor = "note"}\n'
        ),
        lambda root: (root / "references/v0.1.2-alpha.1.md").write_text("# nothing\n"),
        lambda root: (root / "references/more.md").write_text("## DSH-0.1.2-A1-01 twice\n"),
        lambda root: (root / "tasks/H10-other").mkdir(),
    ],
    ids=["settings", "a card less", "a card file more", "a task more"],
)
def test_what_the_suite_says_counts(
    tmp_path: Path, looked: list[str], touch: Callable[[Path], object]
) -> None:
    root = tmp_path / "suite"
    sound_suite(root)
    check(root)
    looked.clear()
    touch(root)
    assert check(root) == check(root, remember=False)
    assert looked.count("H9-trap") == 2


def test_a_place_outside_that_a_link_names_is_looked_at_each_time(tmp_path: Path) -> None:
    root = tmp_path / "suite"
    draft = sound_suite(root)
    (root / "docs.md").write_text("# here\n")
    draft.write("README.md", (draft.root / "README.md").read_text() + "\n[docs](../../docs.md)\n")
    before = check(root)
    (root / "docs.md").unlink()
    after = check(root)
    assert after == check(root, remember=False)
    assert after != before


def test_options_and_the_day_count(tmp_path: Path) -> None:
    draft = sound_task(tmp_path / "words")
    draft.change("task.toml", "cpus = 1", 'cpus = "many"')
    ignoring = draft.root / "task.toml"
    ignoring.write_text(
        ignoring.read_text()
        + '\n[metadata.author.ignore]\ninvalid-task-config = {reason = "x", until = 2026-03-01}\n'
    )
    assert check(draft.root).ok
    assert not check(draft.root, today=DAY + datetime.timedelta(1)).ok
    assert check(draft.root).ok
    draft.change("task.toml", 'reason = "x", until = 2026-03-01', 'reason = "x", until = 2026-02-01')
    assert not check(draft.root).ok
    assert check(draft.root, ignore=["invalid-task-config"]).ok
    assert check(draft.root, severity={"invalid-task-config": "note"}).ok
    assert not check(draft.root).ok


def test_suppressions_of_the_suite_stay_used(tmp_path: Path) -> None:
    root = tmp_path / "suite"
    draft = sound_suite(root)
    draft.change("task.toml", "cpus = 1", 'cpus = "many"')
    with (root / "author.toml").open("a") as stream:
        stream.write('\n[[validate.suppress]]\nrule = "invalid-task-config"\nreason = "wanted"\n')
    assert check(root) == check(root) == check(root, remember=False)
    draft.change("task.toml", 'cpus = "many"', "cpus = 1")
    assert [f.rule for f in check(root).findings] == ["unused-suppression"]


def test_two_tasks_of_one_name_are_told_each_time(tmp_path: Path) -> None:
    one = sound_task(tmp_path / "one")
    shutil.copytree(one.root, tmp_path / "two")
    tasks = [task_at(tmp_path / name) for name in ("one", "two")]
    first = validate(tasks, select=["harbor"], today=DAY, remember=True)
    assert "duplicate-task-name" in {f.rule for f in first.findings}
    assert validate(tasks, select=["harbor"], today=DAY, remember=True) == first


def test_another_version_of_a_program_is_asked_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, author: AuthorRunner
) -> None:
    draft = sound_task(tmp_path / "words")
    draft.write("tests/helper.sh", "#!/bin/bash\nif true; then\n")
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "bash").write_text("#!/bin/sh\n")
    (bare / "bash").chmod(0o755)
    for name in ("git", "sh"):
        (bare / name).symlink_to(shutil.which(name) or name)
    first = author("validate", draft.root, "--json", env={"PATH": str(bare)})
    second = author("validate", draft.root, "--json")
    assert "shell-syntax" in {f["rule"] for f in json.loads(second.out)["findings"]}
    assert first.out != second.out


@pytest.mark.parametrize("text", ["", "[]", "null", '{"a": 1}', "[" * 100_000, "\xff"])
def test_a_spoilt_memory_costs_nothing_but_time(tmp_path: Path, cache: Path, text: str) -> None:
    draft = sound_task(tmp_path / "words")
    first = check(draft.root)
    known = json.loads(cache.read_text())
    cache.write_text(text, encoding="latin-1")
    assert check(draft.root) == first
    cache.write_text(json.dumps({key: [[["too", "short"]], 1] for key in known}))
    assert check(draft.root) == first


def test_a_rule_that_crashed_is_tried_again(tmp_path: Path, looked: list[str], cache: Path) -> None:
    draft = sound_task(tmp_path / "words")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine._Work, "apply", _crash(engine._Work.apply))
        assert "rule-crashed" in {f.rule for f in check(draft.root).findings}
    assert check(draft.root).ok
    assert looked == ["words"] * 2


def _crash(apply: Callable) -> Callable:
    def crashing(self: object, rules: list, files: object) -> object:
        from dataclasses import replace

        def broken(_: object) -> object:
            raise ValueError("broken")

        return apply(self, [replace(rule, check=broken) for rule in rules], files)

    return crashing


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if true; then echo a; fi\n", "if true; then echo b; echo\n"),
        ("[[ a -eq b ]]\n", "[[ a -xx b ]]\n"),
        ("[[ (-f a) ]]\n", "[[ (-q a) ]]\n"),
        ("declare a=(1 2)\n", "echo a=(1 2)\n"),
        ("for a in b; do c; done\n", "for a on b; do c; done\n"),
        ("for a in b; do c; done\n", "for 1a in b; do c; done\n"),
        ("cat <<A\nfi\nA\n", "cat <<B\nfi\nA\nB\nfi\n"),
        ("function a { b; }\n", "functions a { b; }\n"),
        ("echo a-b\n", "echo a(b\n"),
        ("x=a fi\n", "x=a; fi\n"),
    ],
)
def test_scripts_that_bash_takes_differently_share_no_verdict(tmp_path: Path, one: str, other: str) -> None:
    """bash is asked about one script of a shape; that must never pass for a faulty one, in either order."""
    for number, texts in enumerate(((one, other), (other, one))):
        tasks = []
        for name, text in zip("ab", texts, strict=True):
            draft = sound_task(tmp_path / str(number) / name)
            draft.script("tests/helper.sh", f"#!/bin/bash\n# {number}\n{text}")
            tasks.append(task_at(draft.root))
        found = {Path(f.path).parts[-3] for f in validate(tasks, select=["shell-syntax"], jobs=1).findings}
        wanted = {
            name
            for name, text in zip("ab", texts, strict=True)
            if subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False).stderr
        }
        assert found == wanted, texts


def test_each_faulty_script_of_a_shape_is_told_by_its_own_words(tmp_path: Path) -> None:
    tasks = []
    for name in ("amber", "basil", "cedar"):
        draft = sound_task(tmp_path / name)
        draft.script("tests/helper.sh", f"#!/bin/bash\necho {name} ) {name}\n")
        tasks.append(task_at(draft.root))
    found = validate(tasks, select=["shell-syntax"], jobs=1).findings
    assert [Path(f.path).parts[-3] for f in found] == ["amber", "basil", "cedar"]
