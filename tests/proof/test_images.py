"""What an image depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_author.proof.config import EnvironmentConfig
from harbor_author.proof.context import base_names, context_digest
from harbor_author.proof.errors import TaskRefusedError
from harbor_author.proof.images import provide_image
from harbor_author.sandbox import ExecResult, ImageInfo
from tests.sandbox.fake_engine import FakeEngine


@pytest.mark.parametrize(
    ("dockerfile", "names"),
    [
        ("FROM a:1\n", ["a:1"]),
        ("FROM --platform=linux/amd64 a:1 AS build\nFROM build\nCOPY --from=build /x /x\n", ["a:1"]),
        (
            "ARG V=3\nFROM python:${V}-slim\nCOPY --from=tool:2 /t /t\nCOPY --from=0 /u /u\n",
            ["python:3-slim", "tool:2"],
        ),
        ("from scratch\n", []),
        ("ARG V\nFROM a:${V:-9}\n", ["a:9"]),
    ],
)
def test_bases_are_the_images_from_outside(dockerfile: str, names: list[str]) -> None:
    assert base_names(dockerfile) == names


def test_a_digest_changes_with_byte_name_mode_and_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    digests = {context_digest(tmp_path)}
    (tmp_path / "a").chmod(0o755)
    digests.add(context_digest(tmp_path))
    (tmp_path / "a").write_text("y")
    digests.add(context_digest(tmp_path))
    (tmp_path / "a").rename(tmp_path / "b")
    digests.add(context_digest(tmp_path))
    (tmp_path / "empty").mkdir()
    digests.add(context_digest(tmp_path))
    (tmp_path / ".dockerignore").write_text("a")
    digests.add(context_digest(tmp_path))
    assert len(digests) == 6


def test_a_link_in_the_context_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").symlink_to("/etc/passwd")
    with pytest.raises(TaskRefusedError, match="link"):
        context_digest(tmp_path)


def provide(engine: FakeEngine, context: Path, task: str = "t"):
    return provide_image(engine, context, EnvironmentConfig(), task=task, log=lambda line: None)


def test_an_image_is_built_once_and_again_when_its_base_changes(tmp_path: Path) -> None:
    engine = FakeEngine(lambda container, command: ExecResult(0))
    (tmp_path / "Dockerfile").write_text("FROM base\n")
    assert provide(engine, tmp_path).built
    assert not provide(engine, tmp_path).built
    engine.local["base"] = ImageInfo("sha256:newer", None)
    assert provide(engine, tmp_path).built
    assert len(engine.builds) == 2
    assert engine.builds[0] not in engine.local, "the older image of the same task is removed"


def test_another_checkout_of_the_task_keeps_its_image(tmp_path: Path) -> None:
    engine = FakeEngine(lambda container, command: ExecResult(0))
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "Dockerfile").write_text(f"FROM base\n# {place}\n")
        provide(engine, tmp_path / place)
    assert all(tag in engine.local for tag in engine.builds)


def test_a_base_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    engine = FakeEngine(lambda container, command: ExecResult(0))
    (tmp_path / "Dockerfile").write_text("FROM not-here:1\n")
    with pytest.raises(TaskRefusedError, match="not-here:1") as caught:
        provide(engine, tmp_path)
    assert caught.value.cause == "image-missing"
