"""Markup in every text of a task and its receipt, before the page that shows them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import AuthorRunner, make_suite
from tests.report.scenes import make_scenes

MARK = "marked"
MARKUP = (
    f"</td></script><script>{MARK}()</script><img src=x onerror={MARK}()>\"' onload={MARK}() {{{{ {MARK} }}}}"
)
#: Keys whose values are words of a closed list, digests or dates: another value is no receipt.
_CLOSED = re.compile(r"schema|verdict|cause|.*digest.*|.*hash.*|.*sha.*|.*_at|platform|id")


def marked(value: Any, key: str = "") -> Any:
    """A document with the markup in every text that may be any."""
    if isinstance(value, dict):
        return {name: marked(inner, name) for name, inner in value.items() if name != "inputs"} | {
            name: inner for name, inner in value.items() if name == "inputs"
        }
    if isinstance(value, list):
        return [marked(inner, key) for inner in value]
    return value + MARKUP if isinstance(value, str) and not _CLOSED.fullmatch(key) else value


@pytest.mark.slow
def test_no_text_becomes_markup(author: AuthorRunner, tmp_path: Path) -> None:
    make_scenes(make_suite(tmp_path / "suite"))
    receipts = [path for path in tmp_path.glob("suite/tasks/*/proof.json") if path.stat().st_size > 10]
    assert len(receipts) >= 5
    for path in receipts:
        path.write_text(json.dumps(marked(json.loads(path.read_text()))))
    for path in [*tmp_path.rglob("*.md"), *tmp_path.rglob("*.mjs")]:
        path.write_text(
            re.sub(r"(?m)^(#.*\w|- .*\w|//.*\w)$", lambda found: found[1] + MARKUP, path.read_text())
        )
    for path in tmp_path.rglob("*.toml"):
        text = path.read_text()
        path.write_text(
            re.sub(
                r'(?m)^(description|why|title) = "(.*)"$',
                lambda found: f"{found[1]} = {json.dumps(found[2] + MARKUP)}",
                text,
            )
        )
    ran = author("report", cwd=tmp_path / "suite")
    assert ran.status == 0, ran.err
    (page,) = tmp_path.glob("suite/*.html")
    found: list[tuple[str, list[tuple[str, str | None]]]] = []
    texts: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, attrs))

        def handle_data(self, data: str) -> None:
            texts.append(data)

    Reader().feed(page.read_text())
    assert "".join(texts).count(f"<script>{MARK}()</script>") > 20
    assert not {"script", "img"} & {tag for tag, _ in found}
    assert not [name for _, attrs in found for name, _ in attrs if name.startswith("on")]
