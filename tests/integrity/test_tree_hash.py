"""Requirements 44 to 64: the tree hash."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import tracemalloc
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harbor_author.integrity import Evidence, IntegrityError, copy_tree, tree_hash, with_fixture_copy
from harbor_author.integrity.tree import IGNORED_NAMES, MAX_DEPTH
from tests.conftest import REPOSITORY
from tests.integrity.support import PREFIX

READERS = Path(__file__).parent
#: Any name that a tree may hold: no slash, no NUL, in normalisation form C, UTF-8.
NAMES = (
    st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=12)
    .map(lambda name: unicodedata.normalize("NFC", name))
    .filter(lambda name: name not in (".", "..") and "/" not in name and len(name.encode()) < 200)
)
FILES = st.tuples(st.binary(max_size=40), st.booleans())
TREES = st.recursive(
    st.dictionaries(NAMES, FILES, max_size=4),
    lambda inner: st.dictionaries(NAMES, FILES | inner, max_size=4),
    max_leaves=12,
)
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def folded(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def build(folder: Path, tree: dict[str, Any]) -> None:
    """Write a tree, without names that would be refused beside one already there."""
    folder.mkdir()
    taken: set[str] = set()
    for name, content in tree.items():
        if folded(name) in taken:
            continue
        taken.add(folded(name))
        path = folder / name
        if isinstance(content, dict):
            build(path, content)
        else:
            path.write_bytes(content[0])
            path.chmod(0o755 if content[1] else 0o644)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    build(folder, {"a": (b"one", False), "b": {"c": (b"two", True), "empty": {}}, ".hidden": (b"", False)})
    return folder


def reader(name: str, folder: Path) -> str:
    command = {
        "sh": ["bash", READERS / "tree_hash_reader.sh"],
        "node": ["node", READERS / "tree_hash_reader.mjs"],
    }[name]
    return subprocess.run([*command, folder], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@settings(FEW, max_examples=25)
@example(tree={"a\nb": (b"x", True), "é": {"\x1b[31m": (b"\r\n", False)}, "a": {}, "a.b": (b"", False)})
@given(tree=TREES)
def test_r44_r46_a_second_reader_of_the_specification_agrees(tree: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder, "t"), tree)
        assert reader("sh", Path(folder, "t")) == tree_hash(Path(folder, "t"))


@pytest.mark.slow
@pytest.mark.node
@settings(FEW, max_examples=10)
@example(
    tree={"\U0001f600": (b"", False), "\uff21": (b"", True), "z/": {}} and {"\U0001f600": {}, "\uffee": {}}
)
@given(tree=TREES)
def test_r44_r60_a_reader_in_another_language_agrees(tree: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder, "t"), tree)
        assert reader("node", Path(folder, "t")) == tree_hash(Path(folder, "t"))


def test_r44_the_specifications_example(tmp_path: Path) -> None:
    (tmp_path / "t" / "data").mkdir(parents=True)
    (tmp_path / "t" / "run.sh").write_bytes(b"hi\n")
    (tmp_path / "t" / "run.sh").chmod(0o755)
    text = (REPOSITORY / "docs" / "tree-hash.md").read_text()
    assert re.findall(r"gives `(th1:[0-9a-f]{64})`", text) == [tree_hash(tmp_path / "t")]


@pytest.mark.parametrize("order", ["reversed", "sorted", "by length"])
def test_r45_r132_the_file_systems_order_is_no_matter(
    tree: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    before = tree_hash(tree)
    real = os.scandir

    class Listing:
        def __init__(self, where: Any) -> None:
            key = {"reversed": lambda e: [-ord(c) for c in e.name], "sorted": lambda e: e.name}.get(
                order, lambda e: len(e.name)
            )
            with real(where) as listing:
                self.entries = sorted(listing, key=key)

        def __enter__(self) -> Iterator[Any]:
            return iter(self.entries)

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Listing)
    assert tree_hash(tree) == before


def test_r46_path_type_and_bytes_count(tree: Path) -> None:
    seen = {tree_hash(tree)}
    (tree / "a").write_bytes(b"onE")
    seen.add(tree_hash(tree))
    (tree / "a").unlink()
    seen.add(tree_hash(tree))
    (tree / "a").write_bytes(b"")
    seen.add(tree_hash(tree))
    (tree / "a").unlink()
    (tree / "a").mkdir()
    seen.add(tree_hash(tree))
    assert len(seen) == 5


def test_r47_r52_r132_a_pure_change_of_the_executable_bit_counts(tree: Path) -> None:
    before = tree_hash(tree)
    (tree / "a").chmod(0o600)
    assert tree_hash(tree) == before
    (tree / "a").chmod(0o744)
    assert tree_hash(tree) != before


def test_r48_fields_cannot_flow_into_each_other(tmp_path: Path) -> None:
    build(tmp_path / "1", {"ab": (b"c", False)})
    build(tmp_path / "2", {"a": (b"bc", False)})
    build(tmp_path / "3", {"a": {"b": (b"", False)}})
    build(tmp_path / "4", {"a": {}, "a:b": (b"", False)})
    build(tmp_path / "5", {"a,1:f,1:-,0:,": (b"", False)})
    assert len({tree_hash(tmp_path / str(number)) for number in range(1, 6)}) == 5


@pytest.mark.parametrize("separator", ["", ",", "\n"])
def test_r48_one_name_cannot_stand_for_two_files(tmp_path: Path, separator: str) -> None:
    build(tmp_path / "two", {"a": (b"x", False), "b": (b"y", False)})
    # Written one after the other without lengths, the fields of both files read like this one's.
    name = separator.join(["a", "f", "-", hashlib.sha256(b"x").hexdigest(), "b"])
    build(tmp_path / "one", {name: (b"y", False)})
    assert tree_hash(tmp_path / "one") != tree_hash(tmp_path / "two")


@FEW
@given(first=TREES, second=TREES)
def test_r48_different_trees_have_different_hashes(first: dict[str, Any], second: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder, "1"), first)
        build(Path(folder, "2"), second)
        same = listing(Path(folder, "1")) == listing(Path(folder, "2"))
        assert (tree_hash(Path(folder, "1")) == tree_hash(Path(folder, "2"))) is same


def listing(folder: Path) -> list[tuple[str, object]]:
    return sorted(
        (
            path.relative_to(folder).as_posix(),
            (path.read_bytes(), path.stat().st_mode) if path.is_file() else "",
        )
        for path in folder.rglob("*")
        if not IGNORED_NAMES & set(path.relative_to(folder).parts)
    )


def test_r49_paths_have_forward_slashes_and_utf8(tmp_path: Path) -> None:
    build(tmp_path / "1", {"a": {"é": (b"", False)}})
    build(tmp_path / "2", {"a\\é": (b"", False), "a": {}})
    assert tree_hash(tmp_path / "1") != tree_hash(tmp_path / "2")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/1/\xff")).touch()
    with pytest.raises(IntegrityError, match=r"\\xff: has a name that is not UTF-8"):
        tree_hash(tmp_path / "1")


def test_r50_r51_r132_renames_and_swaps_are_seen(tree: Path) -> None:
    seen = {tree_hash(tree)}
    (tree / "a").rename(tree / "aa")
    seen.add(tree_hash(tree))
    (tree / "aa").rename(tree / "b" / "a")
    seen.add(tree_hash(tree))
    shutil.copy(tree / "b" / "a", tree / "a")
    seen.add(tree_hash(tree))
    assert len(seen) == 4


@FEW
@given(tree=TREES, data=st.data())
def test_r50_any_rename_is_seen(tree: dict[str, Any], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "t")
        build(root, tree)
        before = tree_hash(root)
        nodes = [path for path, _ in listing(root)]
        if not nodes:
            return
        victim = root / data.draw(st.sampled_from(nodes))
        victim.rename(victim.with_name("renamed-to-a-name-that-is-longer"))
        assert tree_hash(root) != before


def test_r53_empty_directories_count(tree: Path) -> None:
    before = tree_hash(tree)
    (tree / "b" / "empty").rmdir()
    assert tree_hash(tree) != before


def test_r54_line_endings_are_bytes(tree: Path) -> None:
    (tree / "a").write_bytes(b"x\n")
    before = tree_hash(tree)
    (tree / "a").write_bytes(b"x\r\n")
    assert tree_hash(tree) != before


@pytest.mark.parametrize("name", sorted(IGNORED_NAMES))
def test_r55_the_ignored_set_leaves_no_trace(tree: Path, name: str) -> None:
    before = tree_hash(tree)
    (tree / "b" / name).mkdir()
    (tree / "b" / name / "x").write_text("x")
    os.mkfifo(tree / "b" / name / "fifo")
    assert tree_hash(tree) == before
    shutil.rmtree(tree / "b" / name)
    (tree / name).write_text("a file of that name")
    assert tree_hash(tree) == before


def test_r56_no_task_can_extend_the_ignored_set(tree: Path) -> None:
    seen = set()
    for name in (".gitignore", ".harborignore", ".dockerignore", ".author-ignore"):
        (tree / name).write_text("*\n")
    seen.add(tree_hash(tree))
    (tree / "a").write_bytes(b"hidden change")
    seen.add(tree_hash(tree))
    for name in ("dist", "build", ".GIT", "node_modules2"):
        (tree / name).mkdir()
        seen.add(tree_hash(tree))
    assert len(seen) == 6
    specified = (REPOSITORY / "docs" / "tree-hash.md").read_text()
    assert all(f"`{name}`" in specified for name in IGNORED_NAMES)


@pytest.mark.parametrize("target", ["a", "none", "/etc/passwd", "..", "link", "b"])
def test_r57_r131_r132_every_link_is_refused_by_hash_and_copy(
    tree: Path, tmp_path: Path, target: str
) -> None:
    (tree / "b" / "link").symlink_to(target)
    for work in (tree_hash, lambda path: copy_tree(path, tmp_path / "copy")):
        with pytest.raises(IntegrityError, match="b/link: is a symbolic link"):
            work(tree)
    assert not (tmp_path / "copy").exists()
    (tmp_path / "alias").symlink_to(tree)
    with pytest.raises(IntegrityError, match="is a symbolic link"):
        tree_hash(tmp_path / "alias")


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_r57_special_files_are_refused_and_not_opened(tree: Path, kind: str) -> None:
    path = tree / "b" / "special"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            here = Path.cwd()
            os.chdir(path.parent)  # a socket's address is short
            try:
                server.bind("special")
            finally:
                os.chdir(here)
    else:
        try:
            os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root makes devices")
    with pytest.raises(IntegrityError, match="b/special: is a"):
        tree_hash(tree)


def test_r57_a_file_that_is_swapped_for_a_link_while_walking_is_noticed(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, swapped = os.open, []

    def racing(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if path == "c" and not swapped:
            swapped.append((tree / "b" / "c").rename(tree / "b" / "d"))
            (tree / "b" / "c").symlink_to("/etc/passwd")
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", racing)
    with pytest.raises(IntegrityError, match="b/c"):
        tree_hash(tree)
    assert swapped


@pytest.mark.parametrize(
    ("first", "second"), [("readme", "README"), ("straße", "STRASSE"), ("é", "É"), ("ﬁ", "FI"), ("K", "k")]
)
def test_r59_names_that_differ_by_case_alone_are_refused(tree: Path, first: str, second: str) -> None:
    (tree / first).touch()
    tree_hash(tree)
    (tree / "b" / second).touch()
    tree_hash(tree)  # in another directory
    (tree / second).touch()
    with pytest.raises(IntegrityError, match="by case alone"):
        tree_hash(tree)


def test_r60_one_normalisation_form(tree: Path) -> None:
    (tree / unicodedata.normalize("NFC", "é")).touch()
    tree_hash(tree)
    (tree / unicodedata.normalize("NFD", "ö")).touch()
    with pytest.raises(IntegrityError, match="normalisation form C"):
        tree_hash(tree)


def test_r61_large_files_are_streamed(tree: Path) -> None:
    with (tree / "large").open("wb") as stream:
        stream.truncate(64 << 20)
    tracemalloc.start()
    tree_hash(tree)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


def test_r61_a_file_that_grows_while_it_is_read_is_noticed(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.read
    grown = []

    def growing(descriptor: int, size: int) -> bytes:
        if not grown:
            with (tree / "a").open("ab") as stream:
                grown.append(stream.write(b"more"))
        return real(descriptor, size)

    (tree / "b" / "c").unlink()
    (tree / ".hidden").unlink()
    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(IntegrityError, match="a: changed while it was read"):
        tree_hash(tree)


def test_r62_the_rules_carry_a_version(tree: Path) -> None:
    assert re.fullmatch("th1:[0-9a-f]{64}", tree_hash(tree))


def test_r63_reports_record_the_platform(source: Path, temporary: Path) -> None:
    seen: list[Evidence] = []
    with_fixture_copy(source, lambda _: None, prefix=PREFIX, evidence=seen.append)
    assert seen[0].platform == f"{os.uname().sysname} {os.uname().machine}"


def test_a_tree_too_deep_is_refused_and_one_just_so_deep_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    Path(folder, *["d"] * (MAX_DEPTH - 1)).mkdir(parents=True)
    tree_hash(folder)
    Path(folder, *["d"] * (MAX_DEPTH + 1)).mkdir(parents=True)
    with pytest.raises(IntegrityError, match="nested deeper than 100"):
        tree_hash(folder)


def test_names_with_control_characters_are_hashed_and_shown_escaped(tmp_path: Path) -> None:
    name = "\x1b]0;owned\x07\n\u202e"
    build(tmp_path / "t", {name: {"a": (b"", False)}})
    assert reader("sh", tmp_path / "t") == tree_hash(tmp_path / "t")
    (tmp_path / "t" / name / "link").symlink_to("a")
    with pytest.raises(IntegrityError) as caught:
        tree_hash(tmp_path / "t")
    assert "\x1b" not in str(caught.value)
    assert "\\x1b]0;owned\\x07\\n\\u202e/link" in str(caught.value)


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_what_is_not_a_directory_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "file":
        path.touch()
    with pytest.raises(IntegrityError, match="a directory is needed"):
        tree_hash(path)
