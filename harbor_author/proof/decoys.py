"""Decoys and variants: wrong submissions with the most that they may score, and right ones that must score full."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harbor_author.integrity.files import reap_siblings, temporary_sibling
from harbor_author.integrity.removal import remove_tree
from harbor_author.proof.errors import ProofError, TaskRefusedError
from harbor_author.proof.programme import Planned
from harbor_author.proof.submission import Submission
from harbor_author.proof.verdict import FULL, Expectation
from harbor_author.suite import SuiteError, parse_toml, read_text

DECOYS = "decoys"
VARIANTS = "variants"
_MAX = 100.0
_KEYS = {DECOYS: {"max_score", "score", "why"}, VARIANTS: {"why"}}


@dataclass(frozen=True)
class Declared:
    """A decoy or variant: `low` and `high` are points of 100."""

    name: str
    folder: Path
    low: float
    high: float
    why: str
    is_variant: bool

    @property
    def planned(self) -> Planned:
        kind = "variant" if self.is_variant else "decoy"
        where = VARIANTS if self.is_variant else DECOYS
        # The whole of solution/ is there, so that a decoy may start from what the oracle has.
        submission = Submission(
            f"{kind}:{self.name}", script=f"{where}/{self.name}/solve.sh", source=self.folder.parent.parent
        )
        if self.is_variant:
            return Planned(submission, FULL, self.why)
        return Planned(submission, Expectation(self.low / _MAX, self.high / _MAX, clean=True), self.why)


def read_declared(task_dir: Path) -> list[Declared]:
    """All decoys, then all variants, each by name.

    Raises:
        TaskRefusedError: one lacks its solve.sh or its .toml, or that does not say what it must.
    """
    return [
        _read(folder, kind)
        for kind in (DECOYS, VARIANTS)
        for folder in sorted((task_dir / "solution" / kind).glob("*"))
        if folder.is_dir()
    ]


def _read(folder: Path, kind: str) -> Declared:
    path = folder / f"{kind[:-1]}.toml"

    def refuse(message: str, line: int | None = None) -> TaskRefusedError:
        return TaskRefusedError("task-invalid", message, path=path, line=line)

    if not (folder / "solve.sh").is_file():
        raise TaskRefusedError("task-invalid", "there is no solve.sh", path=folder)
    try:
        source = parse_toml(read_text(path), path=path)
    except SuiteError as error:
        raise refuse(error.message, error.line) from error
    document = source.document
    for key in sorted(document.keys() - _KEYS[kind]):
        raise refuse(f"there is no key {key!r}; known: {', '.join(sorted(_KEYS[kind]))}", source.line(key))
    why = document.get("why")
    if not isinstance(why, str) or not why.strip():
        raise refuse("'why' must say why it tempts, or why it is right", source.line("why"))
    if kind == VARIANTS:
        return Declared(folder.name, folder, _MAX, _MAX, why, True)
    exact, most = document.get("score"), document.get("max_score")
    if (exact is None) == (most is None):
        raise refuse("it needs either 'max_score' or 'score'")
    points = exact if exact is not None else most
    if isinstance(points, bool) or not isinstance(points, (int, float)) or not 0 <= points < _MAX:
        raise refuse(
            f"a decoy scores from 0 to less than {_MAX:g}", source.line("score") or source.line("max_score")
        )
    low = float(points) if exact is not None else float("-inf")
    return Declared(folder.name, folder, low, float(points), why, False)


def new_decoy(task_dir: Path, name: str, *, variant: bool = False, max_score: float = 40) -> list[Path]:
    """Scaffold a decoy (or variant) that starts from the oracle; return the files made.

    Raises:
        ProofError: it exists, its name is no directory name, or the task has no oracle.
    """
    kind = VARIANTS if variant else DECOYS
    folder = task_dir / "solution" / kind / name
    if (
        not name
        or not all(c.isascii() and (c.isalnum() or c == "-") for c in name)
        or name.strip("-") != name
    ):
        raise ProofError(
            f"{name!r} cannot be a name", hint="use lower-case letters, digits and single inner hyphens"
        )
    if not (task_dir / "solution" / "solve.sh").is_file():
        raise ProofError("there is no solution/solve.sh to start from", path=task_dir)
    if os.path.lexists(folder):
        raise ProofError("exists already", path=folder, hint="choose another name, or remove it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    reap_siblings(folder.parent)
    aside = temporary_sibling(folder)
    try:
        aside.mkdir()
        _write_decoy(aside, kind, max_score)
        aside.rename(folder)
    except BaseException:
        if aside.exists():
            remove_tree(aside)
        raise
    return [folder / f"{kind[:-1]}.toml", folder / "solve.sh"]


def _write_decoy(folder: Path, kind: str, max_score: float) -> None:
    toml, solve = folder / f"{kind[:-1]}.toml", folder / "solve.sh"
    if kind == VARIANTS:
        toml.write_text('why = "TODO: why this differs from the oracle and is right all the same"\n')
        ending = "# TODO: do it another right way than the oracle.\n"
    else:
        toml.write_text(
            f"# The most that the judge may give, of 100; or `score = N` for exactly that.\nmax_score = {max_score:g}\n"
            'why = "TODO: why an agent would do this"\n'
        )
        ending = "# TODO: undo, or do wrongly, what this decoy is about.\n"
    solve.write_text(f"#!/bin/bash\nset -euo pipefail\n/solution/solve.sh\n{ending}")
    solve.chmod(0o755)
