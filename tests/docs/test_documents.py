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


@pytest.mark.parametrize("name", ["README", "docs/tutorial"])
def test_the_chinese_page_keeps_step(name: str) -> None:
    english = (REPOSITORY / f"{name}.md").read_text(encoding="utf-8")
    chinese = (REPOSITORY / f"{name}.zh-CN.md").read_text(encoding="utf-8")
    assert shape(chinese) == shape(english)
    commands = re.findall(r"^\| `(author [^`]+)`", english, re.MULTILINE)
    assert re.findall(r"^\| `(author [^`]+)`", chinese, re.MULTILINE) == commands


COMMAND_LINE = re.compile(
    r"^\s*(?:\$ |- |run: |entry: )?author ([a-z][a-z-]*)([^\n|>&#`]*(?:\\\n[^\n|>&#`]*)*)", re.MULTILINE
)


def test_documents_use_options_that_exist() -> None:
    import click

    from harbor_author.cli.main import cli

    blocks = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
    checked = 0
    with click.Context(cli, info_name="author") as context:
        for document in DOCUMENTS:
            for block in blocks.findall(document.read_text(encoding="utf-8")):
                for name, rest in COMMAND_LINE.findall(block):
                    command = cli.get_command(context, name)
                    assert command is not None, f"{document.name}: author {name}"
                    words = rest.split()
                    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
                        inner = command.get_command(context, words[0])
                        assert inner is not None, f"{document.name}: author {name} {words[0]}"
                        command = inner
                    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
                    for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest):
                        assert option in known, f"{document.name}: author {name} {option}"
                        checked += 1
    assert checked > 30


def test_the_pipelines_parse_and_ask_for_what_exists() -> None:
    import yaml

    text = (REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8")
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    pipelines = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    assert all(isinstance(pipeline, dict) for pipeline in pipelines)
    github, gitlab = (
        next(one for one in pipelines if "jobs" in one),
        next(one for one in pipelines if "prove" in one and "jobs" not in one),
    )
    steps = [step for job in github["jobs"].values() for step in job["steps"]]
    ours = [step for step in steps if "harbor-author" in step.get("uses", "")]
    assert ours
    for step in ours:
        assert step.get("with", {}).keys() <= action["inputs"].keys()
    for job in gitlab.values():
        assert {"image", "script"} <= job.keys()
        assert any(line.startswith("author ") for line in job["script"])
    offered = {hook["id"] for hook in hooks}
    asked = [hook["id"] for one in pipelines for repo in one.get("repos", []) for hook in repo["hooks"]]
    assert asked
    assert set(asked) <= offered
