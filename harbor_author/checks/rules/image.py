"""The Dockerfile: what it copies and runs, and how large its context is."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from harbor_author.checks import gitstate
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import Copy, Image, images, run_commands
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.ignored import in_top
from harbor_author.checks.script import UNKNOWN, Command
from harbor_author.checks.tree import total_size

_LARGE_BYTES = 100 << 20
_SHOWN = 3


@rule(name="dockerfile-syntax", pack="harbor", severity="error")
def dockerfile_syntax(files: TaskFiles) -> Iterator[Problem]:
    """A Dockerfile has no FROM, or holds what is no instruction.

    Why: a continuation mark lost in an edit made the second half of a RUN an "unknown instruction"; the task was
        released and did not build.
    Bad: RUN apt-get update &&
           apt-get install -y git
    Good: RUN apt-get update && \\
           apt-get install -y git
    Fix: correct the line that is named.
    """
    for path, dockerfile in files.dockerfiles.items():
        for line, message in dockerfile.faults[:3]:
            yield Problem(message, path, line)
        if not dockerfile.stages and not dockerfile.faults:
            yield Problem("the Dockerfile has no FROM", path, 1)
        for instruction in dockerfile.instructions:
            if instruction.op in ("COPY", "ADD") and len(instruction.words) < 2 and not instruction.heredocs:
                yield Problem(f"{instruction.op} needs a source and a target", path, instruction.line)


@rule(name="copy-source-missing", pack="harbor", severity="error")
def copy_source_missing(files: TaskFiles) -> Iterator[Problem]:
    """COPY names a file that is not in the build context, or that .dockerignore keeps out of it.

    Why: a `.dockerignore` with `*.csv`, taken over from another project, left the input out of the image: the build
        was green, and the task could not be solved.
    Bad: COPY data/ /app/data/, with `data` in environment/.dockerignore
    Good: COPY data/ /app/data/, and environment/data/ holds what the task needs
    Fix: correct the path (it is relative to environment/), or the line of .dockerignore that is named.
    """
    for image in images(files):
        for copy in image.copies:
            line = copy.instruction.line
            if not copy.matched:
                message = f"{copy.source} is not in the build context {image.context or '.'}"
                yield Problem(message, image.path, line, None, _outside(files, copy))
                continue
            yield from _ignored_sources(files, image, copy)


def _outside(files: TaskFiles, copy: Copy) -> str | None:
    if copy.source in files.entries:
        return f"the context is environment/, so move {copy.source} there"
    return None


def _ignored_sources(files: TaskFiles, image: Image, copy: Copy) -> Iterator[Problem]:
    """A source that is left out whole, or a part of it that the task names elsewhere."""
    if not image.ignore_path:
        return
    exact = f"{image.context}{copy.source}"
    below = [exact] if files.is_file(exact) else [e.path for e in files.files(exact.rstrip("/") + "/")]
    left_out = [p for p in below if image.excluded(p) and not p.endswith(("Dockerfile", ".dockerignore"))]
    if not left_out:
        return
    named = [p for p in left_out if _needed(files, copy, image, p)]
    # `COPY . /app` leaves things out on purpose; a directory named alone, of which nothing is left, does not.
    whole = len(left_out) == len(below) and copy.source
    for path in left_out[:1] if whole else named[:1]:
        pattern = image.excluded(path)
        assert pattern is not None
        more = f" and {len(left_out) - 1} more" if len(left_out) > 1 and whole else ""
        where = f"line {pattern.line} of {image.ignore_path}"
        message = f"{path}{more} is kept out of the image by '{pattern.text}' at {where}"
        yield Problem(message, image.ignore_path, pattern.line)


def _needed(files: TaskFiles, copy: Copy, image: Image, path: str) -> bool:
    """The file's place in the image is named by the instruction, the solution or the tests."""
    place = copy.inside(path, image.context)
    texts = [*files.instructions, *files.shell_scripts]
    return any(place in files.text(text) for text in texts)


@rule(name="run-not-executable", pack="harbor", severity="error")
def run_not_executable(files: TaskFiles) -> Iterator[Problem]:
    """The Dockerfile runs a copied script directly, and the script is not executable.

    Why: the executable bit was lost in a zip file; `RUN /app/setup.sh` ended in "permission denied" with status 126, on
        the machines of those who had not set it by hand. git's index can have lost it too.
    Bad: RUN /app/setup.sh with environment/setup.sh of mode 644
    Good: the same with mode 755, or RUN bash /app/setup.sh
    Fix: set the bit, which 'author fix' does, in git's index too; or COPY --chmod=755; or name the interpreter.
    """
    for image, command, path, fault in _lost_bits(files):
        message = f"runs {command.argv[0]} directly, but {path} {fault}"
        yield Problem(message, image.path, command.line, command.column)


def scripts_without_bit(files: TaskFiles) -> list[str]:
    """The scripts of `run-not-executable`."""
    return list(dict.fromkeys(path for _, _, path, _ in _lost_bits(files)))


def _lost_bits(files: TaskFiles) -> Iterator[tuple[Image, Command, str, str]]:
    for image in images(files):
        places = {
            copy.inside(path, image.context): (path, copy) for copy in image.copies for path in copy.files
        }
        made: set[str] = set()
        uses = [(step.commands, step.workdir) for step in image.steps]
        for instruction in image.dockerfile.final:
            if instruction.op in ("CMD", "ENTRYPOINT"):
                uses.append((tuple(run_commands(instruction)), image.workdir))
        for commands, workdir in uses:
            for command in commands:
                if command.name == "chmod":
                    made.update(posixpath.normpath(posixpath.join(workdir, w)) for w in command.operands[1:])
                    continue
                if command.name in ("find", "xargs") and "chmod" in command.args:
                    made.update(command.operands[:1] if command.name == "find" else ("/",))
                    continue
                if command.name == "cd" and command.operands:
                    workdir = posixpath.join(workdir, command.operands[0])
                name = command.argv[0] if command.argv else ""
                if not name or UNKNOWN in name:
                    continue
                place = posixpath.normpath(posixpath.join(workdir, name))
                if "/" not in name:
                    place = next((f"{f}/{name}" for f in _PATH if f"{f}/{name}" in places), "")
                if place not in places or _chmodded(place, made):
                    continue
                path, copy = places[place]
                fault = "" if copy.mode else _mode_fault(files, path)
                if fault:
                    yield image, command, path, fault


#: Where a program is looked for that is called by its name alone.
_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def _chmodded(place: str, made: set[str]) -> bool:
    import fnmatch

    return any(
        place == target or place.startswith(target.rstrip("/") + "/") or fnmatch.fnmatchcase(place, target)
        for target in made
    )


def _mode_fault(files: TaskFiles, path: str) -> str:
    if not files.entries[path].executable:
        return f"is not executable (mode {files.entries[path].mode:03o})"
    top = gitstate.toplevel(files.root)
    index = gitstate.index(top) if top is not None else None
    mode = index.get(in_top(files, top, path)) if index is not None else None
    return "is not executable in git's index" if mode == 0o100644 else ""


@rule(name="large-context", pack="harbor", severity="warning")
def large_context(files: TaskFiles) -> Iterator[Problem]:
    """The build context is large; every build, and every cloud trial, sends it.

    Why: a forgotten 2 GB dump in environment/ made each of a thousand trials upload it, and a remote builder ran out of
        disk half way. Sizes are taken from the directory, no file is read.
    Bad: environment/data/blob.bin of 2 GiB
    Good: a small fixture; large data is fetched by the Dockerfile, with a checksum
    Fix: remove the largest files, or name them in environment/.dockerignore.
    """
    contexts: list[tuple[str, Image | None]] = [(image.context, image) for image in images(files)]
    if not any(context == "environment/" for context, _ in contexts) and files.is_dir("environment"):
        contexts.append(("environment/", None))
    for context, image in contexts:
        sizes: list[tuple[int, str]] = []
        for path, entry in files.entries.items():
            if not path.startswith(context) or (image is not None and image.excluded(path)):
                continue
            if entry.kind == "file":
                sizes.append((entry.size, path))
            elif entry.opaque:
                sizes.append((total_size(files.root / path), path + "/"))
        total = sum(size for size, _ in sizes)
        if total > _LARGE_BYTES:
            largest = ", ".join(
                f"{path} ({human(size)})" for size, path in sorted(sizes, reverse=True)[:_SHOWN]
            )
            yield Problem(f"the build context is {human(total)}; the largest: {largest}", context.rstrip("/"))


def human(size: int) -> str:
    """Bytes as a person reads them: `1.5 GiB`."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError
