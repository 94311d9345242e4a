"""Read-only access to the objects of a git repository that nobody vouches for.

The repository's own configuration is never in force. Git is pointed at a *shadow* directory of ours: an
own, empty `config`, and links to the repository's refs and objects. So hooks, filters, external diffs,
pagers, signature programs, fsmonitor, credential helpers, includes, grafts, replace refs and attributes
have no effect by construction and not by a list of switches that the next git release outgrows. Nothing is
checked out, fetched or written. `GIT_DIR` is given explicitly, so `safe.directory` (which guards against
the configuration that we do not read) does not apply.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harbor_author.mining.errors import MiningError

OID = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_TIMEOUT_S = 120.0
_CHUNK = 1 << 20
#: Git maps packs and keeps delta bases up to these sizes; its own defaults grow with the repository.
_MEMORY = "\tpackedGitWindowSize = 1m\n\tpackedGitLimit = 16m\n\tdeltaBaseCacheLimit = 16m\n"
#: Requests written ahead of their answers must fit a pipe's 64 KiB, or both sides would wait for ever.
_REQUESTS_AHEAD = 512


@dataclass(frozen=True)
class Entry:
    """One leaf of a tree: a file (`100644`, `100755`), a link (`120000`) or a submodule (`160000`)."""

    path: str
    mode: str
    oid: str
    size: int

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"

    @property
    def is_submodule(self) -> bool:
        return self.mode == "160000"

    @property
    def executable(self) -> bool:
        return self.mode == "100755"


@dataclass(frozen=True)
class Change:
    """One changed path of a commit against its first parent; `None` on the side where it does not exist."""

    path: bytes
    old: bytes | None
    new: bytes | None
    old_mode: bytes
    new_mode: bytes


@dataclass(frozen=True)
class Commit:
    """A commit's own data; `time_s` is the committer's, in seconds since 1970."""

    oid: str
    parents: tuple[str, ...]
    time_s: int
    message: str

    @property
    def subject(self) -> str:
        return self.message.strip().split("\n", 1)[0].strip()


@dataclass(frozen=True)
class LoggedCommit:
    """A commit with its changes, as `Repository.log` streams it."""

    commit: Commit
    changes: tuple[Change, ...]


class Repository:
    """An open repository. Use `open_repository`, which also removes the shadow directory."""

    def __init__(self, *, path: Path, common: Path, shadow: Path) -> None:
        self.path = path
        self._common = common
        self._objects = (common / "objects").resolve()
        self._shadow = shadow

    def _environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if key in os.environ}
        return kept | {
            "HOME": str(self._shadow),
            "LC_ALL": "C",
            "GIT_DIR": str(self._shadow),
            "GIT_OBJECT_DIRECTORY": str(self._objects),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
        }

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return ["git", "--no-pager", "--literal-pathspecs", *arguments]

    def run(self, *arguments: str, timeout_s: float = _TIMEOUT_S) -> bytes:
        """The standard output of one git command.

        Raises:
            MiningError: git failed or took longer than `timeout_s`.
        """
        try:
            done = subprocess.run(
                self._command(arguments),
                env=self._environment(),
                cwd=self._shadow,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MiningError(
                f"git {arguments[0]} gave no answer in {timeout_s:.0f} s", path=self.path
            ) from None
        if done.returncode != 0:
            raise self._failed(arguments[0], done.stderr)
        return done.stdout

    def _failed(self, what: str, stderr: bytes) -> MiningError:
        lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        cause = re.sub(r"^(fatal|error): ", "", lines[-1]) if lines else "no message"
        return MiningError(
            f"git {what} failed: {cause}",
            path=self.path,
            hint="'git fsck' in the repository tells what is damaged.",
        )

    def resolve(self, revision: str) -> str:
        """The commit ID that `revision` names.

        Raises:
            MiningError: it names no commit.
        """
        if not revision or revision.startswith("-") or "\0" in revision or "\n" in revision:
            raise MiningError(f"{revision!r} is not a revision", path=self.path)
        try:
            out = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        except MiningError:
            raise MiningError(
                f"'{revision}' names no commit of this repository",
                path=self.path,
                hint="Give a commit ID, a tag or a branch that 'git log' knows here.",
            ) from None
        return out.decode().strip()

    def commit(self, oid: str) -> Commit:
        """The commit `oid` (a full ID)."""
        logged = next(iter(self.log(oid, limit=1, changes=False)), None)
        if logged is None:
            raise MiningError(f"commit {oid} cannot be read", path=self.path)
        return logged.commit

    def tree_id(self, commit: str, subdir: str = "") -> str:
        """The ID of the tree of `commit` (or of its folder `subdir`).

        Raises:
            MiningError: there is no such folder in that commit.
        """
        try:
            out = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}:{subdir}")
            kind = self.run("cat-file", "-t", out.decode().strip())
        except MiningError:
            kind = b""
        if kind.strip() != b"tree":
            raise MiningError(f"commit {commit[:12]} has no folder '{subdir}'", path=self.path)
        return out.decode().strip()

    def tree(self, tree_id: str) -> tuple[Entry, ...]:
        """Every leaf below the tree `tree_id`, in git's order.

        Raises:
            MiningError: a name is not UTF-8, or would leave the folder it is written to.
        """
        return self._entries("ls-tree", "-r", "-z", "-l", "--full-tree", tree_id)

    def _entries(self, *command: str) -> tuple[Entry, ...]:
        entries = []
        for line in self.run(*command).split(b"\0"):
            if not line:
                continue
            head, _, raw = line.partition(b"\t")
            mode, kind, oid, size = head.split()
            if kind == b"tree":
                continue
            entries.append(
                Entry(
                    path=self._safe_path(raw),
                    mode=mode.decode(),
                    oid=oid.decode(),
                    size=0 if size == b"-" else int(size),
                )
            )
        return tuple(entries)

    def _safe_path(self, raw: bytes) -> str:
        try:
            path = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise MiningError(f"the file name {raw!r} is not UTF-8", path=self.path) from None
        parts = path.split("/")
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or re.search(
            r"[\x00-\x1f\x7f\\]", path
        ):
            raise MiningError(f"the file name {path!r} cannot be written safely", path=self.path)
        return path

    def top_files(self, commit: str) -> tuple[Entry, ...]:
        """The files at the top of a commit's tree."""
        return self._entries("ls-tree", "-z", "-l", "--full-tree", commit)

    def corridor(self, before: str, after: str) -> tuple[str, ...]:
        """The commits after `before` up to `after`, oldest first, along first parents.

        Raises:
            MiningError: `before` is not an ancestor of `after`.
        """
        out = self.run("rev-list", "--first-parent", "--reverse", f"{before}..{after}").split()
        oids = tuple(oid.decode() for oid in out)
        if not oids or before not in self.commit(oids[0]).parents:
            raise MiningError(
                f"{before[:12]} does not lead to {after[:12]} along first parents",
                path=self.path,
                hint="Give --from a commit on the same line of history, before COMMIT.",
            )
        return oids

    def changed_paths(self, before: str, after: str) -> tuple[str, ...]:
        """Every path that differs between two commits."""
        out = self.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", before, after)
        return tuple(path.decode("utf-8", "replace") for path in out.split(b"\0") if path)

    def remote(self) -> str | None:
        """Where the repository says that it was cloned from, without a user or password."""
        try:
            url = self.run(
                "config", "--no-includes", "--file", str(self._common / "config"), "remote.origin.url"
            )
        except MiningError:
            return None
        text = url.decode("utf-8", "replace").strip()
        if re.match(r"^(https?|ssh|git)://|^[\w.-]+@[\w.-]+:", text) is None:
            return None  # a folder of somebody's machine
        return re.sub(r"^(\w+://)[^/@]*@", r"\1", text)

    def log(
        self, *revisions: str, limit: int | None = None, changes: bool = True, first_parent: bool = False
    ) -> Iterator[LoggedCommit]:
        """Stream commits, newest first, each with its changes against its only parent; merges are left out.

        Memory is flat: one git process, read in chunks.

        Raises:
            MiningError: an object is missing or damaged.
        """
        arguments = [
            "log",
            "-z",
            "--format=%H%x00%P%x00%ct%x00%B%x00",
            "--no-show-signature",
            "--no-notes",
            "--no-color",
            "--encoding=UTF-8",
        ]
        if changes:
            arguments += ["--raw", "--no-renames", "--no-abbrev", "--no-merges", "--root", "--no-ext-diff"]
            arguments += ["--no-textconv", "--ignore-submodules=none"]
        else:
            arguments += ["--no-patch"]
        if first_parent:
            arguments.append("--first-parent")
        if limit is not None:
            arguments.append(f"--max-count={limit}")
        with self._process([*arguments, "--end-of-options", *revisions, "--"]) as process:
            assert process.stdout is not None
            yield from _parse_log(process.stdout)
            self._finish(process, "log")

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """A reader of blobs by ID, one git process for all."""
        with self._process(["cat-file", "--batch"], stdin=subprocess.PIPE) as process:
            yield BlobReader(self, process)

    @contextmanager
    def _process(
        self, arguments: Sequence[str], *, stdin: int = subprocess.DEVNULL
    ) -> Iterator[subprocess.Popen[bytes]]:
        # stderr goes to a file: a pipe that nobody reads could fill and stop git.
        with tempfile.TemporaryFile() as stderr:
            process = subprocess.Popen(
                self._command(arguments),
                env=self._environment(),
                cwd=self._shadow,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=_CHUNK,
            )
            process.mining_stderr = stderr  # type: ignore[attr-defined]
            try:
                yield process
            finally:
                process.kill()
                for stream in (process.stdin, process.stdout):
                    if stream is not None:
                        with suppress(BrokenPipeError):
                            stream.close()
                process.wait()

    def _finish(self, process: subprocess.Popen[bytes], what: str) -> None:
        if process.wait() != 0:
            stderr: IO[bytes] = process.mining_stderr  # type: ignore[attr-defined]
            stderr.seek(0)
            raise self._failed(what, stderr.read())


class BlobReader:
    """Blobs by ID through one `git cat-file --batch`; `None` for one that is larger than asked for."""

    def __init__(self, repository: Repository, process: subprocess.Popen[bytes]) -> None:
        self._repository = repository
        self._process = process

    def read(self, oid: str) -> bytes:
        """The bytes of one blob.

        Raises:
            MiningError: the object is missing or damaged.
        """
        content = self.read_many([oid.encode()])[0]
        assert content is not None
        return content

    def read_many(self, oids: Sequence[bytes], *, max_bytes: int | None = None) -> list[bytes | None]:
        """The blobs in the order asked for."""
        return list(self.stream(oids, max_bytes=max_bytes))

    def stream(self, oids: Sequence[bytes], *, max_bytes: int | None = None) -> Iterator[bytes | None]:
        """The same one by one, so that git unpacks the next while the caller looks at this."""
        for start in range(0, len(oids), _REQUESTS_AHEAD):
            asked = oids[start : start + _REQUESTS_AHEAD]
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None
            assert stdout is not None
            try:
                stdin.write(b"".join(oid + b"\n" for oid in asked))
                stdin.flush()
            except BrokenPipeError:
                self._died()
            for oid in asked:
                yield self._answer(stdout, oid, max_bytes)

    def _answer(self, stdout: IO[bytes], oid: bytes, max_bytes: int | None) -> bytes | None:
        head = stdout.readline().split()
        if len(head) != 3:
            if not head:
                self._died()
            raise MiningError(
                f"object {oid.decode()} is missing or damaged",
                path=self._repository.path,
                hint="'git fsck' in the repository tells what is damaged; a partial clone lacks objects by design.",
            )
        size = int(head[2])
        if max_bytes is not None and size > max_bytes:
            left = size + 1
            while left:
                left -= len(stdout.read(min(left, _CHUNK))) or self._died()
            return None
        content = stdout.read(size + 1)
        if len(content) != size + 1:
            self._died()
        return content[:-1]

    def _died(self) -> int:
        self._repository._finish(self._process, "cat-file")
        raise MiningError("git cat-file ended early", path=self._repository.path)


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _parse_log(stream: IO[bytes]) -> Iterator[LoggedCommit]:
    """Commits of `git log -z --raw`: four fields, an empty token, then pairs of raw line and path."""
    tokens = _tokens(stream)
    token = next(tokens, None)
    while token is not None and token:
        try:
            oid, parents, time_s, message = token, next(tokens), next(tokens), next(tokens)
            next(tokens)
            changes: list[Change] = []
            token = next(tokens, None)
            while token is not None and token[:2].lstrip(b"\n").startswith(b":"):
                old_mode, new_mode, old, new, _status = token.lstrip(b"\n")[1:].split(b" ")
                changes.append(
                    Change(
                        path=next(tokens),
                        old=None if old_mode == b"000000" else old,
                        new=None if new_mode == b"000000" else new,
                        old_mode=old_mode,
                        new_mode=new_mode,
                    )
                )
                token = next(tokens, None)
        except StopIteration:
            return  # a truncated stream; the caller sees git's exit status
        commit = Commit(
            oid=oid.decode("ascii", "replace"),
            parents=tuple(parents.decode("ascii", "replace").split()),
            time_s=int(time_s or 0),
            message=message.decode("utf-8", "replace"),
        )
        yield LoggedCommit(commit=commit, changes=tuple(changes))


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
    with tempfile.TemporaryDirectory(prefix="author-mining-") as folder:
        shadow = Path(folder)
        (shadow / "config").write_text(_format_lines(common), "utf-8")
        (shadow / "HEAD").write_text(head + "\n", "utf-8")
        for name in ("refs", "packed-refs", "reftable"):
            if (common / name).exists():
                (shadow / name).symlink_to((common / name).resolve())
        if not (shadow / "refs").exists():
            (shadow / "refs").mkdir()
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


def _has_commit(repository: Repository) -> bool:
    """Whether anything was ever committed: a ref exists, or HEAD is a commit ID."""
    head = (repository._shadow / "HEAD").read_text("utf-8")
    packed = repository._shadow / "packed-refs"
    if not head.startswith("ref:") or packed.exists():
        return True
    name = head.removeprefix("ref:").strip()
    return (repository._shadow / name).exists()
