"""Small tasks for proofs: a solution that writes `done` into /app/answer, and a judge that asks just for that."""

from __future__ import annotations

from pathlib import Path

from harbor_author.suite import Task

TOML = """\
schema_version = "1.4"

[task]
name = "test/answer"

[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0

[environment]
network_mode = "no-network"
memory_mb = 512
"""
SOLVE = "#!/bin/bash\necho done > /app/answer\n"
JUDGE = """\
#!/bin/bash
if [ "$(cat /app/answer 2>/dev/null)" = done ]; then reward=1; else reward=0; fi
echo $reward > /logs/verifier/reward.txt
"""
FILES: dict[str, str | None] = {
    "task.toml": TOML,
    "instruction.md": "Write done into /app/answer.\n",
    "environment/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\n",
    "solution/solve.sh": SOLVE,
    "tests/test.sh": JUDGE,
}


def make_task(parent: Path, name: str = "answer", **changes: str | None) -> Task:
    """A task directory; keyword arguments replace files, `solution__solve_sh` for solution/solve.sh; None: no file."""
    directory = parent / name
    files = dict(FILES)
    for key, content in changes.items():
        path = key.replace("__", "/")
        files[path.rpartition("_")[0] + "." + path.rpartition("_")[2] if "_" in path else path] = content
    write_files(directory, files)
    return Task(directory)


def write_files(directory: Path, files: dict[str, str | None]) -> None:
    for name, content in files.items():
        if content is None:
            continue
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
