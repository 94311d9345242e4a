"""The two states of a migration, read from git's objects, less what must not travel into a task."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from harbor_author.mining.errors import MiningError
from harbor_author.mining.facts import is_test
from harbor_author.mining.git import Entry
from harbor_author.mining.git_stream import BlobReader

SIZE_LIMIT: Final = 1024 * 1024
_CI: Final = re.compile(
    r"^(\.github|\.gitlab|\.circleci|\.husky|\.changeset|\.buildkite|\.forgejo|\.gitea|\.woodpecker)/"
    r"|(^|/)(\.travis\.ya?ml|\.gitlab-ci\.ya?ml|\.drone\.ya?ml|\.woodpecker\.ya?ml|\.?appveyor\.ya?ml|Jenkinsfile"
    r"|azure-pipelines\.ya?ml|renovate\.json5?|\.releaserc[^/]*|CODEOWNERS)$"
)
_ASSISTANTS: Final = re.compile(
    r"(^|/)(AGENTS\.md|CLAUDE\.md|GEMINI\.md|\.cursorrules|\.cursor/.*|\.claude/.*|\.windsurf/.*)$"
)
_GIT: Final = re.compile(
    r"(^|/)(\.gitattributes|\.gitignore|\.gitmodules|\.mailmap|\.git-blame-ignore-revs|\.gitkeep)$"
)
_CREDENTIALS: Final = re.compile(
    r"(^|/)(\.npmrc|\.yarnrc(\.yml)?|\.env(\.[\w.-]+)?|id_rsa|id_ed25519|[^/]+\.(pem|p12|pfx|key))$"
)
_MODULES: Final = re.compile(r"(^|/)node_modules/")
_LFS: Final = b"version https://git-lfs.github.com/spec/v1\n"


@dataclass(frozen=True)
class TreeFile:
    """A regular file of a state."""

    data: bytes
    executable: bool = False

    @property
    def mode(self) -> int:
        return 0o755 if self.executable else 0o644


Tree = dict[str, TreeFile]


@dataclass(frozen=True)
class LeftOut:
    """A path that stays behind, and why. `changed`: the migration touched it."""

    path: str
    why: str
    changed: bool


@dataclass(frozen=True)
class States:
    """Before, between (with `--trap`) and after. Paths are below the extracted folder."""

    before: Tree
    after: Tree
    between: Tree | None
    left_out: tuple[LeftOut, ...]


def read_states(
    blobs: BlobReader,
    *,
    before: Sequence[Entry],
    after: Sequence[Entry],
    between: Sequence[Entry] | None,
    wanted: Sequence[str],
    size_limit: int = SIZE_LIMIT,
) -> States:
    """Read what travels of each state; the same paths stay behind on every side.

    Args:
        wanted: globs of paths to keep although they are tests or CI (`--with`).

    Raises:
        MiningError: the migration changes a link, a submodule or a large file's pointer, whose content a task cannot
            hold; or two names collide on file systems that a task must survive.
    """
    sides = [before, after, *([between] if between is not None else [])]
    by_path: dict[str, list[Entry | None]] = {}
    for index, side in enumerate(sides):
        for entry in side:
            by_path.setdefault(entry.path, [None] * len(sides))[index] = entry
    left_out: dict[str, LeftOut] = {}
    for path, entries in by_path.items():
        changed = len({(entry.mode, entry.oid) if entry else None for entry in entries}) > 1
        why = _stays_behind(path, [entry for entry in entries if entry], wanted, size_limit)
        if why is None:
            continue
        if changed and why in (_LINK, _SUBMODULE):
            raise MiningError(
                f"the migration changes {path}, which is {why}",
                hint="A task cannot hold it, so its solution would not be upstream's; take another commit or --subdir.",
            )
        left_out[path] = LeftOut(path=path, why=why, changed=changed)
    kept = [[entry for entry in side if entry.path not in left_out] for side in sides]
    trees = _read(blobs, kept)
    for path in sorted({path for tree in trees for path, file in tree.items() if file.data.startswith(_LFS)}):
        versions = {tree[path].data if path in tree else None for tree in trees}
        if len(versions) > 1:
            raise MiningError(
                f"the migration changes {path}, whose content git does not hold (a pointer of Git LFS)",
                hint="Choose another commit or --subdir.",
            )
        left_out[path] = LeftOut(
            path=path, why="a pointer of Git LFS: git does not hold its content", changed=False
        )
        for tree in trees:
            tree.pop(path, None)
    _check_names({path for tree in trees for path in tree})
    return States(
        before=trees[0],
        after=trees[1],
        between=trees[2] if between is not None else None,
        left_out=tuple(left_out[path] for path in sorted(left_out)),
    )


_LINK: Final = "a symbolic link"
_SUBMODULE: Final = "a submodule"


def _stays_behind(path: str, entries: Sequence[Entry], wanted: Sequence[str], size_limit: int) -> str | None:
    if any(entry.is_submodule for entry in entries):
        return _SUBMODULE
    if any(entry.is_link for entry in entries):
        return _LINK
    if _GIT.search(path):
        return "a setting of git's own"
    if _CREDENTIALS.search(path):
        return "a file that holds credentials"
    if _MODULES.search(path):
        return "an installed dependency"
    if any(entry.size > size_limit for entry in entries):
        return f"larger than {size_limit // 1024} KiB"
    if any(_glob(path, pattern) for pattern in wanted):
        return None
    if _CI.search(path):
        return "the repository's own automation"
    if _ASSISTANTS.search(path):
        return "instructions to coding assistants"
    if is_test(path):
        return "a test of the repository (--with keeps it)"
    return None


def _glob(path: str, pattern: str) -> bool:
    """`**` spans folders; `*` does, too, as in shell patterns that people type here."""
    return fnmatchcase(path, pattern) or fnmatchcase(path, pattern.replace("**/", ""))


def _read(blobs: BlobReader, sides: Sequence[Sequence[Entry]]) -> list[Tree]:
    """The trees of some listings; a content that several hold is read once and is one object."""
    oids = list(dict.fromkeys(entry.oid for side in sides for entry in side))
    contents = dict(zip(oids, blobs.stream([oid.encode() for oid in oids]), strict=True))
    trees: list[Tree] = []
    for side in sides:
        tree: Tree = {}
        for entry in side:
            data = contents[entry.oid]
            assert data is not None, "only a limit on the size leaves a blob out"
            tree[entry.path] = TreeFile(data=data, executable=entry.executable)
        trees.append(tree)
    return trees


def _check_names(paths: Iterable[str]) -> None:
    folded: dict[str, str] = {}
    for path in sorted(paths):
        if unicodedata.normalize("NFC", path) != path:
            raise MiningError(f"the file name '{path}' is not in Unicode's composed form (NFC)")
        other = folded.setdefault(path.casefold(), path)
        if other != path:
            raise MiningError(f"'{other}' and '{path}' are one name where case does not count")


def build_output(before: Tree, after: Tree, entries: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Folders of generated code that the migration regenerates.

    Args:
        entries: the paths that the two manifests name as entry points.

    Returns:
        Paths to leave out with the reason, and remarks about folders kept because an entry point lies in them.
    """
    out: dict[str, str] = {}
    remarks: list[str] = []
    if not any(path.startswith("src/") for path in after):
        return out, remarks
    for folder in ("dist", "lib", "build", "out"):
        inside = {path for path in {*before, *after} if path.startswith(folder + "/")}
        if not inside or all(before.get(path) == after.get(path) for path in inside):
            continue
        if any(entry.startswith(folder + "/") for entry in entries):
            remarks.append(f"{folder}/ is build output, kept because the package's entry point lies in it")
        else:
            out.update(dict.fromkeys(inside, "build output that the migration regenerates"))
    return out, remarks


def drop(states: States, reasons: Mapping[str, str]) -> States:
    """The states without some more paths."""
    if not reasons:
        return states
    more = [
        LeftOut(path=path, why=why, changed=states.before.get(path) != states.after.get(path))
        for path, why in reasons.items()
    ]

    def without(tree: Tree) -> Tree:
        return {path: file for path, file in tree.items() if path not in reasons}

    return States(
        before=without(states.before),
        after=without(states.after),
        between=None if states.between is None else without(states.between),
        left_out=tuple(sorted({*states.left_out, *more}, key=lambda item: item.path)),
    )
