from __future__ import annotations

import time

import pytest

from harbor_author.suite import find_citations


@pytest.mark.parametrize(
    ("text", "form", "ids"),
    [
        ("DSH-0.1.2-A1-01", "full", ("DSH-0.1.2-A1-01",)),
        ("(DSH-0.1.1-R1-09)", "full", ("DSH-0.1.1-R1-09",)),
        ("[DSH-0.1.2-A2-02](v0.1.2-alpha.2.md)", "full", ("DSH-0.1.2-A2-02",)),
        ("`DSH-0.1.2-A2-02`", "full", ("DSH-0.1.2-A2-02",)),
        ("中文DSH-0.1.2-A2-02的", "full", ("DSH-0.1.2-A2-02",)),
        (
            "DSH-0.1.2-A1-25/26/27",
            "slash",
            ("DSH-0.1.2-A1-25", "DSH-0.1.2-A1-26", "DSH-0.1.2-A1-27"),
        ),
        ("DSH-0.1.2-A2-01..08", "range", ("DSH-0.1.2-A2-01", "DSH-0.1.2-A2-08")),
        ("DSH-0.1.2-A2-01 – A2-08", "range", ("DSH-0.1.2-A2-01", "DSH-0.1.2-A2-08")),
        ("DSH-0.1.2-A2-01...DSH-0.1.2-A2-08", "range", ("DSH-0.1.2-A2-01", "DSH-0.1.2-A2-08")),
        ("DSH-0.1.2-A1-*", "wildcard", ("DSH-0.1.2-A1",)),
        ("rollup R-08 #3", "rollup", ()),
        ("ALPHA1-01", "retired", ()),
        ("BC-07", "retired", ()),
        ("A2-01..08", "range", ()),
    ],
)
def test_one_citation(text: str, form: str, ids: tuple[str, ...]) -> None:
    found = find_citations(f"see {text} there")
    assert [(citation.form, citation.ids) for citation in found] == [(form, ids)]


def test_tails_take_the_version_of_the_full_id_before_them() -> None:
    found = find_citations(
        "DSH-0.1.2-A2-02 / A2-03 / A2-10 and {A1-25, A1-26}; later DSH-0.1.1-R1-01 / R1-02"
    )
    assert [citation.ids for citation in found] == [
        ("DSH-0.1.2-A2-02",),
        ("DSH-0.1.2-A2-03",),
        ("DSH-0.1.2-A2-10",),
        ("DSH-0.1.2-A1-25",),
        ("DSH-0.1.2-A1-26",),
        ("DSH-0.1.1-R1-01",),
        ("DSH-0.1.1-R1-02",),
    ]
    assert [citation.form for citation in found] == ["full", "tail", "tail", "tail", "tail", "full", "tail"]


@pytest.mark.parametrize(
    "text",
    [
        "A1",
        "USA1-25",
        "DSH-0.1.2",
        "sha-A1-255",
        "550e8400-A1-25-bcde",
        "x.A1-25",
        "R-08",
        "ABC-01",
        "MA1-25x",
        "A1-2",
    ],
)
def test_what_is_no_citation(text: str) -> None:
    assert find_citations(text) == []


def test_line_and_column() -> None:
    found = find_citations("one\ntwo DSH-0.1.2-A1-01\n\n  DSH-0.1.2-A1-02, A1-03")
    assert [(citation.line, citation.column) for citation in found] == [(2, 5), (4, 3), (4, 20)]


def test_a_long_text_costs_linear_time() -> None:
    def seconds(size: int) -> float:
        text = "DSH-0.1.2-A1-0" * size
        started = time.process_time()
        find_citations(text)
        return time.process_time() - started

    assert seconds(80_000) < 40 * max(seconds(8_000), 0.005)
