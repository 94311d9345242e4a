"""The reference solution and its explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.suite import without_fences

_HEADINGS = ("Reference Changes", "The Point", "Grading Boundary", "Warning")
_PLACEHOLDER = re.compile(r"TODO\(author\)|<(?:your|insert|replace)[^>\n]{0,40}>|\bFIXME\(author\)")


@rule(name="solution-headings", pack="suite", severity="error")
def solution_headings(files: TaskFiles) -> Iterator[Problem]:
    """SOLUTION.md is missing, or lacks one of its four sections.

    Why: a reviewer needs to know what the judge does not judge; where that was not written down, a false zero took a
        day to understand.
    Bad: a SOLUTION.md without Grading Boundary
    Good: Reference Changes, The Point (one sentence), Grading Boundary, Warning
    Fix: add the section that is named.
    """
    path = "solution/SOLUTION.md"
    if not files.is_file(path):
        yield Problem("solution/SOLUTION.md is missing", path)
        return
    lines = without_fences(files.text(path)).split("\n")
    heads = [re.sub(r"^#+\s*", "", line).strip().lower() for line in lines if re.match(r"#{1,6}\s", line)]
    for heading in _HEADINGS:
        if not any(head.startswith(heading.lower()) for head in heads):
            yield Problem(f"has no section '{heading}'", path)


@rule(name="placeholder", pack="suite", severity="note")
def placeholder(files: TaskFiles) -> Iterator[Problem]:
    """A placeholder that 'author new' wrote is still there.

    Why: a scaffold is sound from the start, so it could be published as it is; these notes block `publish` alone.
    Bad: TODO(author): in two sentences, what the plugin is
    Good: the two sentences
    Fix: write what the placeholder asks for.
    """
    for entry in files.files():
        if entry.path == "proof.json" or files.is_binary(entry.path):
            continue
        text = files.text(entry.path)
        if "author)" not in text:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            match = _PLACEHOLDER.search(line)
            if match is not None:
                asked = line[match.start() :].strip()
                yield Problem(
                    f"still to be written: {asked if len(asked) <= 100 else asked[:99].rstrip() + '…'}",
                    entry.path,
                    number,
                    match.start() + 1,
                )


@rule(name="oracle-keeps-removed-token", pack="suite", severity="warning")
def oracle_keeps_removed_token(files: TaskFiles) -> Iterator[Problem]:
    """The reference solution holds a text that the judge demands to be absent.

    Why: a comment in the solution explained the old call by its name; the judge looked for that name in the source, and
        the oracle lost ten points.
    Bad: !source.includes("apiProxy") in the judge, and a comment "replaces apiProxy" in solution/plugin/index.js
    Good: the comment says what the code does now
    Fix: reword the solution, or let the judge look at code without comments.
    """
    tokens: dict[str, tuple[str, int]] = {}
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if entry.name.endswith((".mjs", ".js", ".cjs")) and not files.is_binary(entry.path):
                text = files.text(entry.path)
                if "withoutComments" in text or "stripComments" in text:
                    continue
                for match in _ABSENT.finditer(text):
                    tokens.setdefault(match["token"], (entry.path, text.count("\n", 0, match.start()) + 1))
    if not tokens:
        return
    for entry in files.files("solution/"):
        inside = entry.path.removeprefix("solution/")
        if inside.startswith("decoys/") or not entry.name.endswith(
            (".js", ".mjs", ".cjs", ".ts", ".json", ".yml")
        ):
            continue
        if files.is_binary(entry.path):
            continue
        for number, line in enumerate(files.text(entry.path).split("\n"), 1):
            for token, (path, where) in tokens.items():
                if token in line:
                    message = f"holds '{token}', which the judge demands to be absent ({path}:{where})"
                    yield Problem(message, entry.path, number, line.find(token) + 1)


_ABSENT = re.compile(
    r"!\s*(?:source|src|code|text|content|plugin|manifest)\w*\.includes\(\s*[\"'`](?P<token>[\w.$@/-]{4,60})[\"'`]\s*\)"
)
