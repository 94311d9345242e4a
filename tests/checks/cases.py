"""Registers of faulty tasks and of near misses: what each must be told, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.checks.support import Draft, Mutation


@dataclass(frozen=True)
class Case:
    """One task.

    Attributes:
        rule: that it was made for.
        expected: every rule that must find something (notes included), none for a near miss.
        where: file at fault, "" for the task's directory; None when it is not checked.
        line: of the finding for `rule`; None when it is not checked.
        inside: made from the suite's sound task.
        select: run this rule too, which is off by default.
    """

    name: str
    rule: str
    expected: frozenset[str]
    mutate: Mutation
    inside: bool
    where: str | None = None
    line: int | None = None
    select: str = ""


CASES: list[Case] = []


def bad(
    rule: str,
    *also: str,
    where: str | None = None,
    line: int | None = None,
    inside: bool = False,
    select: str = "",
) -> Callable[[Mutation], Mutation]:
    """A task with the fault that `rule` is about; `also` names rules that the same fault concerns."""

    def register(mutate: Mutation) -> Mutation:
        expected = frozenset({rule, *also})
        CASES.append(Case(_name(mutate), rule, expected, mutate, inside, where, line, select))
        return mutate

    return register


def near(rule: str, *also: str, inside: bool = False, select: str = "") -> Callable[[Mutation], Mutation]:
    """A task that looks like one with the fault and is sound; `also` may find something else in it."""

    def register(mutate: Mutation) -> Mutation:
        CASES.append(Case(_name(mutate), rule, frozenset(also), mutate, inside, select=select))
        return mutate

    return register


def _name(mutate: Mutation) -> str:
    name = f"{mutate.__module__.rsplit('.', 1)[-1].removeprefix('cases_')}-{mutate.__name__}"
    assert all(case.name != name for case in CASES), f"two cases are called {name}"
    return name


__all__ = ["CASES", "Case", "Draft", "bad", "near"]
