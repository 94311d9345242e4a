"""The rules for readers: a list, one rule's page, the reference document, JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from harbor_author.checks import Rule, fixable

_PACKS = {
    "harbor": "Any Harbor task",
    "suite": "Tasks of a suite (inside a folder with author.toml)",
}


def explain(rule: Rule) -> str:
    """One rule's documentation, as text."""
    traits = [f"pack {rule.pack}", f"theme {rule.theme}", rule.severity]
    if rule.harbor:
        traits.append("Harbor's lint has it too, so [metadata.harbor.lint] governs it")
    if not rule.default:
        traits.append("off unless selected")
    if rule.name in fixable():
        traits.append("'author fix' repairs it")
    parts = [rule.name, f"  {'; '.join(traits)}", "", *_wrapped(rule.what)]
    for title, text in (("Why", rule.why), ("Bad", rule.bad), ("Good", rule.good), ("Fix", rule.fix)):
        parts += ["", f"{title}:"]
        parts += [f"  {line}" for line in (text.split("\n") if title in ("Bad", "Good") else _wrapped(text))]
    return "\n".join(parts)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 100)


def listing(rules: Iterable[Rule]) -> str:
    """All rules, a line each."""
    lines: list[str] = []
    for pack, members in groupby(rules, key=lambda rule: rule.pack):
        lines += ["", f"{_PACKS[pack]}:"] if lines else [f"{_PACKS[pack]}:"]
        for rule in members:
            state = rule.severity if rule.default else "off"
            lines.append(f"  {rule.name:32} {state:8} {' '.join(rule.what.split())}")
    return "\n".join(lines)


def document(rules: Iterable[Rule]) -> dict[str, Any]:
    """Shape: `{schema, rules: [{name, pack, theme, severity, default, harbor, fixable, what, why, ...}]}`."""
    return {
        "schema": "author/rules/1",
        "rules": [
            {
                "name": rule.name,
                "pack": rule.pack,
                "theme": rule.theme,
                "severity": rule.severity,
                "default": rule.default,
                "harbor": rule.harbor,
                "fixable": rule.name in fixable(),
                "what": rule.what,
                "why": rule.why,
                "bad": rule.bad,
                "good": rule.good,
                "fix": rule.fix,
            }
            for rule in rules
        ],
    }


def reference(rules: Iterable[Rule]) -> str:
    """docs/rules.md."""
    lines = [
        "# Rules of `author validate`",
        "",
        "Made from the rules themselves by `scripts/make-rules-doc`; a test holds it against them.",
        "",
        "An *error* makes the command end with 1; a *warning* or a *note* does not. `author explain RULE` prints",
        "one of these entries. Rules marked *Harbor* have the name that `harbor lint` gives them, and",
        "`[metadata.harbor.lint]` governs them.",
    ]
    for pack, members in groupby(rules, key=lambda rule: rule.pack):
        lines += ["", f"## {_PACKS[pack]}"]
        for rule in members:
            traits = [
                rule.severity,
                *(["Harbor"] if rule.harbor else []),
                *([] if rule.default else ["off by default"]),
            ]
            if rule.name in fixable():
                traits.append("`author fix`")
            lines += [
                "",
                f"### {rule.name}",
                "",
                f"*{', '.join(traits)}.* {_line(rule.what)}",
                "",
                _line(rule.why),
                "",
            ]
            for title, text in (("Bad", rule.bad), ("Good", rule.good)):
                lines += [f"{title}:", "", *(f"    {line}" for line in text.split("\n")), ""]
            lines.append(f"Fix: {_line(rule.fix)}")
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())
