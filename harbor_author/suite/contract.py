"""The authorisation contract BENCHMARK-AUTH-v1: its clauses, and a block that holds them all.

The clauses are protocol text, matched literally (white space folded) by the validator of the suite that
introduced them, in English or Chinese; so they are matched literally here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

CONTRACT_MARKER = "BENCHMARK-AUTH-v1"
Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Clause:
    """One promise of the contract, as a pattern over text with white space folded."""

    name: str
    english: str
    chinese: str

    def holds(self, folded: str) -> bool:
        return re.search(self.english, folded) is not None or re.search(self.chinese, folded) is not None


_CLAUSES = (
    Clause("no follow-up", r"there will be no follow-up user messages", r"不会有后续用户消息"),
    Clause(
        "proceed",
        r"(?:as soon as|immediately once|once) the plan (?:is )?(?:formed|takes shape)",
        r"在计划形成后立即继续执行",
    ),
    Clause(
        "no pause", r"do not pause (?:to wait|waiting) for [\"'“”‘’`]?confirmation", r"不要暂停等待“确认”"
    ),
    Clause("no modify", r"(?:must not|may not) modify the skill", r"不得修改 skill、评测器或参考答案"),
    Clause(
        "no stop",
        r"do not stop merely because another round of confirmation is missing",
        r"不得仅因为缺少另一轮确认而停止",
    ),
)
_MUTABLE = Clause(
    "boundary mutable", r"may modify `/app/fixture/` directly", r"可以直接修改 ?`/app/fixture/`"
)
_BOUNDARIES: dict[str, tuple[Clause, ...]] = {
    "readonly": (
        Clause(
            "boundary readonly",
            r"`/app/fixture/` must remain completely unchanged",
            r"`/app/fixture/` 必须保持零改动",
        ),
    ),
    "mutable": (_MUTABLE,),
    "build-artifacts-only": (
        Clause(
            "boundary source unchanged",
            r"`/app/fixture/src/` must remain completely unchanged",
            r"`/app/fixture/src/` 必须保持零改动",
        ),
        Clause(
            "boundary build artifacts",
            r"may clean up the build artifacts in `/app/fixture/lib/`",
            r"可以清理 ?`/app/fixture/lib/`",
        ),
    ),
}


def without_fences(text: str) -> str:
    """`text` with fenced code blocks blanked; lines keep their numbers.

    A contract quoted in a code fence is an example of one, not one.
    """
    lines = []
    fence = ""
    for line in text.split("\n"):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if (
                opening
                and opening[1][0] == fence[0]
                and len(opening[1]) >= len(fence)
                and not line.strip(" `~")
            ):
                fence = ""
            lines.append("")
        elif opening:
            fence = opening[1]
            lines.append("")
        else:
            lines.append(line)
    return "\n".join(lines)


def contract_gaps(text: str, mode: str) -> list[str]:
    """What the contract in an instruction lacks, in words; empty when it is whole.

    Args:
        text: the whole of instruction.md.
        mode: `readonly`, `mutable` or `build-artifacts-only`.
    """
    body = without_fences(text)
    count = body.count(CONTRACT_MARKER)
    gaps = []
    if count != 1:
        gaps.append(
            f"the marker {CONTRACT_MARKER} is missing"
            if count == 0
            else f"the marker {CONTRACT_MARKER} stands {count} times"
        )
    folded = re.sub(r"\s+", " ", body)
    gaps += [
        f"clause '{clause.name}' is missing"
        for clause in (*_CLAUSES, *_BOUNDARIES[mode])
        if not clause.holds(folded)
    ]
    if mode != "mutable" and _MUTABLE.holds(folded):
        gaps.append(f"a {mode} task says that the fixture may be modified directly")
    return gaps


def has_contract(text: str, mode: str) -> bool:
    """Whether the instruction holds any part of the contract: its marker, or a clause of the mode."""
    body = without_fences(text)
    folded = re.sub(r"\s+", " ", body)
    return CONTRACT_MARKER in body or any(clause.holds(folded) for clause in (*_CLAUSES, *_BOUNDARIES[mode]))


_BLOCK_EN = """\
## Working agreement ({marker})

This is an unattended run: there will be no follow-up user messages, so nothing that you ask will be
answered. Carry on as soon as the plan is formed, and do not pause to wait for confirmation. You have all
the permission you need within the boundary below; do not stop merely because another round of confirmation is missing.

- {boundary}
- You must not modify the skill, the judge or the reference solution.
"""
_BLOCK_ZH = """\
## 工作约定（{marker}）

本次运行无人值守：不会有后续用户消息，提出的问题不会得到回答。请在计划形成后立即继续执行，不要暂停等待“确认”。
在下述边界之内你已获得全部授权，不得仅因为缺少另一轮确认而停止。

- {boundary}
- 不得修改 skill、评测器或参考答案。
"""
_BOUNDARY_TEXT: dict[tuple[str, Language], str] = {
    ("readonly", "en"): "The fixture is read-only: `/app/fixture/` must remain completely unchanged.",
    ("mutable", "en"): "You may modify `/app/fixture/` directly; leave everything outside it alone.",
    ("build-artifacts-only", "en"): (
        "Sources are read-only: `/app/fixture/src/` must remain completely unchanged. "
        "You may clean up the build artifacts in `/app/fixture/lib/` and build them again."
    ),
    ("readonly", "zh"): "fixture 为只读： `/app/fixture/` 必须保持零改动。",
    ("mutable", "zh"): "你可以直接修改 `/app/fixture/` ，不要改动其外的任何内容。",
    ("build-artifacts-only", "zh"): (
        "源码为只读： `/app/fixture/src/` 必须保持零改动；可以清理 `/app/fixture/lib/` 中的构建产物并重新构建。"
    ),
}


def contract_block(mode: str, language: Language = "en") -> str:
    """A contract for an instruction, as Markdown that ends in a newline; `contract_gaps` finds nothing in it."""
    block = _BLOCK_EN if language == "en" else _BLOCK_ZH
    return block.format(marker=CONTRACT_MARKER, boundary=_BOUNDARY_TEXT[mode, language])
