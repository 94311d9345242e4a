"""Whose a container or image is: labels, and the removal of what a dead process left."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harbor_author.integrity.owner import owner_state, owner_token
from harbor_author.integrity.temporary import abandoned_folders, reap_folders
from harbor_author.sandbox.engine import Engine, EngineError

#: On containers only. Images carry `IMAGE_LABEL`, which a container made from one by hand inherits: it is not ours.
OWNER_LABEL = "harbor-author.owner"
MACHINE_LABEL = "harbor-author.machine"
TASK_LABEL = "harbor-author.task"
KEPT_LABEL = "harbor-author.kept"
IMAGE_LABEL = "harbor-author.image"
#: Whose cached image it is: `clean` leaves those of other users, here or on another machine of the same engine.
USER_LABEL = "harbor-author.user"


@dataclass(frozen=True)
class Removed:
    """Something that was removed, or would be: `kind` is `container`, `image` or `folder`."""

    kind: str
    name: str
    task: str


def owner_labels(task: str, *, kept: bool = False) -> dict[str, str]:
    """The labels of a container of this process."""
    labels = {OWNER_LABEL: owner_token(), MACHINE_LABEL: machine(), TASK_LABEL: task}
    if kept:
        labels[KEPT_LABEL] = "1"
    return labels


def image_labels(name: str) -> dict[str, str]:
    """The labels of a cached image of this user."""
    return {IMAGE_LABEL: name, USER_LABEL: _user()}


def _user() -> str:
    return f"{machine()}-{os.getuid()}"


@lru_cache(maxsize=1)
def machine() -> str:
    """This machine, as told from others that may share a remote engine."""
    identity = platform.node()
    with suppress(OSError):
        identity += Path("/etc/machine-id").read_text().strip()
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def is_abandoned(labels: Mapping[str, str]) -> bool:
    """Whether the process that made a container is known to be dead. Another machine's is never known to be."""
    return labels.get(MACHINE_LABEL) == machine() and owner_state(labels.get(OWNER_LABEL, "")) == "dead"


def remove_own(engine: Engine) -> int:
    """Remove every container of this process, but not those kept on purpose; return their number."""
    count = 0
    for container in engine.containers(f"{OWNER_LABEL}={owner_token()}"):
        if KEPT_LABEL not in container.labels:
            engine.remove(container.id)
            count += 1
    return count


def remove_abandoned(engine: Engine) -> list[Removed]:
    """Remove the containers and folders whose process died without doing it, kept containers excepted."""
    removed = []
    for folder in reap_folders():
        removed.append(Removed("folder", str(folder), ""))
    for container in engine.containers(OWNER_LABEL):
        if KEPT_LABEL not in container.labels and is_abandoned(container.labels):
            with suppress(EngineError):
                engine.remove(container.id)
                removed.append(Removed("container", container.name, container.labels.get(TASK_LABEL, "")))
    return removed


def clean(engine: Engine, *, dry_run: bool = False, images: bool = True) -> list[Removed]:
    """Remove our containers whose process is gone (kept ones too) and this user's cached images.

    A container of a process that lives, here or perhaps on another machine, stays; so does an image in use.
    """
    removed = []
    for folder in abandoned_folders() if dry_run else reap_folders():
        removed.append(Removed("folder", str(folder), ""))
    for container in engine.containers(OWNER_LABEL):
        if is_abandoned(container.labels):
            if not dry_run:
                engine.remove(container.id)
            removed.append(Removed("container", container.name, container.labels.get(TASK_LABEL, "")))
    if images:
        for image, tag in engine.images(f"{USER_LABEL}={_user()}"):
            if not dry_run:
                try:
                    engine.remove_image(tag or image)
                except EngineError:
                    continue
            removed.append(Removed("image", tag or image, ""))
    return removed
