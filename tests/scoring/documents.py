"""Generated reports and ground truths, the same from the same seed: every oddity that the two scorers must agree on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

PARSERS = ("generic", "generic", "harsh-critic", "critic")
_VOCABULARY = (
    "slot service registerSlot webServer 启动 插件 宿主 升级 must rename the old new not user SKU validate 400 "
    "createdAt ｆｕｌｌ　ｗｉｄｔｈ ＵＳＥＲ straße İx ΣΑΣ 😀 e\u0301 ™ none None. security perspective ops new-hire "
    "`code` `a b` run():4 ab中文 src/a.ts:12-14 http://h.example:80 1.2:3 a.b:1c **bold** _it_ *em* user-service no-op"
)
_WORDS = tuple(_VOCABULARY.split(" "))
_GAPS = (*"   \u3000\u00a0\u200b\t/:：\ufeff\u2028\0", " ", " ", "  ", ", ", "，", " - ")
_HEADINGS = (
    "## Critical Findings",
    "### Major findings (2)",
    "# Minor Findings",
    "**Critical Findings** (blockers):",
    "## What's Missing",
    "## Gap",
    "## Gaps",
    "*Issues*:",
    "## Root cause",
    "Problems found:",
    "## 严重问题",
    "## 发现",
    "## Multi-Perspective Notes",
    "## Phase 3 — Multi-Perspective Review",
    "### Security",
    "### New-hire",
    "### Ops",
    "## Summary",
    "**Justification**:",
    "## Pre-commitment Predictions",
    "---",
    "***",
    "## Recommendations",
    "##no",
    "####### seven",
    "** x **",
    "**a** **b**",
    "the critical findings follow",
    "## ",
    "**1. Named** ",
    "Fix list:",
)
_MARKS = (
    "- ",
    "* ",
    "• ",
    "1. ",
    "2) ",
    "10. ",
    "**3.** ",
    "**4. ",
    "  - ",
    "\t- ",
    "    * ",
    "- Evidence: ",
    "- Fix ",
    "",
    "",
    "-",
    "1.  ",
    "-   ",
    "- Security: ",
    "* New-hire : ",
    "- ops:",
    "+ ",
    "\u3000- ",
    "- [ ] ",
    "- **Impact** ",
)
_SAYINGS = (
    "**VERDICT: REJECT**",
    "VERDICT: accept with care",
    "Diagnosis:  **x**",
    "Approach: small\r",
    "[OKAY]",
    "  reject ",
    "**[REJECT]**",
    "Pre-commitment first",
    "gap analysis",
    "a security perspective",
    "what is missing",
    "None.",
    "",
    "",
    "",
    " ",
    "\u00a0",
)
_ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r", "\n\n", "\u0085", "\r\r\n")


def _phrase(rnd: random.Random, length: int) -> str:
    return "".join(rnd.choice(_WORDS) + rnd.choice(_GAPS) for _ in range(rnd.randint(0, length)))


def _line(rnd: random.Random) -> str:
    kind = rnd.random()
    if kind < 0.2:
        return rnd.choice(_HEADINGS)
    if kind < 0.3:
        return rnd.choice(_SAYINGS)
    return rnd.choice(_MARKS) + _phrase(rnd, 9) + rnd.choice(("", "", " ", "**", "\r"))


def report(rnd: random.Random) -> str:
    """One report of up to a few dozen lines."""
    return "".join(_line(rnd) + rnd.choice(_ENDS) for _ in range(rnd.randint(0, 30)))


def long_report(rnd: random.Random) -> str:
    """A report with a line of a megabyte."""
    unit = rnd.choice(
        ("- ", "a.", "* ", "x ", "中文，", "`", "e\u0301\u0323", " ", ":1", "# ", "VERDICT ", "OKAY ")
    )
    return f"## Critical findings\n- {unit * (1_000_000 // len(unit))}\n" + report(rnd)


def _keywords(rnd: random.Random) -> list[str]:
    words = [rnd.choice(_WORDS) if rnd.random() < 0.8 else _phrase(rnd, 3) for _ in range(rnd.randint(1, 8))]
    return [*words, "---"] if rnd.random() < 0.05 else words


def truth(rnd: random.Random) -> dict[str, Any]:
    """A valid ground truth, now and then with keywords by language."""
    findings = []
    for number in range(rnd.randint(0, 6)):
        by_language = rnd.random() < 0.2
        findings.append(
            {
                "id": f"F{number}",
                "severity": rnd.choice(("CRITICAL", "MAJOR", "MINOR")),
                "category": rnd.choice(("finding", "finding", "missing", "perspective")),
                "summary": "",
                "keywords": {"en": _keywords(rnd), "zh": _keywords(rnd)} if by_language else _keywords(rnd),
                "explanation": "",
            }
        )
    return {
        "fixtureId": "f",
        "fixturePath": "p",
        "domain": "code",
        "findings": findings,
        "isCleanBaseline": False,
    }


def documents(count: int, seed: int, *, long_every: int = 500) -> Iterator[dict[str, Any]]:
    """`count` documents {report, truth, parser}; each `long_every`th has a line of a megabyte."""
    rnd = random.Random(seed)
    for number in range(count):
        text = long_report(rnd) if number % long_every == long_every - 1 else report(rnd)
        yield {"report": text, "truth": truth(rnd), "parser": rnd.choice(PARSERS)}


_ATOMS = (
    *"*-#:()[]`.•123|\t\r\n\n\n ",
    " ",
    "**",
    "***",
    "---",
    "- ",
    "* ",
    "1. ",
    "2)",
    "**3.** ",
    "\u2028",
    "\u3000",
    "\u00a0",
    "\x85",
    "a",
    "Ab",
    "none",
    "none.",
    "## ",
    "### Security",
    "New-hire:",
    "ops",
    "critical findings",
    "Critical",
    "minor",
    "summary",
    "Justification",
    "what's missing",
    "gap",
    "multi-perspective notes",
    "phase 2",
    "VERDICT:",
    "Approach :",
    "OKAY",
    "[reject]",
    "f():3",
    "a.b:1",
    "evidence",
    "fix",
    "\u2014",
    "İ",
    "\u212a",
    "ſ",
    "perspective",
    "security",
    "pre-commitment predictions",
)


def snippets(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Short documents of marks and key words in any order, where a rewritten pattern would differ first."""
    rnd = random.Random(seed)
    for _ in range(count):
        text = "".join(rnd.choice(_ATOMS) for _ in range(rnd.randint(1, 24)))
        yield {"report": text, "parser": rnd.choice(PARSERS)}
