"""Rules as things that are made, named, documented and listed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_author.checks import all_rules, get_rule
from harbor_author.checks.errors import CheckError
from harbor_author.checks.registry import rule
from harbor_author.output.rules_text import reference
from tests.conftest import REPOSITORY, AuthorRunner

#: The names of `harbor lint`, 0.26; the two that it has off, and one that fails every task of the default kind.
HARBOR = {
    "invalid-task-config", "unknown-config-field", "invalid-task-files", "unused-harborignore", "root-agent",
    "shared-verifier", "overlapping-artifacts", "artifact-log-overlap", "compose-privileged",
    "compose-additional-capabilities", "compose-writable-bind-mount", "compose-external-bind-mount",
    "compose-symlink-bind-mount", "unpinned-image", "unpinned-python-dependency", "verifier-runtime-install",
    "verifier-network-download", "agent-image-test-leak",
}  # fmt: skip


def _made(docstring: str | None, name: str) -> Callable[[object], list[object]]:
    def check(files: object) -> list[object]:
        return []

    check.__doc__ = docstring
    return rule(name=name, pack="harbor", severity="error")(check)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        (None, "no What"),
        ("Wrong.", "no Why"),
        ("Wrong.\n\nWhy: seen.\nBad: x\nGood: y", "no Fix"),
        ("Wrong.\n\nWhy: seen.\nBad:\nGood: y\nFix: z", "no Bad"),
        ("Wrong.\n\nWhy: a\nWhy: b\nBad: x\nGood: y\nFix: z", "twice"),
    ],
)
def test_an_undocumented_rule_is_refused(docstring: str | None, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        _made(docstring, "never-registered")
    assert "never-registered" not in all_rules()


@pytest.mark.parametrize("name", ["answer-leak", "Bad_Name"])
def test_a_name_is_new_and_kebab_case(name: str) -> None:
    all_rules()
    with pytest.raises(TypeError):
        _made("Wrong.\n\nWhy: a\nBad: x\nGood: y\nFix: z", name)


def test_harbors_names_are_kept() -> None:
    rules = all_rules()
    assert {name for name, r in rules.items() if r.harbor} == HARBOR
    off = {"root-agent", "shared-verifier", "unpinned-image", "duplicate-task-name"}
    assert {name for name, r in rules.items() if not r.default} == off


def test_every_rule_is_explained_in_sentences() -> None:
    for found in all_rules().values():
        assert found.what.endswith((".", ":")), found.name
        assert len(found.why) > 60, found.name
        assert "\n" not in found.what, found.name


def test_unknown_rule_has_a_hint() -> None:
    with pytest.raises(CheckError, match="no rule"):
        get_rule("nothing-like-it")


def test_explain(author: AuthorRunner) -> None:
    ran = author("explain", "git-history-leak")
    assert ran.status == 0
    for heading in ("git-history-leak", "Why:", "Bad:", "Good:", "Fix:"):
        assert heading in ran.out
    ran = author("explain", "git-histori-leak")
    assert ran.status == 2
    assert "did you mean 'git-history-leak'?" in ran.err


def test_rules(author: AuthorRunner) -> None:
    document = json.loads(author("rules", "--json").out)
    assert document["schema"] == "author/rules/1"
    assert {entry["name"] for entry in document["rules"]} == set(all_rules())
    fields = {
        "name",
        "pack",
        "theme",
        "severity",
        "default",
        "harbor",
        "fixable",
        "what",
        "why",
        "bad",
        "good",
        "fix",
    }
    assert all(set(entry) == fields for entry in document["rules"])
    listed = author("rules").out
    assert all(re.search(rf"^  {name} ", listed, re.MULTILINE) for name in all_rules())


def test_the_reference_document_is_current() -> None:
    assert (REPOSITORY / "docs/rules.md").read_text(encoding="utf-8") == reference(all_rules().values())


def test_rule_modules_stay_small() -> None:
    for path in Path(REPOSITORY / "harbor_author/checks/rules").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 360, path.name


def test_pre_commit_hooks_call_what_there_is(author: AuthorRunner) -> None:
    import yaml

    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        program, command, *options = hook["entry"].split()
        assert program == "author"
        help_ = author(command, "--help").out
        assert all(option in help_ for option in options), hook["id"]
        assert re.compile(hook["files"]).search("tasks/H23-x/task.toml")
