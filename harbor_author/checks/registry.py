"""Rules and how they are made: `@rule(...)` refuses one whose documentation is incomplete, at import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Literal

from harbor_author.checks.errors import CheckError
from harbor_author.checks.findings import Problem, Severity

if TYPE_CHECKING:
    from harbor_author.checks.context import TaskFiles

Pack = Literal["harbor", "suite"]
Check = Callable[["TaskFiles"], Iterable[Problem]]

#: The parts of a rule's docstring, in order. `what` is its first line.
SECTIONS = ("why", "bad", "good", "fix")
_NAME = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")
_SECTION = re.compile(r"(Why|Bad|Good|Fix):(?:\s|$)")


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        name: Harbor's own name where Harbor has the rule, else ours; kebab-case, never reused.
        pack: "harbor" holds for any Harbor task, "suite" only inside a suite.
        severity: of its findings, unless one says otherwise.
        default: off means that it runs only when it is selected.
        harbor: Harbor's lint knows this name, so `[metadata.harbor.lint]` governs it.
        late: it needs the results of programs that run beside the others.
        what, why, bad, good, fix: its documentation, from the docstring.
    """

    name: str
    pack: Pack
    severity: Severity
    default: bool
    harbor: bool
    late: bool
    theme: str
    check: Check
    what: str
    why: str
    bad: str
    good: str
    fix: str

    @property
    def remedy(self) -> str:
        """The first paragraph of `fix` as one clause, as it stands below a finding."""
        text = " ".join(self.fix.split("\n\n")[0].split())
        return text[0].lower() + text[1:].removesuffix(".")


_RULES: dict[str, Rule] = {}


def rule(
    *,
    name: str,
    pack: Pack,
    severity: Severity,
    default: bool = True,
    harbor: bool = False,
    late: bool = False,
) -> Callable[[Check], Check]:
    """Register the decorated function as a rule.

    Its docstring is the rule's documentation: a first line that says what is wrong, then the paragraphs
    `Why:` (the real case that taught it), `Bad:`, `Good:` and `Fix:`.

    Raises:
        TypeError: at import, when the name is taken or malformed or a section of the docstring is missing.
    """

    def register(check: Check) -> Check:
        if not _NAME.fullmatch(name):
            raise TypeError(f"rule name {name!r} is not kebab-case")
        if name in _RULES:
            raise TypeError(f"rule {name!r} is registered twice")
        parts = _sections(name, inspect.getdoc(check) or "")
        _RULES[name] = Rule(
            name=name,
            pack=pack,
            severity=severity,
            default=default,
            harbor=harbor,
            late=late,
            theme=check.__module__.rsplit(".", 1)[-1],
            check=check,
            **parts,
        )
        return check

    return register


def _sections(name: str, docstring: str) -> dict[str, str]:
    parts: dict[str, list[str]] = {"what": []}
    current = "what"
    for line in docstring.splitlines():
        match = _SECTION.match(line)
        if match:
            current = match[1].lower()
            if current in parts:
                raise TypeError(f"rule {name!r}: section {match[1]} stands twice in its docstring")
            parts[current] = [line[match.end() :]]
        else:
            parts[current].append(line)
    texts = {key: inspect.cleandoc("\n".join(lines)).strip() for key, lines in parts.items()}
    for key in ("why", "fix"):
        if texts.get(key, "")[:1].islower():
            texts[key] = texts[key][0].upper() + texts[key][1:]
    for section in ("what", *SECTIONS):
        if not texts.get(section):
            raise TypeError(f"rule {name!r}: its docstring has no {section.capitalize()}")
    return texts


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by name, in order of theme and name."""
    from harbor_author.checks import rules as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_RULES.items(), key=lambda item: (item[1].pack, item[1].theme, item[0])))


def get_rule(name: str) -> Rule:
    """The rule called `name`.

    Raises:
        CheckError: there is none, with the nearest name.
    """
    rules = all_rules()
    if name in rules:
        return rules[name]
    raise _unknown(f"there is no rule '{name}'", name, rules)


def _unknown(message: str, name: str, known: Iterable[str]) -> CheckError:
    near = get_close_matches(name, known, n=1)
    return CheckError(message, hint=f"did you mean '{near[0]}'?" if near else "'author rules' lists them")


def matching(patterns: Iterable[str]) -> Iterator[str]:
    """Names of the rules meant by `patterns`: a name, a pack, a theme, or "ALL".

    Raises:
        CheckError: a pattern means nothing.
    """
    rules = all_rules()
    for pattern in patterns:
        names = [r.name for r in rules.values() if pattern in (r.name, r.pack, r.theme) or pattern == "ALL"]
        if not names:
            known = {"ALL", *(word for r in rules.values() for word in (r.name, r.pack, r.theme))}
            raise _unknown(f"there is no rule, pack or theme '{pattern}'", pattern, known)
        yield from names
