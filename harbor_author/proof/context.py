"""What the image of a task depends on: its build context, and the images that it is made from."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from harbor_author.proof.errors import TaskRefusedError

_FROM = re.compile(r"^[ \t]*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE | re.MULTILINE)
_COPY_FROM = re.compile(r"--from=(\S+)")
_ARG = re.compile(r"^[ \t]*ARG\s+([A-Za-z_]\w*)=(\S+)", re.IGNORECASE | re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)(?::-([^}]*))?\}?")
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def context_digest(context: Path) -> str:
    """`sha256:...` over every path, kind, mode and byte of a build context: all that an image can depend on.

    Raises:
        TaskRefusedError: it holds a link or a special file.
    """
    digest = hashlib.sha256()
    for path in sorted(context.rglob("*")):
        status = path.lstat()
        name = path.relative_to(context).as_posix()
        if stat.S_ISDIR(status.st_mode):
            digest.update(f"d\0{name}\0{stat.S_IMODE(status.st_mode):o}\n".encode())
        elif stat.S_ISREG(status.st_mode):
            content = hashlib.sha256()
            with os.fdopen(os.open(path, _OPEN), "rb") as stream:
                while chunk := stream.read(1 << 20):
                    content.update(chunk)
            digest.update(f"f\0{name}\0{stat.S_IMODE(status.st_mode):o}\0{content.hexdigest()}\n".encode())
        else:
            raise TaskRefusedError(
                "task-invalid", "is a link or a special file, which a task may not hold", path=path
            )
    return f"sha256:{digest.hexdigest()}"


def base_names(dockerfile: str) -> list[str]:
    """The images that a Dockerfile takes from outside, in order; a variable is replaced by its ARG default."""
    defaults = dict(_ARG.findall(dockerfile))

    def expand(name: str) -> str:
        return _VARIABLE.sub(lambda match: str(defaults.get(match[1], match[2] or "")), str(name))

    stages, names = set[str](), []
    for image, stage in _FROM.findall(dockerfile):
        if image.lower() not in stages and image.lower() != "scratch":
            names.append(expand(image))
        if stage:
            stages.add(stage.lower())
    for image in _COPY_FROM.findall(dockerfile):
        if not image.isdigit() and image.lower() not in stages:
            names.append(expand(image))
    return list(dict.fromkeys(name for name in names if name))
