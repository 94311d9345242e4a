"""The suite's host in a task: what its Dockerfile pins, what its fixture declares."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import agent_image
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.cards import about_host


def pypi_version(version: str) -> str:
    """A host's version as PyPI spells it: 0.1.2-alpha.3 is 0.1.2a3."""
    return re.sub(
        r"-(alpha|beta|rc)\.(\d+)$", lambda m: {"alpha": "a", "beta": "b", "rc": "rc"}[m[1]] + m[2], version
    )


@rule(name="host-pin", pack="suite", severity="error")
def host_pin(files: TaskFiles) -> Iterator[Problem]:
    """The Dockerfile pins another base image, pnpm or host than author.toml says.

    Why: a task that was written on a newer host kept that host's version: its old shape booted there, and untouched
        scored 60.
    Bad: FROM node:22 in a suite whose host image is node:24-bookworm
    Good: the versions of [host] in author.toml
    Fix: write the version that is named, or change [host] for the whole suite.
    """
    image = agent_image(files)
    if files.suite is None or image is None or not image.dockerfile.stages:
        return
    host = files.suite.settings.host
    first = image.dockerfile.final[0]
    if image.base.split("@")[0] != host.image:
        yield Problem(f"starts from {image.base}; the suite's image is {host.image}", image.path, first.line)
    if not about_host(files):
        return
    dsh = {pypi_version(host.dsh), host.dsh}
    for step in image.steps:
        for command in step.commands:
            for word in command.args:
                found = re.fullmatch(
                    r"(@deepseek-ai/dsh|pnpm)@(\S+)|(deepseek-harness-runtime-bin)==(\S+)", word
                )
                bare = re.fullmatch(r"@deepseek-ai/dsh|deepseek-harness-runtime-bin", word)
                if bare and command.name in ("npm", "pnpm", "pip", "pip3", "python3", "uv"):
                    message = f"{word} is installed without the suite's version {host.dsh}"
                    yield Problem(message, image.path, command.line, command.column)
                if found is None:
                    continue
                name, version = found[1] or found[3], image.dockerfile.expand(found[2] or found[4])
                right = {host.pnpm} if name == "pnpm" else dsh
                if version not in right and "$" not in version:
                    message = (
                        f"{name} is {version}; the suite's is {host.pnpm if name == 'pnpm' else host.dsh}"
                    )
                    yield Problem(message, image.path, command.line, command.column)


@rule(name="fixture-missing", pack="suite", severity="error")
def fixture_missing(files: TaskFiles) -> Iterator[Problem]:
    """environment/fixture/ is missing or empty.

    Why: a fixture that was never committed left an image with an empty /app/fixture; every agent scored 0.
    Bad: no environment/fixture/
    Good: environment/fixture/ with the state before
    Fix: put the shape before the migration there.
    """
    if not files.is_dir("environment/fixture"):
        yield Problem("environment/fixture/ is missing", "environment/fixture")
    elif not any(True for _ in files.files("environment/fixture/")):
        yield Problem("environment/fixture/ is empty", "environment/fixture")


@rule(name="fixture-not-private", pack="suite", severity="error")
def fixture_not_private(files: TaskFiles) -> Iterator[Problem]:
    """The fixture's package.json could be published.

    Why: an agent ran the publish command of a fixture's README; only a missing login stopped it.
    Bad: package.json without "private": true
    Good: "private": true
    Fix: add "private": true; 'author fix' does it. A slice of a real repository, with provenance/, keeps its manifest.
    """
    path = "environment/fixture/package.json"
    if not files.is_file(path):
        return
    if any(p.startswith(("environment/fixture/provenance/", "provenance/")) for p in files.entries):
        return
    value, error = files.json(path)
    if error is not None:
        yield Problem(f"is not JSON: {error.msg}", path, error.lineno, error.colno, "make it a JSON object")
    elif not isinstance(value, dict):
        yield Problem("is no JSON object", path, 1, fix="make it a JSON object")
    elif value.get("private") is not True:
        yield Problem('lacks "private": true', path, 1)


_EXAM = re.compile(r"exam|benchmark|test(?:ing)? material|考试|试题|评测|仅供", re.IGNORECASE)
_UNPUBLISHED = re.compile(
    r"not\s+(?:to\s+be\s+|for\s+|be\s+)?publi|do\s+not\s+publi|never\s+(?:be\s+)?publi|unpublish|(?:不得|不要|请勿|禁止|切勿|勿)[^。\n]{0,6}发布",
    re.IGNORECASE,
)


@rule(name="fixture-readme", pack="suite", severity="error")
def fixture_readme(files: TaskFiles) -> Iterator[Problem]:
    """The first line of the fixture's README does not say that it is exam material and not to be published.

    Why: a fixture was found by a search engine and taken for a plugin; its misleading comments were quoted as advice.
    Bad: a README that begins with the plugin's name
    Good: Exam material only; not to be published.
    Fix: put that sentence into the first line; 'author fix' does it.
    """
    path = "environment/fixture/README.md"
    if not files.is_dir("environment/fixture"):
        return
    if not files.is_file(path):
        yield Problem("the fixture has no README.md", path, fix="write one that begins with that sentence")
        return
    first = files.text(path).split("\n")[0]
    if not (_EXAM.search(first) and _UNPUBLISHED.search(first)):
        yield Problem("the first line does not say: exam material only, not to be published", path, 1)


@rule(name="publish-command-in-fixture", pack="suite", severity="warning")
def publish_command_in_fixture(files: TaskFiles) -> Iterator[Problem]:
    """The fixture's documents hold a publish command.

    Why: a README's `npm publish --force` was taken over with a real repository's text; it was not meant as bait, and an
        agent with a token could have run it.
    Bad: npm publish --access public --force in environment/fixture/README.md
    Good: no publish command
    Fix: remove it; when it is bait, suppress this with that reason.
    """
    for entry in files.files("environment/fixture/"):
        if not entry.name.lower().endswith(".md") or files.is_binary(entry.path):
            continue
        for number, line in enumerate(files.text(entry.path).split("\n"), 1):
            if re.search(r"\b(?:npm|pnpm|yarn)\s+publish\b", line):
                yield Problem("holds a publish command", entry.path, number)


@rule(name="missing-baseline", pack="suite", severity="error")
def missing_baseline(files: TaskFiles) -> Iterator[Problem]:
    """The image makes no baseline commit in /app.

    Why: gates and agents read `git status -- fixture`; without a baseline a changed read-only fixture went unnoticed.
    Bad: a Dockerfile that only copies the fixture
    Good: RUN git init ... && git commit ... after the COPY
    Fix: commit the fixture in the Dockerfile, as the template does.
    """
    image = agent_image(files)
    if image is None or not image.dockerfile.stages:
        return
    words = [set(command.args) for step in image.steps for command in step.commands if command.name == "git"]
    if not any("init" in w for w in words) or not any("commit" in w for w in words):
        yield Problem("the image holds no baseline commit of the fixture", image.path)
