from __future__ import annotations

from pathlib import Path

import pytest

from harbor_author.suite import find_suite, load_cards
from harbor_author.suite.coverage import card_coverage

FRONT = """\
---
kind: dsh-version-card-set
schema: 1
from: dsh-v0.1.1
to: dsh-v0.1.2-alpha.2
status: reviewed
coverage: curated
cardCount: {count}
idPrefix: DSH-0.1.2-A2
verifiedAt: 2026-11-29
---
# Cards

- DSH-0.1.2-A2-01: a contents list declares nothing
"""
FIELDS = """\
- **Type**: breaking
- **Applies to**: plugins
- **Touch points**: `inject`
- **Action level**: required
- **Symptoms**: pending
- **Migration recipe**: rename
  and restart
- **Verification**: boot
- **Source**: https://example.org/tree/v1
"""


def card(number: int, title: str = "Renamed") -> str:
    return f"\n### DSH-0.1.2-A2-{number:02} · {title}\n\n{FIELDS}"


def write(directory: Path, *cards: str, count: int | None = None, name: str = "v0.1.2-alpha.2.md") -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(
        FRONT.format(count=len(cards) if count is None else count) + "".join(cards), encoding="utf-8"
    )
    return path


def test_cards_are_declared_by_headings_with_gaps(tmp_path: Path) -> None:
    write(tmp_path, card(1), card(2, "两个"), card(10))
    cards = load_cards([tmp_path])
    assert cards.problems == ()
    assert list(cards.cards) == ["DSH-0.1.2-A2-01", "DSH-0.1.2-A2-02", "DSH-0.1.2-A2-10"]
    assert cards.cards["DSH-0.1.2-A2-02"].title == "两个"
    assert cards.cards["DSH-0.1.2-A2-02"].fields["migration"] == "rename\nand restart"
    assert cards.expand_range("DSH-0.1.2-A2-01", "DSH-0.1.2-A2-10") == list(cards.cards)
    assert cards.nearest("DSH-0.1.2-A2-03") in cards.cards


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda text: text.replace("cardCount: 2", "cardCount: 3"), "cardCount is 3"),
        (lambda text: text.replace("status: reviewed\n", ""), "lacks 'status'"),
        (lambda text: text.replace("status: reviewed", "status: done"), "status 'done'"),
        (lambda text: text.replace("A2-02 ·", "A2-01 ·"), "declared twice"),
        (lambda text: text.replace("A2-02 ·", "A3-02 ·"), "idPrefix"),
        (lambda text: text.replace("A2-02 ·", "A2-2 ·"), "is not a card ID"),
        (lambda text: text.replace("### DSH-0.1.2-A2-02", "### BC-07"), "is not a card ID"),
        (lambda text: text.replace("- **Source**: https://example.org/tree/v1\n", "", 1), "lacks: source"),
        (lambda text: text.replace("breaking", "braking", 1), "unknown type"),
        (lambda text: text.replace("---\n# Cards", "# Cards"), "never closed"),
        (lambda text: text.replace("schema: 1", "schema: [1"), "not valid YAML"),
        (lambda text: text.replace("A2-01 ·", "A2-05 ·"), "comes after"),
        (lambda text: text.replace("A2-01 · Renamed", "A2-01 Renamed"), "no ' · ' before its title"),
        (lambda text: text.replace("A2-01 · Renamed", "A2-01 ·"), "no title"),
    ],
)
def test_problems_are_named_with_their_line(tmp_path: Path, change, word: str) -> None:  # type: ignore[no-untyped-def]
    path = write(tmp_path, card(1), card(2))
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    problems = load_cards([tmp_path]).problems
    assert any(word in problem.message for problem in problems), problems
    assert all(problem.line >= 1 and problem.fix for problem in problems)


def test_a_heading_in_a_code_fence_declares_nothing(tmp_path: Path) -> None:
    write(tmp_path, card(1), "\n```md\n" + card(2) + "```\n", count=1)
    assert list(load_cards([tmp_path]).cards) == ["DSH-0.1.2-A2-01"]


def test_versions_must_not_lead_back(tmp_path: Path) -> None:
    write(tmp_path, card(1))
    other = (
        FRONT.replace("dsh-v0.1.1", "X")
        .replace("dsh-v0.1.2-alpha.2", "dsh-v0.1.1")
        .replace("X", "dsh-v0.1.2-alpha.2")
    )
    (tmp_path / "v0.1.2-alpha.3.md").write_text(
        other.format(count=0).replace("idPrefix: DSH-0.1.2-A2", "idPrefix: DSH-0.1.2-A3"), encoding="utf-8"
    )
    assert any("lead back" in problem.message for problem in load_cards([tmp_path]).problems)


def test_coverage_expands_over_declared_cards_only(suite_root: Path) -> None:
    write(suite_root / "references", card(1), card(2), card(10))
    task = suite_root / "tasks" / "M15-x"
    (task / "solution").mkdir(parents=True)
    (task / "solution" / "SOLUTION.md").write_text("DSH-0.1.2-A2-02..10, DSH-0.1.2-A9-01\n", encoding="utf-8")
    (task / "instruction.md").write_text("DSH-0.1.2-A2-01\n", encoding="utf-8")
    result = card_coverage(find_suite(suite_root))
    assert result.cites == {"M15": ("DSH-0.1.2-A2-02", "DSH-0.1.2-A2-10")}
    assert result.uncovered == ("DSH-0.1.2-A2-01",)
    assert result.unknown == {"M15": ("DSH-0.1.2-A9-01",)}
