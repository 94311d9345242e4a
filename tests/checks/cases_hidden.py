"""Answers and history in disguise, files that say nothing, and compose files that reach too far."""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable

from tests.checks.cases import Draft, bad, near
from tests.checks.support import TOML, git

ANSWER = "".join(
    f"region {name} shipped {number} units\n"
    for name, number in zip("abcdef", range(731, 900, 17), strict=False)
)
PROGRAM = """\
import csv


def column_total(path, name):
    total = 0
    with open(path) as handle:
        for row in csv.DictReader(handle):
            total += int(row[name])
    return total


if __name__ == "__main__":
    print(column_total("/app/data/sales.csv", "amount"))
"""


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@bad("answer-leak", where="environment/data/cache.b64")
def encoded_answer(t: Draft) -> None:
    t.write("tests/expected.txt", ANSWER)
    t.write("environment/data/cache.b64", base64.encodebytes(ANSWER.encode()))


@bad("answer-leak", where="environment/data/cache.gz")
def compressed_answer(t: Draft) -> None:
    t.write("tests/expected.txt", ANSWER)
    t.write("environment/data/cache.gz", gzip.compress(ANSWER.encode()))


@bad("answer-leak", where="environment/data/seed.tgz")
def archived_solution(t: Draft) -> None:
    solve = (t.root / "solution/solve.sh").read_bytes()
    t.write("environment/data/seed.tgz", _tar({"seed/poem.txt": b"x\n", "seed/run.sh": solve}))


@bad("answer-leak", where="environment/data/seed.zip")
def zipped_answer(t: Draft) -> None:
    t.write("tests/expected.txt", ANSWER)
    t.write("environment/data/seed.zip", _zip({"a/b.txt": ANSWER.encode()}))


@near("answer-leak")
def archived_input(t: Draft) -> None:
    poem = (t.root / "tests/poem.txt").read_bytes()
    t.write("environment/data/seed.zip", _zip({"poem.txt": poem}))
    t.write("environment/data/token.b64", base64.encodebytes(b"nothing of anybody's " * 9))
    t.write("environment/data/broken.gz", b"\x1f\x8b\x08\x00broken")
    t.write("environment/data/broken.zip", b"PK\x03\x04broken")


@near("answer-leak")
def archived_state_before(t: Draft) -> None:
    t.write("solution/plugin/keep.js", "export const keep = (value) => value * 2 + 1;\n")
    t.write("solution/plugin/change.js", "export const change = (value) => value - 3;\n")
    before = {
        "keep.js": b"export const keep = (value) => value * 2 + 1;\n",
        "change.js": b"export const change = 1;\n",
    }
    t.write("environment/data/plugin.tgz", _tar({f"package/{name}": text for name, text in before.items()}))


@bad("answer-leak", where="environment/data/old_helper.py")
def renamed_program(t: Draft) -> None:
    t.write("solution/sum.py", PROGRAM)
    t.write(
        "environment/data/old_helper.py", PROGRAM.replace("column_total", "add_up").replace("handle", "fh")
    )


@near("answer-leak")
def program_of_another_shape(t: Draft) -> None:
    t.write("solution/sum.py", PROGRAM)
    other = PROGRAM.replace("column_total", "largest").replace("handle", "fh").replace("row", "line")
    t.write(
        "environment/data/old_helper.py",
        other.replace("total += int(line[name])", "total = max(total, line[name])"),
    )


def _history(t: Draft, fixed: bool) -> None:
    t.write("spare/calc.py", "def add(a, b):\n    return a - b\n")
    t.git("spare", "init", "-q", "-b", "main")
    t.git("spare", "add", ".")
    t.git("spare", "commit", "-qm", "before")
    if fixed:
        t.git("spare", "checkout", "-qb", "fix")
        t.write("spare/calc.py", "def add(a, b):\n    return a + b\n")
        t.git("spare", "commit", "-qam", "fix add")
        t.git("spare", "checkout", "-q", "main")


def _archived(t: Draft, *further: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(t.root / "spare", "repo")
        for name in further:
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"odd\n"))
    _drop(t)
    t.write("environment/data/repo.tar.gz", buffer.getvalue())


def _drop(t: Draft) -> None:
    import shutil

    shutil.rmtree(t.root / "spare")


@bad("git-history-leak", where="environment/data/repo.tar.gz")
def history_in_an_archive(t: Draft) -> None:
    _history(t, fixed=True)
    _archived(t)


@bad("git-history-leak", where="environment/data/repo.tar.gz")
def history_in_an_archive_of_names_that_collide(t: Draft) -> None:
    _history(t, fixed=True)
    _archived(t, "repo/.git/refs", "repo/.git/HEAD/below", "repo/.git/" + "long" * 80)


@near("git-history-leak")
def baseline_in_an_archive(t: Draft) -> None:
    _history(t, fixed=False)
    _archived(t)


@bad("git-history-leak", where="environment/data/repo.bundle")
def history_in_a_bundle(t: Draft) -> None:
    _history(t, fixed=True)
    git(t.root / "spare", "bundle", "create", "-q", str(t.root / "environment/data/repo.bundle"), "--all")
    _drop(t)


@near("git-history-leak")
def baseline_in_a_bundle(t: Draft) -> None:
    _history(t, fixed=False)
    git(t.root / "spare", "bundle", "create", "-q", str(t.root / "environment/data/repo.bundle"), "--all")
    _drop(t)


@bad("git-clone-history", where="environment/Dockerfile", line=4)
def added_with_history(t: Draft) -> None:
    t.append("environment/Dockerfile", "ADD --keep-git-dir=true https://example.org/x.git#v1 /app/x\n")


@near("git-clone-history")
def added_without_history(t: Draft) -> None:
    t.append("environment/Dockerfile", "ADD https://example.org/x.git#v1 /app/x\n")


# ---------------------------------------------------------------- one finding for a file that says nothing


def _says_one_thing(name: str, rule: str, path: str, content: str | bytes) -> None:
    def mutate(t: Draft) -> None:
        t.write(path, content, 0o755 if path.endswith(".sh") else 0o644)

    mutate.__name__ = name
    bad(rule, where=path)(mutate)


_says_one_thing("toml_empty", "invalid-task-files", "task.toml", "\n")
_says_one_thing("toml_utf16", "byte-order-mark", "task.toml", TOML.encode("utf-16"))
_says_one_thing("instruction_blank", "invalid-task-files", "instruction.md", "\n \n")
_says_one_thing("solution_empty", "invalid-task-files", "solution/solve.sh", "")
_says_one_thing("test_blank", "invalid-task-files", "tests/test.sh", "\n\n")
_says_one_thing("dockerfile_empty", "dockerfile-syntax", "environment/Dockerfile", "")


@bad("conflicting-config", where="task.toml")
def successor_beside_the_old_key(t: Draft) -> None:
    t.change("task.toml", "memory_mb = 512", 'memory_mb = 512\nmemory = "2G"')


@bad("crlf-line-ends", where="tests/check.py", line=1)
def program_with_windows_ends(t: Draft) -> None:
    t.script("tests/check.py", "#!/usr/bin/env python3\r\nassert open('/app/counts.txt').read()\r\n")
    t.before("/tests/check.py || exit 1")


@near("crlf-line-ends")
def module_with_windows_ends(t: Draft) -> None:
    t.write("tests/helper.py", "VALUE = 1\r\n")


# ---------------------------------------------------------------- compose


def _compose(name: str, register: Callable[..., object], rule: str, text: str, *also: str) -> None:
    def mutate(t: Draft) -> None:
        t.write("environment/docker-compose.yaml", text)

    mutate.__name__ = name
    register(rule, *also)(mutate)  # type: ignore[operator]


_MAIN = "services:\n  main:\n    build: .\n"
_compose(
    "tests_mounted", bad, "compose-context-leak", f"{_MAIN}    volumes:\n      - ../tests:/app/tests:ro\n"
)
_compose("data_mounted", near, "compose-context-leak", f"{_MAIN}    volumes:\n      - ./data:/mnt/data:ro\n")


@bad("compose-context-leak")
def built_from_the_task(t: Draft) -> None:
    """What the Dockerfile copies lies in the context that compose names: one fault, not two."""
    t.write(
        "environment/docker-compose.yaml",
        "services:\n  main:\n    build:\n      context: ..\n      dockerfile: environment/Dockerfile\n",
    )
    t.change("environment/Dockerfile", "COPY data/", "COPY environment/data/")


@bad("copy-source-missing", where="environment/api/Dockerfile", line=2)
def sidecar_without_its_file(t: Draft) -> None:
    t.write("environment/docker-compose.yaml", f"{_MAIN}  api:\n    build: ./api\n")
    t.write("environment/api/Dockerfile", "FROM node:24-bookworm\nCOPY server.js /srv/\n")


@near("copy-source-missing")
def sidecar_with_its_file(t: Draft) -> None:
    t.write("environment/docker-compose.yaml", f"{_MAIN}  api:\n    build: ./api\n")
    t.write("environment/api/Dockerfile", "FROM node:24-bookworm\nCOPY server.js /srv/\n")
    t.write("environment/api/server.js", "process.exitCode = 0;\n")
