"""Versions: of images, packages, architectures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from harbor_author.checks.composefile import line_of, services
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import images
from harbor_author.checks.registry import rule
from harbor_author.checks.script import UNKNOWN, Command


@rule(name="unpinned-image", pack="harbor", severity="warning", default=False, harbor=True)
def unpinned_image(files: TaskFiles) -> Iterator[Problem]:
    """An image is not pinned by digest.

    Why: the same tag named another image a month later; a library's new minor version moved the results.
    Bad: FROM node:24-bookworm
    Good: FROM node:24-bookworm@sha256:...
    Fix: append the digest that `docker buildx imagetools inspect IMAGE` shows.
    """
    for name, path, line in _image_names(files):
        if "@sha256:" not in name:
            yield Problem(f"{name} is not pinned by digest", path, line)


@rule(name="floating-image", pack="harbor", severity="warning")
def floating_image(files: TaskFiles) -> Iterator[Problem]:
    """An image has no tag, or the tag `latest`.

    Why: `FROM ubuntu` moved from 22.04 to 24.04 under a released task, and its packages were gone.
    Bad: FROM python
    Good: FROM python:3.12-slim
    Fix: name a version.
    """
    for name, path, line in _image_names(files):
        tag = name.rsplit("/", 1)[-1].partition(":")[2]
        if "@" not in name and tag in ("", "latest") and "$" not in name:
            yield Problem(f"{name} names no version: what it means changes", path, line)


def _image_names(files: TaskFiles) -> Iterator[tuple[str, str, int | None]]:
    for path, dockerfile in files.dockerfiles.items():
        for stage in dockerfile.stages:
            words = stage[0].words
            if not words or words[0].lower() in dockerfile.stage_names or words[0] == "scratch":
                continue
            yield dockerfile.expand(words[0]), path, stage[0].line
        for instruction in dockerfile.instructions:
            source = dockerfile.expand(instruction.flags.get("from", ""))
            if (
                instruction.op == "COPY"
                and source
                and not source.isdigit()
                and source.lower() not in dockerfile.stage_names
            ):
                yield source, path, instruction.line
    for path, _, service in services(files):
        given = service.get("image")
        if isinstance(given, str) and given and "build" not in service:
            yield given, path, line_of(files, path, given)
    for keys in (("environment",), ("verifier", "environment")):
        name = files.table(*keys).get("docker_image")
        if isinstance(name, str) and name:
            yield name, "task.toml", files.where(*keys, "docker_image")[0]


_PIP = re.compile(r"^(?:[A-Za-z0-9][\w.-]*)(?:\[[\w,.-]+\])?$")


@rule(name="unpinned-python-dependency", pack="harbor", severity="warning", harbor=True)
def unpinned_python_dependency(files: TaskFiles) -> Iterator[Problem]:
    """A Python package is installed without a version.

    Why: a release of pytest changed an option, and a board's rewards fell to 0 overnight.
    Bad: RUN pip install pytest
    Good: RUN pip install pytest==8.4.1
    Fix: write ==VERSION, or install from a lock file with hashes.
    """
    for path, command in _installing(files):
        argv = list(command.argv)
        if argv and re.fullmatch(r"(?:.*/)?python[\d.]*", argv[0]) and argv[1:3] == ["-m", "pip"]:
            argv = ["pip", *argv[3:]]
        name = argv[0].rsplit("/", 1)[-1] if argv else ""
        words = argv[1:]
        if name in ("pip", "pip3") and words[:1] == ["install"]:
            packages = _packages(words[1:])
        elif name == "uv" and words[:2] == ["pip", "install"]:
            packages = _packages(words[2:])
        elif name in ("uvx", "uv"):
            packages = [v for o, v in itertools.pairwise(words) if o in ("--with", "-w", "--from")]
        else:
            continue
        for package in packages:
            if _floating(package):
                yield Problem(f"{package} is installed without a version", path, command.line, command.column)
    yield from _requirements(files)


def _floating(package: str) -> bool:
    if _BOUND.fullmatch(package):
        return True
    return _PIP.fullmatch(package) is not None and package not in ("pip", "setuptools", "wheel")


#: A lower bound alone lets the version move; with an upper one its author thought of that.
_BOUND = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?\s*(?:>=?|!=)[^=;@<]*")


def _requirements(files: TaskFiles) -> Iterator[Problem]:
    """Lists that `pip install -r` reads, where the context has them."""
    told: set[str] = set()
    for image in images(files):
        for step in image.steps:
            for command in step.commands:
                for option, value in itertools.pairwise(command.args):
                    name = value.rsplit("/", 1)[-1]
                    path = f"{image.context}{name}"
                    known = option in ("-r", "--requirement") and files.is_file(path) and path not in told
                    if not known or command.name not in ("pip", "pip3", "uv", "python", "python3"):
                        continue
                    told.add(path)
                    lines = [line.partition("#")[0].strip() for line in files.text(path).split("\n")]
                    loose = [(n, word) for n, word in enumerate(lines, 1) if word and _floating(word)]
                    if loose:
                        more = f" and {len(loose) - 1} more" if len(loose) > 1 else ""
                        yield Problem(f"{loose[0][1]}{more} without a version", path, loose[0][0])


def _packages(words: list[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in (
            "-r",
            "--requirement",
            "-c",
            "--constraint",
            "-e",
            "--index-url",
            "-i",
            "--target",
            "-t",
            "--python",
            "--prefix",
            "--extra-index-url",
            "--find-links",
            "-f",
        ):
            skip = True
        elif not word.startswith("-"):
            found.append(word)
    return found


@rule(name="unpinned-node-dependency", pack="harbor", severity="warning")
def unpinned_node_dependency(files: TaskFiles) -> Iterator[Problem]:
    """A Node.js package is installed globally without a version.

    Why: `npm install -g pnpm` brought a new major version whose lock file the fixture did not have.
    Bad: RUN npm install -g pnpm
    Good: RUN npm install -g pnpm@11.24.0
    Fix: write NAME@VERSION.
    """
    for path, command in _installing(files):
        words = list(command.args)
        globally = command.name == "npm" and words[:1] in (["install"], ["i"], ["add"])
        globally = globally and any(w in ("-g", "--global", "--location=global") for w in words)
        if not globally:
            continue
        for word in command.operands[1:]:
            bare = word.lstrip("@")
            floating = "@" not in bare or bare.rsplit("@", 1)[-1] in ("latest", "next", "")
            if floating and UNKNOWN not in word and "$" not in word and not word.startswith((".", "/")):
                yield Problem(f"{word} is installed without a version", path, command.line, command.column)


def _installing(files: TaskFiles) -> Iterator[tuple[str, Command]]:
    for image in images(files):
        for step in image.steps:
            for command in step.commands:
                yield image.path, command
    for path in files.shell_scripts:
        if path.endswith(("test.sh", "solve.sh")):
            for command in files.script(path).commands:
                yield path, command


@rule(name="platform-pinned", pack="harbor", severity="warning")
def platform_pinned(files: TaskFiles) -> Iterator[Problem]:
    """The image is bound to one processor architecture.

    Why: on Arm machines `--platform=linux/amd64` runs under emulation: a boot of 20 s took four minutes and passed the
        verifier's time limit.
    Bad: FROM --platform=linux/amd64 node:24
    Good: FROM node:24
    Fix: remove --platform, or say in the README which machines the task needs and suppress this with that reason.
    """
    for path, dockerfile in files.dockerfiles.items():
        for stage in dockerfile.stages:
            platform = stage[0].flags.get("platform", "")
            if platform and "$" not in platform:
                yield Problem(f"bound to {platform}", path, stage[0].line)
    for path, name, service in services(files):
        wanted = service.get("platform")
        if isinstance(wanted, str) and wanted and "$" not in wanted:
            message = f"service '{name}' is bound to {wanted}"
            yield Problem(message, path, line_of(files, path, "platform:"))
