"""Version-control data that travels into the agent's container."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from harbor_author.checks import gitstate
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.leaks import packed_contents
from harbor_author.checks.script import parse_script
from harbor_author.integrity import temporary_folder


def _repositories(files: TaskFiles) -> Iterator[str]:
    """Git directories below environment/: `.git` folders and bare repositories."""
    for path, entry in files.entries.items():
        if not path.startswith(("environment/", "steps/")):
            continue
        if entry.kind == "dir" and entry.name == ".git":
            yield path
        elif entry.kind == "file" and entry.name == "HEAD":
            folder = path.rpartition("/")[0]
            if files.is_dir(f"{folder}/objects") and files.is_dir(f"{folder}/refs"):
                yield folder


@rule(name="git-history-leak", pack="harbor", severity="error")
def git_history_leak(files: TaskFiles) -> Iterator[Problem]:
    """A git folder in the environment holds objects beyond its one baseline commit.

    Why: agents solved tasks of a well-known board by `git log --all`: the commit with the fix was still in the
        repository, on another branch, in the reflog, or merely not yet pruned.
    Bad: environment/repo/.git with a branch `fix` that holds the solution
    Good: one commit, made anew: rm -rf .git; git init; git add -A; git commit
    Fix: make the repository anew with a single commit, best in the Dockerfile.
    """
    for path in _repositories(files):
        found = gitstate.history(files.root / path)
        if found is None:
            message = "git cannot read this git folder, so nobody knows what history it holds"
            yield Problem(message, path, severity="warning")
        else:
            yield from _told(path, "a git folder in the environment", found)
    for path, inside in packed_contents(files).items():
        yield from _archived(path, inside)
    for entry in files.files("environment/"):
        if entry.name == ".git":
            message = "a .git file points to a repository outside of the image"
            yield Problem(message, entry.path, 1, severity="warning")
        elif files.data(entry.path)[:16].startswith((b"# v2 git bundle", b"# v3 git bundle")):
            commits = gitstate.bundle_commits(files.root / entry.path)
            if commits is None or commits > 1:
                count = "an unknown number of" if commits is None else str(commits)
                message = f"a git bundle in the environment carries {count} commits"
                yield Problem(message, entry.path, severity="warning" if commits is None else None)


def _told(path: str, what: str, found: gitstate.History) -> Iterator[Problem]:
    if found.later:
        where = f" ({', '.join(found.names)})" if found.names else " (reflog, stash or unreachable)"
        subjects = "; ".join(repr(s) for s in found.subjects if s)
        count = "1 commit" if found.later == 1 else f"{found.later} commits"
        yield Problem(f"{what} holds {count} beyond its baseline{where}: {subjects}", path)
    elif found.loose:
        count = "1 object" if found.loose == 1 else f"{found.loose} objects"
        yield Problem(f"{what} holds {count} beyond its baseline commit", path)
    elif found.ancestors:
        count = "1 commit" if found.ancestors == 1 else f"{found.ancestors} commits"
        yield Problem(f"{what} carries {count} before its baseline", path, severity="warning")


def _archived(path: str, inside: list[tuple[str, bytes]]) -> Iterator[Problem]:
    """Repositories in an archive: their files are laid out in a temporary folder and read as any other's."""
    folders = {n.removesuffix("HEAD") for n, _ in inside if n == "HEAD" or n.endswith("/HEAD")}
    for folder in sorted(folders):
        members = [(n.removeprefix(folder), content) for n, content in inside if n.startswith(folder)]
        if not any(name.startswith("objects/") for name, _ in members):
            continue
        with temporary_folder("git") as target:
            for name, content in members:
                parts = PurePosixPath(name).parts
                if not parts or parts[0] not in _OF_GIT or ".." in parts or name.startswith("/"):
                    continue
                with suppress(
                    OSError, ValueError
                ):  # a name that is a folder elsewhere, too long, or none at all
                    (target / name).parent.mkdir(parents=True, exist_ok=True)
                    (target / name).write_bytes(content)
            found = gitstate.history(target)
        if found is not None:
            yield from _told(path, f"the git folder {folder or '.'} in this archive", found)


_OF_GIT = ("HEAD", "objects", "refs", "logs", "packed-refs", "index")


@rule(name="git-clone-history", pack="harbor", severity="warning")
def git_clone_history(files: TaskFiles) -> Iterator[Problem]:
    """The image clones a repository with its whole history, later commits among it.

    Why: `git clone` and `git checkout <parent of the fix>` leave the fix in the object store; `git log --all` shows it.
    Bad: RUN git clone https://host/x.git && git -C x checkout 1a2b3c
    Good: the same, followed by rm -rf x/.git
    Fix: clone one commit (git fetch --depth 1 origin COMMIT) or remove .git in the same RUN.
    """
    for path, dockerfile in files.dockerfiles.items():
        if path.startswith("tests/"):
            continue
        text = "\n".join(i.text for i in dockerfile.final if i.op == "RUN")
        if ".git" in text.replace(".git ", " ") and "rm -rf" in text and "/.git" in text:
            continue
        for instruction in dockerfile.final:
            if instruction.op == "ADD" and instruction.flags.get("keep-git-dir") in ("", "true"):
                yield Problem("ADD --keep-git-dir brings the repository's history", path, instruction.line)
            if instruction.op != "RUN" or instruction.exec_form is not None:
                continue
            for command in parse_script(instruction.text, instruction.line).commands:
                if command.name == "git" and command.args[:1] == ("clone",):
                    shallow = any(a.startswith("--depth") for a in command.args)
                    if not shallow and "rm -rf" not in instruction.text:
                        message = "git clone brings every later commit into the image"
                        yield Problem(message, path, command.line)
