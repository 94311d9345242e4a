"""Make git repositories fast: one `git fast-import` stream, no work tree."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

EPOCH_S = 1_700_000_000
DAY_S = 86_400
#: A file's content, or mode and content; None deletes it.
File = bytes | str | tuple[str, bytes] | None


def git(repository: Path, *arguments: str, stdin: bytes = b"", **environment: str) -> bytes:
    """Run git in a repository of the test's own, without the machine's configuration."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    kept |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"} | environment
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments],
        input=stdin,
        capture_output=True,
        check=True,
        env=kept,
        timeout=120,
    )
    return done.stdout


@dataclass
class History:
    """Commits on `main`, a chosen number of days apart."""

    path: Path
    bare: bool = True
    time_s: int = EPOCH_S
    _stream: list[bytes] = field(default_factory=list)
    _count: int = 0

    def commit(
        self,
        message: str,
        files: dict[str, File],
        *,
        days: float = 1.0,
        author: str = "A Person <person@corp.test>",
    ) -> int:
        """Add a commit and give its mark: its index from 1."""
        self.time_s += int(days * DAY_S)
        self._count += 1
        text = message.encode()
        head = f"commit refs/heads/main\nmark :{self._count}\n"
        head += f"author {author} {self.time_s} +0000\ncommitter {author} {self.time_s} +0000\n"
        parts = [head.encode(), b"data %d\n" % len(text), text, b"\n"]
        # Deletions first: a file may become a folder in one commit.
        for path, content in sorted(files.items(), key=lambda item: item[1] is not None):
            quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
            if content is None:
                parts.append(f"D {quoted}\n".encode())
                continue
            mode, data = content if isinstance(content, tuple) else ("100644", content)
            raw = data.encode() if isinstance(data, str) else data
            if mode == "160000":
                parts.append(f"M 160000 {raw.decode()} {quoted}\n".encode())
            else:
                parts.append(f"M {mode} inline {quoted}\n".encode() + b"data %d\n" % len(raw) + raw + b"\n")
        self._stream.append(b"".join(parts))
        return self._count

    def write(self) -> dict[int, str]:
        """Make the repository; give the commit ID of each mark."""
        self.path.mkdir(parents=True, exist_ok=True)
        git(self.path, "init", "--quiet", "--initial-branch=main", *(["--bare"] if self.bare else []))
        marks = self.path / "marks"
        stream = b"".join(self._stream) + b"done\n"
        git(self.path, "fast-import", "--quiet", "--done", f"--export-marks={marks}", stdin=stream)
        lines = [line.split() for line in marks.read_text().splitlines()]
        marks.unlink()
        return {int(mark[1:]): oid for mark, oid in lines}
