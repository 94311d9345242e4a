from __future__ import annotations

import pytest

from harbor_author.suite import CONTRACT_MARKER, MODES, contract_block, contract_gaps


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_our_block_holds_every_clause(mode: str, language: str) -> None:
    block = contract_block(mode, "zh" if language == "zh" else "en")
    assert contract_gaps(f"# Task\n\nDo it.\n\n{block}", mode) == []
    assert contract_gaps(block.replace("\n", "\n\n  ").replace(" ", "  "), mode) == []


@pytest.mark.parametrize("mode", MODES)
def test_each_clause_is_missed_when_it_goes(mode: str) -> None:
    block = contract_block(mode)
    sentences = [part for part in block.replace("\n", " ").split() if part]
    assert contract_gaps(" ".join(sentences), mode) == []
    for phrase, word in [
        ("no follow-up user", "no follow-up"),
        ("as soon as the plan", "proceed"),
        ("pause to wait", "no pause"),
        ("not modify the skill", "no modify"),
        ("another round of", "no stop"),
        ("/app/fixture/", "boundary"),
    ]:
        gaps = contract_gaps(block.replace(phrase, "…", 9), mode)
        assert any(word in gap for gap in gaps), (phrase, gaps)


def test_the_marker_stands_exactly_once() -> None:
    block = contract_block("mutable")
    assert contract_gaps(block + block, "mutable") == [f"the marker {CONTRACT_MARKER} stands 2 times"]
    assert contract_gaps(block.replace(CONTRACT_MARKER, ""), "mutable") == [
        f"the marker {CONTRACT_MARKER} is missing"
    ]


def test_a_contract_in_a_code_fence_is_none() -> None:
    fenced = f"Text\n\n````markdown\n{contract_block('mutable')}````\n"
    assert len(contract_gaps(fenced, "mutable")) == 7
    assert contract_gaps(fenced + contract_block("mutable"), "mutable") == []


def test_a_read_only_task_may_not_allow_changes() -> None:
    gaps = contract_gaps(
        contract_block("readonly") + "\nYou may modify `/app/fixture/` directly.\n", "readonly"
    )
    assert gaps == ["a readonly task says that the fixture may be modified directly"]


def test_another_modes_boundary_does_not_count() -> None:
    assert contract_gaps(contract_block("readonly"), "mutable") == ["clause 'boundary mutable' is missing"]
    assert contract_gaps(contract_block("build-artifacts-only"), "readonly") == [
        "clause 'boundary readonly' is missing"
    ]
