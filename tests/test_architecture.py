"""The arrows of docs/architecture.md: they point down only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "harbor_author"
#: Room -> floor. A room imports its own floor's rooms (without circles) and those below.
FLOORS = {
    "errors": 0,
    "suite": 1,
    "integrity": 2,
    "sandbox": 2,
    "scaffold": 3,
    "checks": 3,
    "scoring": 3,
    "proof": 3,
    "mining": 3,
    "output": 3,
    "publish": 3,
    "report": 3,
    "pytest_plugin": 4,
    "cli": 5,
    "__main__": 6,
}


def imports() -> Iterator[tuple[str, str, str]]:
    """(room, room that it imports, where) for every import between rooms."""
    for path in PACKAGE.rglob("*.py"):
        relative = path.relative_to(PACKAGE)
        room = relative.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for name in names:
                parts = name.split(".")
                if parts[0] == "harbor_author" and len(parts) > 1 and parts[1] != room:
                    yield room, parts[1], f"{relative}:{node.lineno}"


def test_arrows_point_down() -> None:
    up = [where for room, target, where in imports() if FLOORS[target] > FLOORS[room]]
    assert up == []


def test_nothing_imports_the_command_line() -> None:
    assert [where for room, target, where in imports() if target == "cli" and room != "__main__"] == []


def test_rooms_of_a_floor_form_no_circle() -> None:
    edges: dict[str, set[str]] = {}
    for room, target, _ in imports():
        edges.setdefault(room, set()).add(target)
    for start in FLOORS:
        seen: set[str] = set()
        pending = list(edges.get(start, ()))
        while pending:
            room = pending.pop()
            assert room != start, f"{start} reaches itself"
            if room not in seen:
                seen.add(room)
                pending += edges.get(room, ())


def test_every_room_is_on_the_page() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in PACKAGE.iterdir():
        if (room / "__init__.py").exists():
            assert f"`{room.name}/`" in page, room.name
