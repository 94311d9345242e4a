"""The few bytes of upstream's files that a task must not have as they are, and a record of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harbor_author.mining.licence import Licence, is_licence_file
from harbor_author.mining.manifest import make_private
from harbor_author.mining.private import Find, Redactor
from harbor_author.mining.scrub import Hint, scrub
from harbor_author.mining.states import Tree, TreeFile

NOTICE: Final = "Exam material only; not to be published."
_README: Final = "README.md"


@dataclass(frozen=True)
class Edit:
    """One recorded difference between upstream's file and the task's."""

    path: str
    what: str


def prepare(tree: Tree, licence: Licence, redactor: Redactor) -> tuple[Tree, list[Edit], list[Find]]:
    """A state as it may travel: nothing private, `"private": true`, the exam notice, the licence's text.

    The same bytes always become the same bytes, so what the migration leaves alone stays alone.
    """
    clean, finds = redactor.redact(tree)
    edits = [Edit(path=find.path, what=f"line {find.line}: {find.kind} replaced") for find in finds]
    edits += _set_private(clean)
    edits += _give_notice(clean)
    if licence.text is not None and not any(is_licence_file(path) for path in clean):
        clean["LICENSE"] = TreeFile(data=licence.text)
        edits.append(Edit(path="LICENSE", what=f"added: the repository's {licence.path}"))
    return clean, edits, finds


def _set_private(tree: Tree) -> list[Edit]:
    file = tree.get("package.json")
    if file is None:
        return []
    try:
        data = make_private(file.data)
    except ValueError:
        return [
            Edit(path="package.json", what="left as it is: not a JSON object, so it cannot be made private")
        ]
    if data == file.data:
        return []
    tree["package.json"] = TreeFile(data=data, executable=file.executable)
    return [Edit(path="package.json", what='"private": true set')]


def _give_notice(tree: Tree) -> list[Edit]:
    """Put the notice first in README.md; one of another spelling is renamed, and where none is, one comes."""
    edits = []
    for path in sorted(tree):
        if path != _README and path.lower() == _README.lower():
            tree[_README] = tree.pop(path)
            edits.append(Edit(path=_README, what=f"renamed from {path}"))
    file = tree.get(_README)
    if file is None:
        tree[_README] = TreeFile(data=f"{NOTICE}\n".encode())
        return [Edit(path=_README, what="added: the exam notice")]
    newline = b"\r\n" if b"\r\n" in file.data else b"\n"
    tree[_README] = TreeFile(data=NOTICE.encode() + newline + newline + file.data, executable=file.executable)
    return [*edits, Edit(path=_README, what="the exam notice stands first")]


def scrub_fixture(before: Tree, others: Sequence[Tree], hints: Sequence[Hint]) -> tuple[Tree, list[Edit]]:
    """The fixture without the comments and lines that give the answer away.

    A file that the migration leaves alone loses them on every side, so that the reference does not bring them back.
    """
    scrubbed = scrub(before, hints)
    edits = [
        Edit(path=path, what="comments or lines with names of the after state removed")
        for path in sorted({hint.path for hint in hints})
    ]
    for other in others:
        for path in {hint.path for hint in hints}:
            if other.get(path) == before[path]:
                other[path] = scrubbed[path]
    return scrubbed, edits
