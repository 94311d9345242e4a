"""Version-control data that travels into the agent's container."""

from __future__ import annotations

from collections.abc import Iterator

from harbor_author.checks import gitstate
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.script import parse_script


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
            continue
        if found.later:
            where = f" ({', '.join(found.names)})" if found.names else " (reflog, stash or unreachable)"
            subjects = "; ".join(repr(s) for s in found.subjects if s)
            message = f"a git folder in the environment holds {found.later} commits beyond its baseline"
            message += f"{where}: {subjects}"
            yield Problem(message, path)
        elif found.loose:
            message = (
                f"a git folder in the environment holds {found.loose} objects beyond its baseline commit"
            )
            yield Problem(message, path)
        elif found.ancestors:
            message = f"a git folder in the environment carries {found.ancestors} commits before its baseline"
            yield Problem(message, path, severity="warning")
    for entry in files.files("environment/"):
        if entry.name == ".git":
            message = "a .git file points to a repository outside of the image"
            yield Problem(message, entry.path, 1, severity="warning")
        elif entry.name.endswith(".bundle") and files.data(entry.path)[:16].startswith(b"# v"):
            yield Problem("a git bundle in the environment carries history", entry.path, severity="warning")


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
            if instruction.op != "RUN" or instruction.exec_form is not None:
                continue
            for command in parse_script(instruction.text, instruction.line).commands:
                if command.name == "git" and command.args[:1] == ("clone",):
                    shallow = any(a.startswith("--depth") for a in command.args)
                    if not shallow and "rm -rf" not in instruction.text:
                        message = "git clone brings every later commit into the image"
                        yield Problem(message, path, command.line)
