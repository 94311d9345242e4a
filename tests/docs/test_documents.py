"""What the documents say is true: commands exist, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_links_and_anchors_resolve(document: Path) -> None:
    text = re.sub(
        r"```.*?```|`[^`\n]+`|^(?: {4}|\t).*$",
        "",
        document.read_text(encoding="utf-8"),
        flags=re.DOTALL | re.M,
    )
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), target
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        assert path.exists(), f"{document.name} links to {target}, which does not exist"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{document.name} links to the missing heading {target}"


def test_the_readme_lists_every_command() -> None:
    command = [sys.executable, REPOSITORY / "scripts" / "readme-commands", "--check"]
    done = subprocess.run(command, cwd=REPOSITORY, check=False, env={"PYTHONPATH": str(REPOSITORY)})
    assert done.returncode == 0, "README.md is behind: run scripts/readme-commands"


def test_documents_name_commands_that_exist() -> None:
    from harbor_author.cli.main import COMMANDS

    for document in DOCUMENTS:
        for block in re.findall(
            r"```(?:sh|console)\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL
        ):
            for name in re.findall(r"^(?:\$ )?author ([a-z][a-z-]*)", block, re.MULTILINE):
                assert name in COMMANDS, f"{document.name}: author {name}"


def test_the_chinese_readme_keeps_step() -> None:
    english = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    chinese = (REPOSITORY / "README.zh-CN.md").read_text(encoding="utf-8")

    def shape(text: str) -> list[str]:
        """Headings by their level, and what stands in code blocks without its comments."""
        found = []
        code = False
        for line in text.split("\n"):
            if line.startswith("```"):
                code = not code
                found.append(line)
            elif code:
                found.append(re.sub(r"\s+#.*$|\s{2,}\S.*$", "", line).rstrip())
            elif line.startswith("#"):
                found.append(line.split(" ")[0])
        return found

    assert shape(chinese) == shape(english)
    commands = re.findall(r"^\| `(author [^`]+)`", english, re.MULTILINE)
    assert re.findall(r"^\| `(author [^`]+)`", chinese, re.MULTILINE) == commands
