"""Whose a container or image is: labels, and the removal of what a dead process left."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harbor_author.integrity.owner import owner_state, owner_token
from harbor_author.sandbox.engine import Engine, EngineError

#: On containers only. Images carry `IMAGE_LABEL`, which a container made from one by hand inherits: it is not ours.
OWNER_LABEL = "harbor-author.owner"
MACHINE_LABEL = "harbor-author.machine"
TASK_LABEL = "harbor-author.task"
KEPT_LABEL = "harbor-author.kept"
IMAGE_LABEL = "harbor-author.image"
#: Whose cached image it is: `clean` leaves those of other users, here or on another machine of the same engine.
USER_LABEL = "harbor-author.user"
_FOLDER = "harbor-author-"


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


@contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """A folder for the time of a `with`, whose name says whose it is, so that a crash leaves nothing for ever."""
    with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{kind}.{owner_token()}.") as folder:
        yield Path(folder)


def abandoned_folders() -> list[Path]:
    """Temporary folders of this user whose process is known to be dead."""
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*.*.*"):
        with suppress(OSError):
            status = path.lstat()
            mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
            if mine and owner_state(path.name.split(".")[1]) == "dead":
                found.append(path)
    return found


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
    for folder in abandoned_folders():
        shutil.rmtree(folder, ignore_errors=True)
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
    for folder in abandoned_folders():
        if not dry_run:
            shutil.rmtree(folder, ignore_errors=True)
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
