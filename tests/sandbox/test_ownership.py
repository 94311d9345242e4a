"""Whose a container is, and what is removed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from harbor_author.integrity.owner import owner_token
from harbor_author.integrity.temporary import temporary_folder
from harbor_author.sandbox import ContainerSpec, ExecResult
from harbor_author.sandbox.ownership import (
    IMAGE_LABEL,
    MACHINE_LABEL,
    OWNER_LABEL,
    USER_LABEL,
    clean,
    image_labels,
    machine,
    owner_labels,
    remove_abandoned,
    remove_own,
)
from tests.sandbox.fake_engine import FakeEngine

_PID, _START, BOOT, NAMESPACE = owner_token().split("-")
#: A process of this boot and namespace that cannot live: numbers beyond what the kernel gives.
DEAD = f"99999999-1-{BOOT}-{NAMESPACE}"


def engine_with(**labels_by_name: dict[str, str]) -> FakeEngine:
    engine = FakeEngine(lambda container, command: ExecResult(0))
    for labels in labels_by_name.values():
        engine.create(ContainerSpec("base", labels))
    return engine


def test_only_the_dead_of_this_machine_are_abandoned() -> None:
    engine = engine_with(
        dead={OWNER_LABEL: DEAD, MACHINE_LABEL: machine()},
        alive=owner_labels("t"),
        elsewhere={OWNER_LABEL: DEAD, MACHINE_LABEL: "another"},
        users={IMAGE_LABEL: "harbor-author/x"},
        plain={},
    )
    assert [removed.name for removed in remove_abandoned(engine)] == ["c0"]
    assert set(engine.live) == {"c1", "c2", "c3", "c4"}


def test_an_interrupt_removes_our_own_but_not_what_is_kept() -> None:
    engine = engine_with(own=owner_labels("t"), kept=owner_labels("t", kept=True), other={"x": "y"})
    assert remove_own(engine) == 1
    assert set(engine.live) == {"c1", "c2"}


def test_clean_says_and_does_the_same() -> None:
    engine = engine_with(dead={OWNER_LABEL: DEAD, MACHINE_LABEL: machine()}, mine={"a": "b"})
    for tag, labels in (
        ("harbor-author/t:1", image_labels("harbor-author/t")),
        ("harbor-author/t:2", {IMAGE_LABEL: "harbor-author/t", USER_LABEL: "another"}),
    ):
        engine.build(None, tag=tag, labels=labels, log=print)  # type: ignore[arg-type]
    said = clean(engine, dry_run=True)
    assert set(engine.live) == {"c0", "c1"}
    assert clean(engine) == said
    assert set(engine.live) == {"c1"}
    assert "harbor-author/t:1" not in engine.local
    assert {"base", "harbor-author/t:2"} <= engine.local.keys(), "another user's cache stays"


def test_folders_of_the_dead_go_and_those_of_the_living_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = tmp_path / f"harbor-author-context.{DEAD}.x"

    def die() -> None:
        dead.mkdir()
        (dead / "locked").mkdir()
        (dead / "locked" / "file").write_text("x")
        (dead / "locked").chmod(0)

    die()
    (tmp_path / "harbor-author-context.nonsense.x").mkdir()
    target = tmp_path / "elsewhere"
    target.mkdir()
    (tmp_path / f"harbor-author-link.{DEAD}.x").symlink_to(target)
    with temporary_folder("context") as own:
        assert not dead.exists(), "whoever makes a folder removes those of the dead"
        die()
        assert [removed.name for removed in remove_abandoned(engine_with())] == [str(dead)]
        assert own.is_dir()
    assert not own.exists()
    assert not dead.exists()
    assert target.is_dir()
