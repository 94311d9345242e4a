"""Find a repository and point git at it, without its configuration (see `git.py`)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harbor_author.integrity.temporary import owned_folder
from harbor_author.mining.errors import MiningError
from harbor_author.mining.git import Repository

#: Git maps packs and keeps delta bases up to these sizes; its own defaults grow with the repository.
_MEMORY = "\tpackedGitWindowSize = 1m\n\tpackedGitLimit = 16m\n\tdeltaBaseCacheLimit = 16m\n"


def _git_dir(path: Path) -> Path:
    """The git directory at or above `path`: a bare one, a work tree's `.git`, or what a `.git` file names."""
    here = path.resolve()
    for folder in (here, *here.parents):
        dot_git = folder / ".git"
        if dot_git.is_dir():
            return dot_git
        if dot_git.is_file():
            text = dot_git.read_text("utf-8", "replace").strip()
            if text.startswith("gitdir:"):
                named = Path(text.removeprefix("gitdir:").strip())
                return named if named.is_absolute() else folder / named
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir():
            return folder
    raise MiningError(
        "is not a git repository", path=path, hint="Give the folder of a clone or a bare repository."
    )


def _format_lines(git_dir: Path) -> str:
    """The two settings that say how the repository is stored; read as plain text, nothing else is taken over."""
    try:
        config = (git_dir / "config").read_text("utf-8", "replace")
    except OSError:
        config = ""
    extensions = dict(re.findall(r"(?im)^\s*(objectformat|refstorage)\s*=\s*(\w+)\s*$", config))
    lines = [f"\t{key} = {value}" for key, value in extensions.items()]
    version = 1 if lines else 0
    text = f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{_MEMORY}"
    return text + ("[extensions]\n" + "\n".join(lines) + "\n" if lines else "")


@contextmanager
def open_repository(path: Path) -> Iterator[Repository]:
    """Open the repository at or above `path` for reading; works for bare ones and linked worktrees.

    Raises:
        MiningError: not a repository, empty, shallow, or unreadable.
    """
    if shutil.which("git") is None:
        raise MiningError("git is not installed, or not on PATH", hint="Install git.")
    if not path.exists():
        raise MiningError(
            "does not exist", path=path, hint="Give the folder of a clone or a bare repository."
        )
    try:
        git_dir = _git_dir(path)
        common = git_dir
        if (git_dir / "commondir").is_file():
            named = Path((git_dir / "commondir").read_text("utf-8").strip())
            common = named if named.is_absolute() else git_dir / named
        head = (git_dir / "HEAD").read_text("utf-8", "replace").strip()
    except OSError as error:
        raise MiningError(f"cannot be read: {error.strerror}", path=path) from None
    objects = common / "objects"
    if not re.fullmatch(r"ref: refs/\S+|[0-9a-f]{40,64}", head) or not objects.is_dir():
        raise MiningError("is damaged: no usable HEAD or no objects", path=path, hint="Clone it anew.")
    if (common / "shallow").is_file() and (common / "shallow").stat().st_size:
        raise MiningError(
            "is a shallow clone, so commits lack their parents",
            path=path,
            hint="Run 'git fetch --unshallow' there.",
        )
    try:
        folder = owned_folder("mining")
    except OSError as error:
        raise MiningError(
            f"no temporary folder can be made: {error.strerror}", hint="Free some space."
        ) from None
    with folder:
        shadow = Path(folder.name)
        try:
            _make_shadow(shadow, common, head)
        except OSError as error:
            raise MiningError(f"cannot be read: {error.strerror}", path=error.filename or path) from None
        repository = Repository(path=path, common=common, shadow=shadow)
        try:
            repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except MiningError:
            if _has_commit(repository):
                raise MiningError(
                    "HEAD names no commit that can be read",
                    path=path,
                    hint="'git fsck' tells what is damaged.",
                ) from None
            raise MiningError(
                "has no commits", path=path, hint="Nothing can be mined from an empty repository."
            ) from None
        yield repository


def _make_shadow(shadow: Path, common: Path, head: str) -> None:
    """The git directory that git is pointed at: our configuration, the repository's refs."""
    (shadow / "config").write_text(_format_lines(common), "utf-8")
    (shadow / "HEAD").write_text(head + "\n", "utf-8")
    for name in ("refs", "packed-refs", "reftable"):
        if (common / name).exists():
            (shadow / name).symlink_to((common / name).resolve())
    if not (shadow / "refs").exists():
        (shadow / "refs").mkdir()


def _has_commit(repository: Repository) -> bool:
    """Whether anything was ever committed: a ref exists, or HEAD is a commit ID."""
    head = (repository._shadow / "HEAD").read_text("utf-8")
    packed = repository._shadow / "packed-refs"
    if not head.startswith("ref:") or packed.exists():
        return True
    name = head.removeprefix("ref:").strip()
    return (repository._shadow / name).exists()
