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
from harbor_author.mining.git_stream import BlobReader, Commit, LoggedCommit, parse_log

OID = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_TIMEOUT_S = 120.0
_CHUNK = 1 << 20


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


class Repository:
    """An open repository. Use `git_open.open_repository`, which also removes the shadow directory."""

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
        except OSError as error:
            raise _no_git(error) from None
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

    def log(self, *revisions: str, limit: int | None = None, changes: bool = True) -> Iterator[LoggedCommit]:
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
        if limit is not None:
            arguments.append(f"--max-count={limit}")
        with self._process([*arguments, "--end-of-options", *revisions, "--"]) as process:
            assert process.stdout is not None
            yield from parse_log(process.stdout)
            self._finish(process, "log")

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """A reader of blobs by ID, one git process for all."""
        with self._process(["cat-file", "--batch"], stdin=subprocess.PIPE) as process:
            yield BlobReader(process, path=self.path, finish=lambda: self._finish(process, "cat-file"))

    @contextmanager
    def _process(
        self, arguments: Sequence[str], *, stdin: int = subprocess.DEVNULL
    ) -> Iterator[subprocess.Popen[bytes]]:
        # stderr goes to a file: a pipe that nobody reads could fill and stop git.
        with tempfile.TemporaryFile() as stderr:
            try:
                process = subprocess.Popen(
                    self._command(arguments),
                    env=self._environment(),
                    cwd=self._shadow,
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    bufsize=_CHUNK,
                )
            except OSError as error:
                raise _no_git(error) from None
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


def _no_git(error: OSError) -> MiningError:
    return MiningError(f"git cannot be run: {error.strerror}", hint="Install git, or put it on PATH.")
