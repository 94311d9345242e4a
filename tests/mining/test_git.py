"""Repositories of every kind, and those that mean harm, read through `mining.git`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_author.mining import MiningError
from harbor_author.mining.git_open import open_repository
from tests.mining.history import History, git


def two_commits(path: Path, *, bare: bool = True) -> dict[int, str]:
    history = History(path, bare=bare)
    history.commit("one", {"a.txt": "1\n", "d/b.bin": b"\x00\xff"})
    history.commit("two\n\nbody", {"a.txt": "2\n", "d/b.bin": None, "ünï 'quoted'.txt": "x"})
    return history.write()


def read_everything(path: Path) -> None:
    with open_repository(path) as repository, repository.blobs() as blobs:
        for logged in repository.log("HEAD"):
            blobs.read_many([change.new for change in logged.changes if change.new])


def test_log_gives_each_commit_with_its_changes(tmp_path: Path) -> None:
    marks = two_commits(tmp_path / "r")
    with open_repository(tmp_path / "r") as repository:
        newest, oldest = repository.log("HEAD")
    assert (newest.commit.oid, oldest.commit.oid) == (marks[2], marks[1])
    assert newest.commit.parents == (marks[1],)
    assert newest.commit.message == "two\n\nbody\n" or newest.commit.message == "two\n\nbody"
    assert [(change.path.decode(), change.old is None, change.new is None) for change in newest.changes] == [
        ("a.txt", False, False),
        ("d/b.bin", False, True),
        ("ünï 'quoted'.txt", True, False),
    ]


def test_a_commit_without_changes_does_not_swallow_the_next(tmp_path: Path) -> None:
    history = History(tmp_path / "r")
    history.commit("one", {"a": "1"})
    history.commit("nothing", {})
    history.commit(":100644 looks like a raw line", {"a": "2"})
    marks = history.write()
    with open_repository(tmp_path / "r") as repository:
        seen = [(logged.commit.oid, len(logged.changes)) for logged in repository.log("HEAD")]
    assert seen == [(marks[3], 1), (marks[2], 0), (marks[1], 1)]


def test_blobs_come_byte_for_byte_and_large_ones_are_skipped(tmp_path: Path) -> None:
    history = History(tmp_path / "r")
    contents = [b"", b"no newline", b"crlf\r\n", bytes(range(256)), b"x" * 300_000]
    history.commit("one", {f"f{index}": content for index, content in enumerate(contents)})
    history.write()
    with open_repository(tmp_path / "r") as repository, repository.blobs() as blobs:
        entries = repository.tree(repository.tree_id("HEAD"))
        assert [blobs.read(entry.oid) for entry in entries] == contents
        assert blobs.read_many([entries[4].oid.encode(), entries[0].oid.encode()], max_bytes=1000) == [
            None,
            b"",
        ]


def test_more_blobs_than_a_pipe_holds(tmp_path: Path) -> None:
    history = History(tmp_path / "r")
    history.commit("one", {f"{index:05}": f"{index}" * 50 for index in range(3000)})
    history.write()
    with open_repository(tmp_path / "r") as repository, repository.blobs() as blobs:
        entries = repository.tree(repository.tree_id("HEAD"))
        read = blobs.read_many([entry.oid.encode() for entry in entries])
    assert read == [f"{index}".encode() * 50 for index in range(3000)]


@pytest.mark.parametrize("kind", ["bare", "work tree", "folder below", "linked worktree", "packed"])
def test_kinds_of_repository(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "r"
    marks = two_commits(path, bare=kind in ("bare", "packed"))
    if kind == "folder below":
        (path / "deep" / "er").mkdir(parents=True)
        path = path / "deep" / "er"
    elif kind == "linked worktree":
        git(path, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), marks[1])
        path = tmp_path / "linked"
    elif kind == "packed":
        git(path, "gc", "--quiet")
        git(path, "pack-refs", "--all")
    with open_repository(path) as repository:
        assert repository.resolve("HEAD") == marks[1 if kind == "linked worktree" else 2]
        assert repository.resolve("main~1") == marks[1]


def test_hostile_configuration_has_no_effect(tmp_path: Path) -> None:
    path = tmp_path / "r"
    marks = two_commits(path, bare=False)
    witness = tmp_path / "witness"
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho caught >> {witness}\ncat\n")
    trap.chmod(0o755)
    (path / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        (path / ".git" / "hooks" / hook).write_text(trap.read_text())
        (path / ".git" / "hooks" / hook).chmod(0o755)
    (path / ".git" / "info").mkdir(exist_ok=True)
    (path / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    settings = {
        "core.fsmonitor": trap,
        "core.pager": trap,
        "pager.log": trap,
        "core.sshCommand": trap,
        "core.hooksPath": path / ".git" / "hooks",
        "core.alternateRefsCommand": trap,
        "diff.external": trap,
        "diff.evil.command": trap,
        "diff.evil.textconv": trap,
        "filter.evil.smudge": trap,
        "filter.evil.clean": trap,
        "gpg.program": trap,
        "log.showSignature": "true",
        "log.diffMerges": "combined",
        "format.pretty": "raw",
        "diff.orderFile": trap,
        "diff.renames": "copies",
        "credential.helper": trap,
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
        "uploadpack.packObjectsHook": trap,
        "core.repositoryformatversion": "1",
        "alias.log": f"!{trap}",
        "include.path": trap,
    }
    config = path / ".git" / "config"
    for key, value in settings.items():
        git(path, "config", "--file", str(config), key, str(value))
    with open_repository(path) as repository, repository.blobs() as blobs:
        logged = list(repository.log("HEAD"))
        assert [entry.commit.oid for entry in logged] == [marks[2], marks[1]]
        assert blobs.read(repository.tree(repository.tree_id("HEAD"))[0].oid) == b"2\n"
        assert repository.remote() is None
        with pytest.raises(MiningError, match="missing"):
            blobs.read("1" * 40)
    assert not witness.exists()


def test_replaced_and_grafted_commits_are_read_as_they_were_made(tmp_path: Path) -> None:
    path = tmp_path / "r"
    marks = two_commits(path)
    git(path, "replace", marks[2], marks[1])
    (path / "info").mkdir(exist_ok=True)
    (path / "info" / "grafts").write_text(f"{marks[2]}\n")
    with open_repository(path) as repository:
        assert repository.commit(marks[2]).parents == (marks[1],)


def test_variables_of_the_caller_do_not_reach_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = two_commits(tmp_path / "r")
    two_commits(tmp_path / "other")
    for name, value in {
        "GIT_DIR": tmp_path / "other",
        "GIT_OBJECT_DIRECTORY": tmp_path,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "nonsense",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_TRACE": "1",
    }.items():
        monkeypatch.setenv(name, str(value))
    with open_repository(tmp_path / "r") as repository:
        assert repository.resolve("HEAD") == marks[2]


def test_nothing_is_written_into_the_repository(tmp_path: Path) -> None:
    path = tmp_path / "r"
    two_commits(path)
    before = {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in path.rglob("*")}
    read_everything(path)
    assert {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in path.rglob("*")} == before


def test_what_is_no_usable_repository_is_told_in_a_sentence(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet", "--bare")
    two_commits(tmp_path / "full")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path / 'full'}", str(tmp_path / "shallow"))
    headless = tmp_path / "headless"
    two_commits(headless)
    (headless / "HEAD").write_bytes(b"\x00\x01 nonsense")
    for path, words in {
        tmp_path / "absent": "does not exist",
        plain: "not a git repository",
        empty: "no commits",
        tmp_path / "shallow": "shallow",
        headless: "damaged",
    }.items():
        with pytest.raises(MiningError, match=words), open_repository(path):
            pass


@pytest.mark.parametrize("what", ["commit", "tree", "blob"])
@pytest.mark.parametrize("how", ["gone", "garbage"])
def test_damaged_objects_are_an_error_and_no_short_answer(tmp_path: Path, what: str, how: str) -> None:
    path = tmp_path / "r"
    marks = two_commits(path)
    suffix = {"commit": "^{commit}", "tree": "^{tree}", "blob": ":a.txt"}[what]
    oid = git(path, "rev-parse", marks[1] + suffix).decode().strip()
    file = path / "objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.unlink() if how == "gone" else file.write_bytes(b"garbage")
    with pytest.raises(MiningError):
        read_everything(path)


def test_without_git_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_commits(tmp_path / "r")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MiningError, match="git is not installed"), open_repository(tmp_path / "r"):
        pass


@pytest.mark.parametrize("name", ["../up", "a/.git/config", ".GIT/hooks/x", "nl\nname", "back\\slash"])
def test_names_that_would_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "r"
    two_commits(path)
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    tree = blob
    for index, part in enumerate(reversed(name.split("/"))):
        kind = "100644 blob" if index == 0 else "040000 tree"
        tree = git(path, "mktree", "-z", stdin=f"{kind} {tree}\t{part}\0".encode()).decode().strip()
    with open_repository(path) as repository, pytest.raises(MiningError, match="written safely"):
        repository.tree(tree)


@pytest.mark.parametrize("revision", ["", "--all", "nothing-of-the-kind", "HEAD\n", "HEAD:a.txt"])
def test_what_names_no_commit(tmp_path: Path, revision: str) -> None:
    two_commits(tmp_path / "r")
    with open_repository(tmp_path / "r") as repository, pytest.raises(MiningError):
        repository.resolve(revision)


def test_the_address_comes_without_a_password(tmp_path: Path) -> None:
    path = tmp_path / "r"
    two_commits(path)
    git(path, "config", "remote.origin.url", "https://user:secret@forge.test/a/b.git")
    with open_repository(path) as repository:
        assert repository.remote() == "https://forge.test/a/b.git"
