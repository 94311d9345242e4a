"""The kinds of benchmark: what the agent is asked, how its answer is read, which fixtures belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Folder of fixtures -> domain of their ground truths.
DOMAINS: Mapping[str, str] = {
    "code": "code",
    "analysis": "analysis",
    "plans": "plan",
    "bugs": "bug",
    "tasks": "task",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of benchmark. Without `folders` every known folder of fixtures is read, and another is an error."""

    name: str
    request: str
    agents: tuple[str, ...]
    folders: tuple[str, ...] = ()

    def message(self, fixture: str) -> str:
        """The user message for a fixture's text."""
        return f"{self.request}\n\n{fixture}"

    def parser(self, agent: str) -> str:
        """How an agent's answers are read. Only the critics' own benchmark reads them by agent."""
        return agent if self.name == "harsh-critic" and agent in ("critic", "harsh-critic") else "generic"


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "executor",
            "Implement the following task. Describe your approach, the files you would modify, and the changes you "
            "would make:",
            ("executor", "deep-executor"),
        ),
        Kind(
            "code-reviewer",
            "Review the following code for quality, security, and correctness issues:",
            ("code-reviewer",),
        ),
        Kind("debugger", "Diagnose the following bug and recommend fixes:", ("debugger",)),
        Kind(
            "harsh-critic",
            "Review the following work:",
            ("harsh-critic", "critic"),
            ("plans", "code", "analysis"),
        ),
    )
}
