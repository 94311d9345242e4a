"""What the agent's image is made of: which file of the context goes where, and what the Dockerfile runs."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harbor_author.checks.composefile import build_contexts
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.dockerfile import Dockerfile, Instruction
from harbor_author.checks.ignore import DockerIgnore, Pattern, dockerignore
from harbor_author.checks.script import Command, parse_script

_REMOTE = re.compile(r"^(?:https?|git|ssh)://|^git@|\.git(?:#|$)")


@dataclass(frozen=True)
class Copy:
    """One source of a COPY or ADD.

    Attributes:
        source: as written, normalised, relative to the context; "" is the whole context.
        target: absolute path in the image; a directory when `into` is set.
        files: the context's files that it takes (paths relative to the task).
        matched: the source names something in the context.
        mode: of `--chmod`, "" without.
    """

    instruction: Instruction
    source: str
    target: str
    into: bool
    files: tuple[str, ...]
    matched: bool
    mode: str
    workdir: str

    def inside(self, path: str, context: str) -> str:
        """Where a taken file lies in the image."""
        relative = path.removeprefix(context)
        entry_is_dir = relative != self.source and not _globbed(self.source)
        if _globbed(self.source):
            return posixpath.join(self.target, posixpath.basename(relative))
        if entry_is_dir:
            tail = relative[len(self.source) :].lstrip("/") if self.source else relative
            return posixpath.join(self.target, tail)
        return posixpath.join(self.target, posixpath.basename(relative)) if self.into else self.target


@dataclass(frozen=True)
class Step:
    """One RUN of the final image: its commands, and where it runs."""

    instruction: Instruction
    commands: tuple[Command, ...]
    workdir: str
    user: str


@dataclass(frozen=True)
class Image:
    """The image of one Dockerfile.

    Attributes:
        path: of the Dockerfile; context: its directory with a slash.
    """

    path: str
    context: str
    dockerfile: Dockerfile
    ignore: DockerIgnore
    ignore_path: str
    copies: tuple[Copy, ...]
    steps: tuple[Step, ...]
    workdir: str
    user: str

    @property
    def base(self) -> str:
        """Name of the image that it starts from, defaults of ARG filled in."""
        final = self.dockerfile.final
        words = final[0].words if final else []
        return self.dockerfile.expand(words[0]) if words else ""

    def excluded(self, path: str) -> Pattern | None:
        """The line of .dockerignore that leaves a file of the task out of the context."""
        return self.ignore.match(path.removeprefix(self.context))


def images(files: TaskFiles) -> list[Image]:
    """Every image that the task defines, read once."""
    return files.once("images", lambda: [_image(files, path, d) for path, d in files.dockerfiles.items()])


def agent_image(files: TaskFiles) -> Image | None:
    """The image that the agent works in."""
    return next((image for image in images(files) if image.path == "environment/Dockerfile"), None)


def _image(files: TaskFiles, path: str, dockerfile: Dockerfile) -> Image:
    context = build_contexts(files).get(path, path.rpartition("/")[0] + "/")
    ignore_path = next(
        (p for p in (path + ".dockerignore", context + ".dockerignore") if files.is_file(p)), ""
    )
    ignore = dockerignore(files.text(ignore_path)) if ignore_path else DockerIgnore(())
    # A stage goes on where the one that it starts from ended.
    ends: dict[str, tuple[str, str]] = {}
    stage = ""
    # Stages that the final one takes files from belong to it as far as sources and RUNs go.
    instructions = [i for stage in dockerfile.stages for i in stage]
    copies: list[Copy] = []
    steps: list[Step] = []
    workdir, user = "/", "root"
    for instruction in instructions:
        if instruction.op == "FROM":
            ends[stage] = (workdir, user)
            words = instruction.words
            workdir, user = ends.get(words[0].lower() if words else "", ("/", "root"))
            stage = words[2].lower() if len(words) > 2 else str(len(ends))
        elif instruction.op == "WORKDIR" and instruction.words:
            workdir = posixpath.join(workdir, dockerfile.expand(instruction.words[0]))
        elif instruction.op == "USER" and instruction.words:
            user = dockerfile.expand(instruction.words[0])
        elif instruction.op in ("COPY", "ADD"):
            copies += _copies(files, instruction, dockerfile, context, ignore, workdir)
        elif instruction.op == "RUN":
            commands = run_commands(_expanded(instruction, dockerfile))
            steps.append(Step(instruction, tuple(commands), workdir, user))
    return Image(path, context, dockerfile, ignore, ignore_path, tuple(copies), tuple(steps), workdir, user)


def _expanded(instruction: Instruction, dockerfile: Dockerfile) -> Instruction:
    """The instruction with what ENV and ARG give to its shell."""
    if "$" not in instruction.text or not dockerfile.args:
        return instruction
    return replace(instruction, text=dockerfile.expand(instruction.text))


def run_commands(instruction: Instruction) -> list[Command]:
    """The commands of a RUN, CMD or ENTRYPOINT in either form, here-documents included."""
    form = instruction.exec_form
    if form is not None:
        line = instruction.line
        found = [Command(tuple(form), (), line, instruction.column)]
        if len(form) > 2 and form[0].rsplit("/", 1)[-1] in ("sh", "bash") and form[1].startswith("-"):
            found += parse_script(form[2], line).commands
        return found
    if instruction.heredocs:
        first = re.sub(r"<<-?\s*[\"']?\w+[\"']?", "", instruction.text).strip()
        start = instruction.line + 1
        found = parse_script(first, instruction.line).commands if first else []
        return [*found, *(c for body in instruction.heredocs for c in parse_script(body, start).commands)]
    return parse_script(instruction.text, instruction.line).commands


def _copies(
    files: TaskFiles,
    instruction: Instruction,
    dockerfile: Dockerfile,
    context: str,
    ignore: DockerIgnore,
    workdir: str,
) -> Iterator[Copy]:
    words = [dockerfile.expand(word) for word in instruction.words]
    if "from" in instruction.flags or len(words) < 2 or instruction.heredocs:
        return
    target = words[-1]
    into = target.endswith("/") or len(words) > 2 or target in (".", "./")
    absolute = posixpath.normpath(posixpath.join(workdir, target))
    for word in words[:-1]:
        if _REMOTE.search(word) or "$" in word:
            continue
        source = posixpath.normpath("/" + word).lstrip("/")
        taken = tuple(_taken(files, context, source))
        matched = not source or f"{context}{source}" in files.entries or bool(taken)
        if _globbed(source):
            matched = bool(_matches(files, context, source))
        kept = tuple(p for p in taken if ignore.match(p.removeprefix(context)) is None)
        yield Copy(
            instruction, source, absolute, into, kept, matched, instruction.flags.get("chmod", ""), workdir
        )


def _globbed(source: str) -> bool:
    return any(char in source for char in "*?[")


def _matches(files: TaskFiles, context: str, pattern: str) -> list[str]:
    depth = pattern.count("/")
    return [
        path
        for path in files.entries
        if path.startswith(context)
        and path.removeprefix(context).count("/") == depth
        and fnmatch.fnmatchcase(path.removeprefix(context), pattern)
    ]


def _taken(files: TaskFiles, context: str, source: str) -> Iterator[str]:
    roots = _matches(files, context, source) if _globbed(source) else [f"{context}{source}"]
    for root in roots:
        if files.is_file(root):
            yield root
        else:
            prefix = root.rstrip("/") + "/"
            for entry in files.files(prefix):
                yield entry.path
