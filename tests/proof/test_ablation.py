"""Taking the oracle's changes back, one at a time, and reading who noticed."""

from __future__ import annotations

from harbor_author.proof.ablation import Unit, findings, not_graded, plan
from harbor_author.proof.reward import Check
from harbor_author.proof.snapshot import Change, FileState, OracleChanges
from harbor_author.proof.verdict import Trial

OLD = "const a = 1;\n// old remark\nkeep();\nconst b = 1;\n"
NEW = "const a = 2;\n// new remark\nkeep();\nconst b = 2;\n"


def state(text: str, mode: int = 0o644) -> FileState:
    return FileState(mode, text.encode())


def observed(*changes: Change, outputs: tuple[str, ...] = ()) -> OracleChanges:
    before = {change.path: change.before for change in changes if change.before}
    after = {change.path: change.after for change in changes if change.after}
    return OracleChanges(changes, before, after, outputs)


def test_a_file_has_a_unit_and_each_of_its_hunks_too() -> None:
    old, new = "a = 1\nkeep\nb = 1\n", "a = 2\nkeep\nb = 2\n"
    made = plan(observed(Change("/app/fixture/x.js", state(old), state(new))))
    assert [unit.label for unit in made.files] == ["x.js"]
    assert {unit.label: unit.restored and unit.restored.data for unit in made.hunks} == {
        "x.js@1": b"a = 1\nkeep\nb = 2\n",
        "x.js@3": b"a = 2\nkeep\nb = 1\n",
    }


def test_added_and_removed_files_are_taken_back_whole() -> None:
    made = plan(
        observed(
            Change("/app/fixture/new.js", None, state("x")),
            Change("/app/fixture/old.json", state("{}", 0o755), None),
        )
    )
    assert [(unit.label, unit.restored) for unit in made.files] == [
        ("new.js", None),
        ("old.json", state("{}", 0o755)),
    ]
    assert made.hunks == ()


def test_documents_and_comments_of_the_fixture_are_not_expected_to_be_judged() -> None:
    old, new = "one();\n// was\n\n", "one();\n// is\n\n"
    made = plan(
        observed(
            Change("/app/fixture/README.md", state("a\n"), state("b\n")),
            Change("/app/fixture/x.js", state(old), state(new)),
        )
    )
    assert [unit.label for unit in made.files] == ["x.js"]
    assert made.prose == ("README.md", "x.js@2")


def test_a_written_report_is_taken_back_by_sections() -> None:
    report = "# Report\nintro\n## One\nfirst\n## Two\nsecond\n"
    made = plan(observed(Change("/app/report.md", None, state(report)), outputs=("/app/report.md",)))
    assert [unit.label for unit in made.hunks] == ["/app/report.md@3", "/app/report.md@5"]
    assert made.hunks[0].restored == state("# Report\nintro\n## Two\nsecond\n")


def test_binary_files_have_no_hunks() -> None:
    change = Change("/app/fixture/x.bin", FileState(0o644, b"\0a\nb\n"), FileState(0o644, b"\0c\nd\n"))
    assert plan(observed(change)).hunks == ()


def trial(name: str, reward: float | None, *checks: tuple[str, float], verdict: str = "pass") -> Trial:
    return Trial(
        name, verdict, reward, "", checks=tuple(Check(check, 50, earned) for check, earned in checks)
    )


def unit(path: str) -> Unit:
    return Unit(f"/app/fixture/{path}", None, None)


def test_the_table_tells_killed_blind_declared_and_error() -> None:
    trials = [
        trial("untouched", 0.0, ("a", 0), ("b", 0), ("free", 20)),
        trial("oracle", 1.0, ("a", 50), ("b", 50), ("free", 20), ("idle", 10)),
        trial("ablation:k.js", 0.5, ("a", 0), ("b", 50), ("free", 20), ("idle", 10)),
        trial("ablation:b.js", 1.0, ("a", 50), ("b", 50), ("free", 20), ("idle", 10)),
        trial("ablation:d.js", 1.0),
        trial("ablation:e.js", None, verdict="error"),
    ]
    units = [unit(name) for name in ("k.js", "b.js", "d.js", "e.js")]
    solution = "# S\n## Grading Boundary\nd.js is only a style matter.\n## Warning\nb.js is risky.\n"
    found = findings(trials, units, plan(observed()), skipped=2, solution_text=solution)
    assert [(row.change, row.state, row.by) for row in found.rows] == [
        ("k.js", "killed", ("a",)),
        ("b.js", "blind", ()),
        ("d.js", "declared", ()),
        ("e.js", "error", ()),
    ]
    assert (found.killed, found.total, found.blind) == (1, 2, ("b.js",))
    assert found.free == ("free",)
    assert "idle" in found.unmoved
    assert "a" not in found.unmoved


def test_only_the_section_on_the_boundary_declares() -> None:
    text = "# A\nx.js\n## Grading boundary\ny.js\n### Detail\nz.js\n## Other\nw.js\n"
    assert [name for name in ("x.js", "y.js", "z.js", "w.js") if name in not_graded(text)] == ["y.js", "z.js"]


def test_an_oracle_that_has_nothing_to_lose_tells_nothing() -> None:
    trials = [trial("oracle", 0.0, verdict="fail"), trial("ablation:a.js", 0.0)]
    found = findings(trials, [unit("a.js")], plan(observed()), skipped=0, solution_text="")
    assert (found.rows, found.blind) == ((), ())
