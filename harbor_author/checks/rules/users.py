"""Accounts and directories that the image must have."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import agent_image
from harbor_author.checks.programs import ACCOUNTS
from harbor_author.checks.registry import rule

#: What well-known images bring besides Debian's own accounts.
_KNOWN_BASES = {
    "node": {"node"},
    "python": set(),
    "debian": set(),
    "ubuntu": {"ubuntu"},
    "golang": set(),
    "rust": set(),
}


@rule(name="unknown-user", pack="harbor", severity="error")
def unknown_user(files: TaskFiles) -> Iterator[Problem]:
    """A user is named that the image does not have.

    Why: `[agent] user = "agent"` without useradd ended each command with status 126; the reward was 0, and the engine's
        message was lost.
    Bad: [agent] user = "agent", and no useradd in the Dockerfile
    Good: RUN useradd --create-home agent
    Fix: make the user in the Dockerfile, or correct the name.
    """
    image = agent_image(files)
    if image is None:
        return
    base = image.base.split("@")[0].rsplit("/", 1)[-1].split(":")[0]
    if base not in _KNOWN_BASES:
        return
    known = ACCOUNTS | _KNOWN_BASES[base]
    text = "\n".join(
        i.text + "\n".join(i.heredocs) for i in image.dockerfile.instructions if i.op in ("RUN", "COPY")
    )
    tables = ["agent"] if files.separate_verifier else ["agent", "verifier"]
    for table in tables:
        user = files.table(table).get("user")
        if isinstance(user, str) and user and not _has(user, known, text):
            message = f"the image has no user '{user}': every command would end with status 126"
            yield Problem(message, "task.toml", *files.where(table, "user"))
    for instruction in image.dockerfile.final:
        if instruction.op == "USER" and instruction.words:
            user = image.dockerfile.expand(instruction.words[0])
            if "$" not in user and not _has(user, known, text):
                yield Problem(f"the image has no user '{user}'", image.path, instruction.line)
        owner = instruction.flags.get("chown", "")
        if owner and "$" not in owner and not _has(owner, known, text.replace(owner, "")):
            yield Problem(
                f"the image has no user '{owner}' to own what is copied", image.path, instruction.line
            )


def _has(user: str, known: frozenset[str], text: str) -> bool:
    name = user.partition(":")[0]
    if name.isdigit() or name in known:
        return True
    made = re.search(r"\b(?:useradd|adduser|usermod|/etc/passwd|newusers|sysusers)\b", text)
    return made is not None and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


@rule(name="missing-workdir", pack="harbor", severity="error")
def missing_workdir(files: TaskFiles) -> Iterator[Problem]:
    """[environment] workdir names a directory that the Dockerfile does not make.

    Why: Harbor hands workdir to every exec, and the engine does not create it: the trial ended in a RuntimeError with
        status 126.
    Bad: workdir = "/workspace", and a Dockerfile that knows only /app
    Good: WORKDIR /workspace in the Dockerfile
    Fix: make the directory in the Dockerfile, or leave workdir out.
    """
    workdir = files.table("environment").get("workdir")
    image = agent_image(files)
    if not isinstance(workdir, str) or image is None:
        return
    place = posixpath.normpath(workdir)
    text = "\n".join(i.text for i in image.dockerfile.instructions)
    standard = place in (
        "/",
        "/root",
        "/tmp",  # noqa: S108 - a path in the image
        "/home",
        "/opt",
        "/srv",
        "/var",
        "/usr",
        "/usr/src",
        "/etc",
        "/mnt",
        "/media",
    )
    made = standard or place in text or any(c.target.startswith(place) for c in image.copies)
    if not made and not (image.workdir + "/").startswith(place + "/"):
        message = f"nothing in the Dockerfile makes {place}, and the engine does not create it"
        yield Problem(message, "task.toml", *files.where("environment", "workdir"))
