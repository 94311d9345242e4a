"""The Dockerfile: what it copies, runs, starts from and runs as."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from harbor_author.checks import gitstate
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import Copy, Image, agent_image, images, run_commands
from harbor_author.checks.registry import rule
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
                message = f"{copy.source} is not in the build context {image.context}"
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
        message = f"{path}{more} is kept out of the image by '{pattern.text}' at line {pattern.line} of {image.ignore_path}"
        yield Problem(message, image.ignore_path, pattern.line)


def _needed(files: TaskFiles, copy: Copy, image: Image, path: str) -> bool:
    """The file's place in the image is named by the instruction, the solution or the tests."""
    place = copy.inside(path, image.context)
    texts = [*files.instructions, *files.shell_scripts]
    return any(place in files.text(text) for text in texts)


_JUNK = re.compile(
    r"(?:^|/)(?:__pycache__|\.DS_Store|\.git|\.pytest_cache|\.venv|\.idea|\.vscode)(?:/|$)|\.(?:pyc|swp|swo)$|~$"
)


@rule(name="ignored-by-git", pack="harbor", severity="error")
def ignored_by_git(files: TaskFiles) -> Iterator[Problem]:
    """Files that the image, the judge or the oracle needs are ignored by git, so only the author has them.

    Why: `*.csv` in a .gitignore kept the fixture's data out of the commit. The task built on the author's machine and
        nowhere else; Harbor's packager honours the same file and leaves them out of the package too.
    Bad: .gitignore with *.csv, and COPY data/ /app/data/ with environment/data/sales.csv
    Good: !environment/data/*.csv below it, or no such line
    Fix: narrow the pattern that is named, or add the files with `git add -f`.
    """
    needed = [p for image in images(files) for copy in image.copies for p in copy.files]
    needed += [e.path for p in (*files.tests_prefixes, *files.solution_prefixes) for e in files.files(p)]
    top = gitstate.toplevel(files.root)
    index = gitstate.index(top) if top is not None else None
    groups: dict[tuple[str, str, int], list[str]] = {}
    for path in dict.fromkeys(needed):
        if _JUNK.search(path):
            continue
        found = _ignoring(files, path, top)
        if found is None:
            continue
        where, pattern, line = found
        tracked = top is not None and index is not None and _in_top(files, top, path) in index
        if tracked and where != ".gitignore":
            continue
        groups.setdefault((where, pattern, line), []).append(path)
    for (where, pattern, line), paths in groups.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        message = f"{paths[0]}{more} is ignored by git: '{pattern}' at line {line} of {where}"
        inside = not where.startswith(("/", ".."))
        yield Problem(message, where if inside else paths[0], line if inside else None)


def _in_top(files: TaskFiles, top: Path | None, path: str) -> str:
    return posixpath.join(posixpath.relpath(str(files.root), str(top)), path).removeprefix("./")


def _ignoring(files: TaskFiles, path: str, top: Path | None) -> tuple[str, str, int] | None:
    """The .gitignore (relative to the task when inside it), pattern and line that ignore a file."""
    from harbor_author.checks.ignore import gitignore

    parts = path.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        folder = "/".join(parts[:depth])
        name = f"{folder}/.gitignore" if folder else ".gitignore"
        if files.is_file(name):
            pattern = gitignore(files.text(name)).match("/".join(parts[depth:]))
            if pattern is not None:
                return name, pattern.text, pattern.line
    if top is None:
        return None
    outer = str(files.root)
    while len(outer) > len(str(top)):
        outer, _, name = outer.rpartition("/")
        path = f"{name}/{path}"
        text = _outer_ignore(f"{outer}/.gitignore")
        if text:
            pattern = gitignore(text).match(path)
            if pattern is not None:
                return f"{outer}/.gitignore", pattern.text, pattern.line
    return None


@lru_cache(maxsize=256)
def _outer_ignore(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")[: 64 << 10]
    except OSError:
        return ""


@rule(name="run-not-executable", pack="harbor", severity="error")
def run_not_executable(files: TaskFiles) -> Iterator[Problem]:
    """The Dockerfile runs a copied script directly, and the script is not executable.

    Why: the executable bit was lost in a zip file; `RUN /app/setup.sh` ended in "permission denied" with status 126, on
        the machines of those who had not set it by hand. git's index can have lost it too.
    Bad: RUN /app/setup.sh with environment/setup.sh of mode 644
    Good: the same with mode 755, or RUN bash /app/setup.sh
    Fix: chmod +x the file (and git update-index --chmod=+x), or COPY --chmod=755, or call it through its interpreter.
    """
    for image in images(files):
        places = {
            copy.inside(path, image.context): (path, copy) for copy in image.copies for path in copy.files
        }
        made: set[str] = set()
        uses = [(step.instruction, step.commands, step.workdir) for step in image.steps]
        for instruction in image.dockerfile.final:
            if instruction.op in ("CMD", "ENTRYPOINT"):
                uses.append((instruction, tuple(run_commands(instruction)), image.workdir))
        for _, commands, workdir in uses:
            for command in commands:
                if command.name == "chmod":
                    made.update(
                        posixpath.normpath(posixpath.join(workdir, word)) for word in command.operands[1:]
                    )
                    continue
                if command.name == "cd" and command.operands:
                    workdir = posixpath.join(workdir, command.operands[0])
                name = command.argv[0] if command.argv else ""
                if "/" not in name or UNKNOWN in name:
                    continue
                place = posixpath.normpath(posixpath.join(workdir, name))
                if place not in places or _chmodded(place, made):
                    continue
                path, copy = places[place]
                if copy.mode:
                    continue
                fault = _mode_fault(files, path)
                if fault:
                    yield Problem(
                        f"runs {name} directly, but {path} {fault}", image.path, command.line, command.column
                    )


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
    mode = index.get(_in_top(files, top, path)) if index is not None else None
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
    for image in images(files) or ([] if not files.is_dir("environment") else [None]):
        context = image.context if image is not None else "environment/"
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
            if _PIP.fullmatch(package) and package not in ("pip", "setuptools", "wheel"):
                yield Problem(f"{package} is installed without a version", path, command.line, command.column)


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


#: What well-known images bring besides root and Debian's own accounts.
_ACCOUNTS = frozenset(
    ["root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data", "backup", "list", "irc", "gnats", "nobody", "_apt"]
)
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
    known = _ACCOUNTS | _KNOWN_BASES[base]
    text = "\n".join(
        i.text + "\n".join(i.heredocs) for i in image.dockerfile.instructions if i.op in ("RUN", "COPY")
    )
    for keys in (("agent", "user"), ("verifier", "user")):
        user = files.table(keys[0]).get(keys[1])
        if keys[0] == "verifier" and files.separate_verifier:
            continue
        if isinstance(user, str) and user and not _has(user, known, text):
            message = f"the image has no user '{user}': every command would end with status 126"
            yield Problem(message, "task.toml", *files.where(*keys))
    for instruction in image.dockerfile.final:
        if instruction.op == "USER" and instruction.words:
            user = image.dockerfile.expand(instruction.words[0])
            if "$" not in user and not _has(user, known, text):
                yield Problem(f"the image has no user '{user}'", image.path, instruction.line)


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
        "/tmp",
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
