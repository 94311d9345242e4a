"""docs/schemas.md says of every JSON document which fields it has, and is held against what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.docs.outputs import Documents, collect, collect_proofs, paths

PAGE = (REPOSITORY / "docs" / "schemas.md").read_text(encoding="utf-8")
#: Of a task in a suite, or by an accident: not in these runs.
RARE = {
    "author/cards-coverage/1": {"unknown.*"},
    "author/proof/1": {"inputs.host.**"},
    "author/clean/1": {"removed[].kind", "removed[].name", "removed[].task"},
}


def documented() -> dict[str, dict[str, str]]:
    found = {}
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        name = section.partition("\n")[0].strip()
        found[name] = dict(re.findall(r"^\| `([^`]+)` \| ([^|]*?) *\|", section, re.MULTILINE))
    return found


def compare(documents: Documents) -> list[str]:
    """What the page and the documents do not agree on."""
    page = documented()
    wrong = []
    for schema, items in documents.items():
        fields = page.get(schema)
        if fields is None:
            wrong.append(f"{schema} is not described")
            continue
        seen = {"schema": set[str]()}
        for item in items:
            for path, kind in paths(item, set(fields)):
                seen.setdefault(path, set()).add(kind)
        open_ends = tuple(path.removesuffix("**") for path in fields if path.endswith("**"))
        met = {end for end in open_ends if any(path.startswith(end) for path in seen)}
        for path, kinds in seen.items():
            if path in fields:
                allowed = set(fields[path].split(" or "))
                wrong += [f"{schema}: {path} is {kind}" for kind in kinds if not _fits(kind, allowed)]
            elif path != "schema" and not path.startswith(open_ends or ("\0",)):
                wrong.append(f"{schema}: {path} is not described")
        for path in fields.keys() - seen.keys() - RARE.get(schema, set()):
            if path.removesuffix("**") not in met:
                wrong.append(f"{schema}: {path} does not appear")
    return wrong


def _fits(kind: str, allowed: set[str]) -> bool:
    return any(
        kind == one or (one.startswith("list") and (kind == "list" or kind.startswith(one)))
        for one in allowed
    )


@pytest.mark.slow
def test_every_field_is_described_and_every_described_field_appears(tmp_path: Path) -> None:
    documents = collect(tmp_path)
    assert compare(documents) == []
    proofs = {"author/oracle-check/1", "author/proof/1", "author/proof-check/1", "author/proof-show/1"}
    assert documented().keys() == documents.keys() | proofs


@pytest.mark.engine
def test_the_documents_of_proofs(tmp_path: Path) -> None:
    assert compare(collect_proofs(tmp_path)) == []


def test_every_schema_that_the_code_names_is_described() -> None:
    named = set()
    for path in (REPOSITORY / "harbor_author").rglob("*.py"):
        named |= set(re.findall(r'"(author/[a-z-]+/\d+)"', path.read_text(encoding="utf-8")))
    assert named == documented().keys()
