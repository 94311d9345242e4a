"""The image of a task: what it depends on, whether a cached one fits, and building it."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harbor_author.proof.config import EnvironmentConfig
from harbor_author.proof.context import base_names, context_digest
from harbor_author.proof.errors import TaskRefusedError, says_no_room
from harbor_author.sandbox import BuildError, Engine, EngineError, ImageInfo, ImageMissingError, SandboxError
from harbor_author.sandbox.ownership import IMAGE_LABEL, image_labels

REPOSITORY = "harbor-author"

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class BuiltImage:
    """An image ready for trials; `bases` maps each base image's name to its local ID, `built` tells a fresh build."""

    image: ImageInfo
    bases: dict[str, str]
    context_digest: str
    built: bool
    builder: str | None


def provide_image(
    engine: Engine,
    context: Path,
    config: EnvironmentConfig,
    *,
    task: str,
    log: Callable[[str], None],
) -> BuiltImage:
    """The image of an environment: pulled, from the cache, or built. The same image is never built twice at once.

    Raises:
        TaskRefusedError: it cannot be had: `image-missing`, `build-failed`, `build-timeout`, `disk-full`.
    """
    if config.docker_image is not None:
        return _prebuilt(engine, config.docker_image)
    dockerfile = context / "Dockerfile"
    if not dockerfile.is_file():
        raise TaskRefusedError(
            "task-invalid", "there is neither a Dockerfile nor a docker_image", path=context
        )
    digest = context_digest(context)
    names = base_names(dockerfile.read_text(errors="replace"))
    bases = _base_ids(engine, names)
    # The builder is part of the key: the two do not make the same image of every Dockerfile.
    key = hashlib.sha256(repr((digest, sorted(bases.items()), engine.builder())).encode()).hexdigest()[:20]
    name = f"{REPOSITORY}/{_slug(task)}"
    tag = f"{name}:{key}"
    with _locks[tag]:
        cached = engine.image(tag)
        if cached is not None:
            return BuiltImage(cached, bases, digest, False, engine.builder())
        image = _build(engine, context, config, tag=tag, name=name, log=log)
    return BuiltImage(image, bases, digest, True, engine.builder())


def _base_ids(engine: Engine, names: list[str]) -> dict[str, str]:
    """The base images' local IDs; one that is not here is fetched first, since the cached image depends on it."""
    bases = {}
    for name in names:
        try:
            bases[name] = (engine.image(name) or engine.pull(name)).id
        except ImageMissingError as error:
            raise TaskRefusedError("image-missing", error.message, hint=error.hint) from error
    return bases


def _prebuilt(engine: Engine, name: str) -> BuiltImage:
    try:
        image = engine.image(name) or engine.pull(name)
    except ImageMissingError as error:
        raise TaskRefusedError("image-missing", error.message, hint=error.hint) from error
    digest = "sha256:" + hashlib.sha256(name.encode()).hexdigest()
    return BuiltImage(image, {name: image.id}, digest, False, None)


def _build(
    engine: Engine,
    context: Path,
    config: EnvironmentConfig,
    *,
    tag: str,
    name: str,
    log: Callable[[str], None],
) -> ImageInfo:
    # Two checkouts of one task are two tasks here: neither may remove the other's image.
    label = f"{name}@{hashlib.sha256(str(context.absolute()).encode()).hexdigest()[:12]}"
    try:
        image = engine.build(
            context, tag=tag, labels=image_labels(label), log=log, timeout_s=config.build_timeout_s
        )
    except BuildError as error:
        cause = "build-timeout" if "longer than" in error.message else "build-failed"
        if says_no_room(error.log) or says_no_room(error.message):
            cause = "disk-full"
        refused = TaskRefusedError(cause, error.message, path=context / "Dockerfile")
        refused.log = error.log
        raise refused from error
    except EngineError as error:
        cause = "disk-full" if says_no_room(error.message) else "engine-failed"
        raise TaskRefusedError(cause, error.message) from error
    except SandboxError as error:
        raise TaskRefusedError("task-invalid", error.message, path=error.path) from error
    # An older image of the same task is of no use to anyone but a run that is still going, which keeps it in use.
    for image_id, old in engine.images(f"{IMAGE_LABEL}={label}"):
        if old != tag and image_id != image.id:
            with suppress(EngineError):
                engine.remove_image(old or image_id)
    return image


def _slug(task: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", task.lower()).strip("-")[:60] or "task"
