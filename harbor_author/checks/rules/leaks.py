"""The answer in the agent's hands: content of solution/ or tests/ in the image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from harbor_author.checks import packed
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.provenance import sliced
from harbor_author.checks.tree import Entry

_CODE = (
    *(".sh", ".py", ".mjs", ".cjs", ".js", ".ts", ".rb"),
    *(".pl", ".go", ".rs", ".java", ".c", ".cpp", ".bat"),
)
_ANSWER = re.compile(
    r"expect|answer|ground.?truth|golden|solution|oracle|label|rubric|grading|judge|checker",
    re.IGNORECASE,
)
#: Share of the significant lines of a secret file that must be found elsewhere, and how many at least.
_SHARE = 0.8
_LINES = 3
_FEW = 12
_LONG = 30
_COMPARE_LIMIT = 256 << 10
_MAX_CANDIDATES = 2000
_MAX_NAMESAKES = 50


def _secret_files(files: TaskFiles) -> Iterator[Entry]:
    prefixes = (*files.solution_prefixes, *files.tests_prefixes)
    for entry in files.files():
        if entry.path.startswith(prefixes) and entry.size:
            yield entry


def _environment(files: TaskFiles) -> list[Entry]:
    """What may reach the image, but for files that define it."""
    found: list[Entry] = [
        entry
        for entry in files.files("environment/")
        if entry.size and entry.name not in (".dockerignore", ".gitignore")
    ]
    return found[:_MAX_CANDIDATES]


@rule(name="answer-leak", pack="harbor", severity="error")
def answer_leak(files: TaskFiles) -> Iterator[Problem]:
    """Content of solution/ or tests/ lies in the environment, where the agent can read it.

    Why: a directory `ref/` copied by `COPY . /app` held the reference solution of a released task; Harbor's lint looks
        for the literal path solution/solve.sh in a COPY line and saw nothing. So content is compared here, never a
        path. Input data that both the judge and the agent need is no leak.
    Bad: environment/ref/solve.sh with the text of solution/solve.sh
    Good: environment/data/sales.csv equal to tests/sales.csv, the input of both
    Fix: remove the copy from environment/, or leave it out of the image by .dockerignore.
    """
    environment = _environment(files)
    by_size: dict[int, list[Entry]] = {}
    for entry in environment:
        by_size.setdefault(entry.size, []).append(entry)
    reported: set[str] = set()
    pairs = _migration_pairs(files)
    for secret in _secret_files(files):
        for entry in by_size.get(secret.size, ()):
            if _is_given(files, secret, entry):
                continue
            if entry.path in reported or not _telling(files, secret, entry, pairs):
                continue
            if files.data(secret.path) == files.data(entry.path) and _copied(files, entry.path):
                reported.add(entry.path)
                yield Problem(f"is the same as {secret.path}: the agent can read it", entry.path)
    for secret in _secret_files(files):
        yield from _near(files, secret, environment, reported, pairs)
        yield from _renamed(files, secret, environment, reported, pairs)
    yield from _packed(files, environment, reported, pairs)


def packed_contents(files: TaskFiles) -> dict[str, list[tuple[str, bytes]]]:
    """File of the environment -> what it packs, of those that pack something."""

    def unpack() -> dict[str, list[tuple[str, bytes]]]:
        found = {}
        for entry in _environment(files):
            if not files.truncated(entry.path) and _PACKED.match(files.data(entry.path)):
                inside = packed.contents(files.data(entry.path))
                if inside:
                    found[entry.path] = inside
        return found

    return files.once("packed", unpack)


#: How an archive, a compressed stream or a text of base64 begins; a tar's mark stands later.
_PACKED = re.compile(
    rb"\x1f\x8b|BZh|\xfd7zXZ|PK\x03\x04|[A-Za-z0-9+/_-]{24,}={0,2}\s|[A-Za-z0-9+/_-]{60,}={0,2}$|.{257}ustar",
    re.DOTALL,
)


def _packed(
    files: TaskFiles, environment: list[Entry], reported: set[str], pairs: dict[str, str]
) -> Iterator[Problem]:
    """A secret file stands in an archive, or compressed or encoded, in the environment."""
    secrets = [s for s in _secret_files(files) if s.size <= _COMPARE_LIMIT]
    for entry in environment:
        inside = packed_contents(files).get(entry.path, ()) if entry.path not in reported else ()
        if not inside or not _copied(files, entry.path):
            continue
        by_name = {name.rsplit("/", 1)[-1]: content for name, content in inside}
        before = any(
            s.name in by_name and by_name[s.name] != files.data(s.path)
            for s in secrets
            if s.path.startswith(tuple(files.solution_prefixes))
        )
        for secret in secrets:
            in_solution = secret.path.startswith(tuple(files.solution_prefixes))
            # An archive of the state before holds the files that the solution leaves alone.
            if (in_solution and before) or not _telling(files, secret, entry, pairs):
                continue
            name = next((n for n, content in inside if _holds(files, secret, content)), None)
            if name is not None:
                where = f"packs {name}, which is" if name else "is an encoded copy of"
                yield Problem(f"{where} {secret.path}: the agent can unpack it", entry.path)
                break


def _holds(files: TaskFiles, secret: Entry, content: bytes) -> bool:
    if content == files.data(secret.path):
        return True
    if len(content) > _COMPARE_LIMIT or files.is_binary(secret.path) or not secret.name.endswith(_CODE):
        return False
    lines = significant(files.text(secret.path))
    common = lines & significant(content.decode("utf-8", "replace"))
    return len(common) >= _LINES and len(common) >= _SHARE * len(lines)


#: Significant lines that a program has at least before its shape alone gives it away.
_SHAPE_LINES = 6
_WORD = re.compile(r"[A-Za-z_]\w*")


@lru_cache(maxsize=1024)
def shape(text: str) -> str:
    """A program with each name replaced by the order in which it first occurs, and white space folded."""
    numbers: dict[str, str] = {}
    lines = (line.strip() for line in text.split("\n"))
    code = "\n".join(line for line in lines if line and not line.startswith(("#", "//", "/*", "*")))
    return _WORD.sub(lambda m: numbers.setdefault(m[0], f"n{len(numbers)}"), " ".join(code.split()))


def _renamed(
    files: TaskFiles, secret: Entry, environment: list[Entry], reported: set[str], pairs: dict[str, str]
) -> Iterator[Problem]:
    """A program of the environment is a secret one but for its names."""
    if not secret.name.endswith(_CODE) or secret.size > _COMPARE_LIMIT or _counterpart(secret.path, pairs):
        return
    if len(significant(files.text(secret.path))) < _SHAPE_LINES:
        return
    suffix = secret.name.rsplit(".", 1)[-1]
    for entry in environment:
        near = secret.size / 2 <= entry.size <= secret.size * 2 and entry.name.endswith(f".{suffix}")
        # Of the same name it is the state that the solution changes.
        if not near or entry.name == secret.name or entry.path in reported or _is_given(files, secret, entry):
            continue
        if shape(files.text(secret.path)) == shape(files.text(entry.path)) and _copied(files, entry.path):
            reported.add(entry.path)
            yield Problem(f"is {secret.path} but for its names: the agent can read it", entry.path)


def _is_given(files: TaskFiles, secret: Entry, entry: Entry) -> bool:
    """What was cut from a real repository is the state before, however much of it the solution keeps."""
    in_solution = secret.path.startswith(tuple(files.solution_prefixes))
    return in_solution and entry.path in files.once("sliced", lambda: sliced(files))


def _copied(files: TaskFiles, path: str) -> bool:
    """The file is not kept out of the image by .dockerignore."""
    from harbor_author.checks.ignore import dockerignore

    if not files.is_file("environment/.dockerignore"):
        return True
    pattern = dockerignore(files.text("environment/.dockerignore")).match(path.removeprefix("environment/"))
    return pattern is None


def _migration_pairs(files: TaskFiles) -> dict[str, str]:
    """Top folder of a solution -> the environment's folder that it is a new state of.

    A solution that carries a whole plugin repeats the files that the migration leaves alone. Two folders are a pair
    when some of their files have the same path and differ.
    """
    by_name: dict[str, list[str]] = {}
    for entry in files.files("environment/"):
        by_name.setdefault(entry.name, []).append(entry.path)
    pairs: dict[str, str] = {}
    for prefix in files.solution_prefixes:
        # For each folder of the solution: folder of the environment -> [files of the same path, those that are equal].
        seen: dict[str, dict[str, list[int]]] = {}
        for entry in files.files(prefix):
            for path in by_name.get(entry.name, ())[:_MAX_NAMESAKES]:
                same = files.entries[path].size == entry.size and files.data(path) == files.data(entry.path)
                for top, folder in _common_tails(entry.path, path, prefix):
                    counts = seen.setdefault(top, {}).setdefault(folder, [0, 0])
                    counts[0] += 1
                    counts[1] += same
        for top, folders in seen.items():
            name = top.rstrip("/").rsplit("/", 1)[-1]
            best = max(folders, key=lambda f: (folders[f][0], f.rstrip("/").rsplit("/", 1)[-1] == name, f))
            matched, equal = folders[best]
            if matched > equal:
                pairs[top] = best
    return pairs


def _common_tails(secret: str, given: str, prefix: str) -> Iterator[tuple[str, str]]:
    """The pairs of folders, each with its slash, in which two files have the same path."""
    ours, theirs = secret.split("/"), given.split("/")
    for depth in range(1, min(len(ours), len(theirs))):
        if ours[-depth] != theirs[-depth]:
            return
        top = "/".join(ours[:-depth]) + "/"
        if len(top) > len(prefix):
            yield top, "/".join(theirs[:-depth]) + "/"


def _counterpart(path: str, pairs: dict[str, str]) -> str:
    """The file of the environment that a solution's file is the new state of, or ""."""
    for top, folder in pairs.items():
        if path.startswith(top):
            return folder + path.removeprefix(top)
    return ""


def _telling(files: TaskFiles, secret: Entry, entry: Entry, pairs: dict[str, str]) -> bool:
    """Equal content of these two would give something away."""
    if secret.size < 16:
        return False
    if secret.path.startswith(tuple(files.solution_prefixes)):
        # An unchanged file of a migration is in both states.
        return _counterpart(secret.path, pairs) != entry.path and not _also_given(files, secret, entry, pairs)
    name = secret.path.split("/", 1)[1]
    if _ANSWER.search(name):
        return True
    # Data of the judge's is usually the input, again; programs never are.
    return (
        secret.name.endswith(_CODE)
        and re.search(r"(?:^|/)(?:test|judge|check|grade|verif|score)", name) is not None
    )


def _also_given(files: TaskFiles, secret: Entry, entry: Entry, pairs: dict[str, str]) -> bool:
    """The same content is an unchanged file of the migration, under whatever name it has elsewhere in the fixture."""
    other = _counterpart(secret.path, pairs)
    return bool(other) and files.is_file(other) and files.data(other) == files.data(secret.path)


@lru_cache(maxsize=1024)
def folded(text: str) -> str:
    """`text` with runs of white space made one blank."""
    return " ".join(text.split())


@lru_cache(maxsize=2048)
def significant(text: str) -> frozenset[str]:
    """Lines that carry something of their own: no blanks, braces, comments or boilerplate."""
    found = set()
    for line in text.split("\n"):
        bare = " ".join(line.split())
        if len(bare) < 12 or bare.startswith(("#", "//", "*", "/*", "<!--", "import ", "from ", "set -")):
            continue
        found.add(bare)
    return frozenset(found)


def _near(
    files: TaskFiles, secret: Entry, environment: list[Entry], reported: set[str], pairs: dict[str, str]
) -> Iterator[Problem]:
    """Most lines of a secret program or answer occur in one file of the environment."""
    if secret.size > _COMPARE_LIMIT or files.is_binary(secret.path):
        return
    in_solution = secret.path.startswith(tuple(files.solution_prefixes))
    if (
        not in_solution
        and not secret.name.endswith(_CODE)
        and not _ANSWER.search(secret.path.split("/", 1)[1])
    ):
        return
    lines = significant(files.text(secret.path))
    counterpart = _counterpart(secret.path, pairs)
    if counterpart and files.is_file(counterpart):
        lines -= significant(files.text(counterpart))
    elif (
        in_solution
        and not pairs
        and secret.name not in ("solve.sh", "SOLUTION.md")
        and not secret.name.endswith(_CODE)
    ):
        return
    needed = 1 if secret.name == "solve.sh" and len(lines) < _LINES else _LINES
    if len(lines) < needed or (needed == 1 and max(map(len, lines), default=0) < 40):
        return
    told = [files.entries[path] for path in files.instructions]
    for entry in [*environment, *told]:
        if entry.path in reported or entry.path == counterpart or entry.size > _COMPARE_LIMIT:
            continue
        if _is_given(files, secret, entry):
            continue
        if files.is_binary(entry.path):
            continue
        theirs = significant(files.text(entry.path))
        common = len(lines & theirs)
        if common < len(lines) <= _FEW:
            # A line can also stand inside a longer one: after RUN, in a string, behind a prompt.
            whole = folded(files.text(entry.path))
            common = sum(1 for line in lines if line in theirs or (len(line) >= _LONG and line in whole))
        if common >= _SHARE * len(lines) and common >= needed and _copied(files, entry.path):
            reported.add(entry.path)
            message = f"holds {common} of {len(lines)} telling lines of {secret.path}: the agent can read it"
            yield Problem(message, entry.path)


@rule(name="agent-image-test-leak", pack="harbor", severity="error", harbor=True)
def agent_image_test_leak(files: TaskFiles) -> Iterator[Problem]:
    """The agent's Dockerfile copies solution/ or tests/ into the image.

    Why: a task built from the task's root, not from environment/, copied `tests` into /app; the agent read the expected
        values.
    Bad: COPY tests /app/tests, with the task's root as build context
    Good: Harbor uploads tests/ itself, after the agent has ended
    Fix: remove the COPY.
    """
    dockerfile = files.dockerfiles.get("environment/Dockerfile")
    for instruction in dockerfile.instructions if dockerfile else ():
        if instruction.op not in ("COPY", "ADD") or "from" in instruction.flags:
            continue
        for source in instruction.words[:-1]:
            clean = re.sub(r"^(?:\.\.?/)+", "", source)
            named = re.match(r"(?:solution|tests)(?:/(?:solve\.sh|test\.sh|test_\w+\.py)?)?$", clean)
            if (
                named
                and (source.startswith("..") or not files.entries.get(f"environment/{clean.rstrip('/')}"))
            ) or (named and re.search(r"solve\.sh|test\.sh|test_\w+\.py", clean)):
                yield Problem(
                    f"copies {source} into the agent's image", "environment/Dockerfile", instruction.line
                )
