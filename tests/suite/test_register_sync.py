"""`author sync`: registers made true from the tasks, all other text untouched byte for byte."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor_author.suite import find_suite
from harbor_author.suite.counts import Counts, corrected
from harbor_author.suite.register_sync import BEGIN, END, plan_registers
from harbor_author.suite.tables import cell_text, find_tables
from tests.conftest import AuthorRunner

JUDGE = """// {id}: {title}
// Judged: the boot. Not judged: what a browser shows.
const judge = defineJudge({{ checks: [ {{ id: "graph", points: 60 }}, {{ id: "route", points: 40 }} ] }});
"""


def add_task(
    root: Path, name: str, title: str = "A title", *, written: bool = False, metadata: str = ""
) -> Path:
    task = root / "tasks" / name
    (task / "tests").mkdir(parents=True)
    (task / "solution").mkdir()
    mode = "readonly" if written else "mutable"
    (task / "task.toml").write_text(
        f"[task]\nname = {json.dumps('scratch/' + name.split('-')[0].lower())}\ndescription = {json.dumps(title)}\n"
        f"[metadata]\nmode = {json.dumps(mode)}\n{metadata}"
    )
    (task / "tests" / "judge.mjs").write_text(JUDGE.format(id=name.split("-")[0], title=title))
    if written:
        findings = {"findings": [{"id": "one"}, {"id": "two"}], "rubric": {"points": {"one": 3, "two": 1}}}
        (task / "tests" / "judge.mjs").write_text(
            "// Not judged: wording\nlet checks = [{ id: 'report', points: 100 }];\n"
        )
        (task / "tests" / "ground-truth.json").write_text(json.dumps(findings))
    return task


@pytest.fixture
def root(suite_root: Path) -> Path:
    """A suite with S17 (written), H23 and H24, and two registers, empty so far."""
    with (suite_root / "author.toml").open("a") as stream:
        stream.write('\n[registers]\nreadme = "README.md"\nscoring = "docs/scoring.md"\n')
    (suite_root / "docs").mkdir()
    add_task(suite_root, "S17-report", "A report", written=True)
    add_task(suite_root, "H23-left-behind", "Left behind")
    add_task(suite_root, "H24-two|bars".replace("|", "-"), "Two | bars \\| in a `title`\nof lines")
    return suite_root


def sync(root: Path, readme: str, scoring: str | None = None) -> tuple[str, str, list[str]]:
    """Both texts as they should be, and where they differ as `path:line`."""
    (root / "README.md").write_bytes(readme.encode())
    (root / "docs" / "scoring.md").write_bytes((scoring or f"{BEGIN}\n{END}\n").encode())
    plans = plan_registers(find_suite(root))
    for plan in plans:
        plan.path.write_bytes(plan.after.encode())
    again = plan_registers(find_suite(root))
    assert [plan.after for plan in again] == [plan.after for plan in plans], "not idempotent"
    assert [drift for plan in again for drift in plan.drifts if drift.fixable] == []
    places = [f"{drift.path}:{drift.line}" for plan in plans for drift in plan.drifts]
    return plans[0].after, plans[1].after, places


README = """# Suite

The suite contains 3 tasks: 1 written and 2 hands-on. Next free: S18, M15, H25.

| ID | What it asks | Type | Mode |
|:---|---|:-:|---|
| [S17](tasks/S17-report/) | My own \\| words | Written | readonly |
|[H23](tasks/H23-left-behind/)|`a \\| b`|Hands-on|mutable|
| [H24](tasks/H24-two-bars/) | mine | Hands-on (trap) | `mutable` |

The first 2 tasks are hard.
"""
SCORING = """Total 300 (3 tasks x 100; 1 written, 2 hands-on)

| Task | Points | Breakdown | Not judged |
|---|---|---|---|
| `S17` | 100 | one 75, two 25 | wording |
| `H23` | 100 | `graph`: 60 + `route`: 40 | what a browser shows. |
| `H24` | 100 | graph 60, route 40 | what a browser shows. |
"""


def test_true_registers_stay_byte_for_byte(root: Path) -> None:
    assert sync(root, README, SCORING) == (README, SCORING, [])


def test_windows_line_ends_and_a_missing_last_one_stay(root: Path) -> None:
    readme = README.replace("3 tasks", "9 tasks").replace("\n", "\r\n").rstrip()
    after, _, places = sync(root, readme, SCORING)
    assert after == README.replace("\n", "\r\n").rstrip()
    assert places == ["README.md:3"]


def test_every_place_that_drifts_is_named_and_set_right(root: Path) -> None:
    readme = (
        README.replace("3 tasks: 1 written and 2 hands-on", "7 tasks: 3 written and 4 hands-on")
        .replace("H25", "H24")
        .replace("S17-report", "S17-old-name")
        .replace("| [H24](tasks/H24-two-bars/) | mine | Hands-on (trap) | `mutable` |\n", "")
        .replace("|Hands-on|mutable|", "|Hands-on|readonly|")
    )
    after, scoring, places = sync(
        root, readme, SCORING.replace("300 (3", "5,200 (52").replace("route: 4", "route: 3")
    )
    assert places == ["README.md:3", "README.md:7", "README.md:8", "README.md:8", "docs/scoring.md:1"]
    assert after.split("\n")[2] == README.split("\n")[2]
    assert "|[H23](tasks/H23-left-behind/)|`a \\| b`|Hands-on|mutable|" in after
    title = "Two \\| bars \\\\\\| in a `title` of lines"
    assert f"| [H24](tasks/H24-two-bars/) | {title} | Hands-on | mutable |" in after
    assert scoring == SCORING


def test_a_breakdown_follows_the_judge_and_the_boundary_its_author(root: Path) -> None:
    solution = (
        "## Grading Boundary\n\n- Graded: the boot.\n- Not graded: looks, | layout\n  and order.\n- Other.\n"
    )
    (root / "tasks" / "H23-left-behind" / "solution" / "SOLUTION.md").write_text(solution)
    _, scoring, places = sync(root, README, SCORING.replace("60 + ", "50 + ").replace("one 75", "one 70"))
    assert "| `H23` | 100 | graph 60, route 40 | looks, \\| layout and order. |" in scoring
    assert "| `S17` | 100 | one 75, two 25 | wording |" in scoring
    assert places == ["docs/scoring.md:5", "docs/scoring.md:6", "docs/scoring.md:6"]


def test_what_a_judge_does_not_tell_stays_as_written(root: Path) -> None:
    (root / "tasks" / "H23-left-behind" / "tests" / "judge.mjs").write_text("export const checks = make();\n")
    scoring = SCORING.replace("`graph`: 60 + `route`: 40 | what a browser shows.", "by hand | by hand")
    assert sync(root, README, scoring)[1] == scoring


def test_a_task_that_is_gone_leaves_the_table_and_a_reserved_number_stays(root: Path) -> None:
    extra = "| [H25](tasks/H25-gone/) | gone | Hands-on | mutable |\n| [H4](x) | elsewhere | Written | readonly |\n"
    readme = README.replace("\nThe first", extra + "\nThe first").replace("\n\n| [H25]", "\n| [H25]")
    after, _, places = sync(root, readme.replace("mutable` |\n\n|", "mutable` |\n|"), SCORING)
    assert "H25-gone" not in after
    assert "| [H4](x) | elsewhere | Written | readonly |" in after
    assert places == ["README.md:10"]
    assert "3 tasks: 1 written and 2 hands-on" in after


def test_a_retired_task_is_not_counted(root: Path) -> None:
    text = (
        (root / "author.toml")
        .read_text()
        .replace('reserved = ["S1', 'retired = { H24 = "leaked" }\nreserved = ["S1')
    )
    (root / "author.toml").write_text(text)
    after, scoring, _ = sync(root, README, SCORING)
    assert "contains 2 tasks: 1 written and 1 hands-on. Next free: S18, M15, H25." in after
    assert scoring.startswith("Total 200 (2 tasks x 100; 1 written, 1 hands-on)")


def test_the_split_follows_the_type_column_unless_the_task_declares(root: Path) -> None:
    after, *_ = sync(root, README.replace("Hands-on (trap)", "Static"), SCORING)
    assert "2 written and 1 hands-on" in after
    add_task(root, "H25-declared", metadata='type = "written"\n')
    after, *_ = sync(root, README.replace("Hands-on (trap)", "Static"), SCORING)
    assert "| [H25](tasks/H25-declared/) | A title | Written | mutable |" in after
    assert "4 tasks: 3 written and 1 hands-on. Next free: S18, M15, H26." in after


def test_a_table_between_markers_is_begun(root: Path) -> None:
    after, scoring, _ = sync(root, f"# Suite\n\n{BEGIN}\n{END}\n\nEnd.\n")
    assert after.startswith(
        f"# Suite\n\n{BEGIN}\n| ID | Title | Type | Mode |\n|---|---|---|---|\n| H23 | Left behind |"
    )
    assert "| S17 | A report | Written | readonly |\n" + END in after
    assert "| H24 | 100 | graph 60, route 40 | what a browser shows. |" in scoring


def test_rows_stand_in_the_order_of_their_series(root: Path) -> None:
    for name in ("H30-x", "S18-x", "M15-x"):
        add_task(root, name)
    readme = README.replace("| [H24](tasks/H24-two-bars/) | mine | Hands-on (trap) | `mutable` |\n", "")
    after, *_ = sync(root, readme, SCORING)
    assert re.findall(r"^\| ?\[(\w+)\]", after, re.MULTILINE) == [
        "S17",
        "S18",
        "H23",
        "M15",
        "H24",
        "H30",
    ] or re.findall(r"^\| ?\[(\w+)\]", after, re.MULTILINE) == ["S17", "S18", "H23", "H24", "H30", "M15"]


def test_what_stands_in_code_is_not_touched(root: Path) -> None:
    table = "| [H99](x) | y |\n|---|---|\n| [H98](x) | y |\n"
    code = f"\n```md\nIt contains 9 tasks.\n{table}```\n~~~\nTotal 900 (9 tasks x 100)\n{BEGIN}\n{END}\n~~~\n"
    assert sync(root, README + code, SCORING)[0] == README + code


def test_a_register_without_a_table_needs_its_author(root: Path, author: AuthorRunner) -> None:
    (root / "README.md").write_text("# Nothing\n")
    ran = author("sync", cwd=root)
    assert ran.status == 1
    assert "README.md:1: has no table of tasks, so H23, H24, S17 cannot be listed" in ran.out
    assert "docs/scoring.md:1: is named in author.toml as a register and does not exist" in ran.out
    assert (root / "README.md").read_text() == "# Nothing\n"


@pytest.mark.slow
def test_check_changes_nothing_and_exits_with_1(root: Path, author: AuthorRunner) -> None:
    (root / "README.md").write_text(README.replace("3 tasks", "4 tasks"))
    (root / "docs" / "scoring.md").write_text(SCORING)
    ran = author("sync", "--check", cwd=root)
    assert (ran.status, ran.out) == (1, "README.md:3: counts 4, and it is 3\n")
    assert "4 tasks" in (root / "README.md").read_text()
    ran = author("sync", "--json", cwd=root)
    document = json.loads(ran.out)
    assert (ran.status, document["schema"]) == (0, "author/sync/1")
    assert document["drifts"] == [
        {"path": "README.md", "line": 3, "message": "counts 4, and it is 3", "fixable": True, "fixed": True}
    ]
    assert (root / "README.md").read_text() == README
    ran = author("sync", "--check", cwd=root)
    assert (ran.status, ran.out) == (0, "the registers are true\n")


def test_a_suite_without_registers_has_nothing_to_do(suite_root: Path, author: AuthorRunner) -> None:
    ran = author("sync", "--check", cwd=suite_root)
    assert ran.status == 0
    assert "names no registers" in ran.err


COUNTS = Counts(53, 20, 33, {"S": 17, "H": 22}, {"S": 18, "M": 15, "H": 24})


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("It contains 52 tasks.", "It contains 53 tasks."),
        ("The suite has **52** benchmark tasks", "The suite has **53** benchmark tasks"),
        ("本套件共 52 个任务", "本套件共 53 个任务"),
        ("52 tasks: 19 written, 32 hands-on", "53 tasks: 20 written, 33 hands-on"),
        ("19 written tasks and 32 hands-on tasks", "20 written tasks and 33 hands-on tasks"),
        ("**Total 5,200** (52 tasks × 100)", "**Total 5,300** (53 tasks × 100)"),
        ("Total 5200 (52 tasks x 100; 1 written, 2 hands-on)", "Total 5300 (53 tasks x 100; 20 written, 33 hands-on)"),
        ("总分 5200（52 道题 x 100）", "总分 5300（53 道题 x 100）"),
        ("Next free: S17, M14 and H23", "Next free: S18, M15 and H24"),
        ("<!-- count:S -->16<!-- /count --> static", "<!-- count:S -->17<!-- /count --> static"),
        ("<!-- count:points -->x<!-- /count -->", "<!-- count:points -->5300<!-- /count -->"),
    ],
)  # fmt: skip
def test_sentences_that_count(line: str, right: str) -> None:
    assert corrected(line, COUNTS) == right
    assert corrected(right, COUNTS) == right


@pytest.mark.parametrize(
    "line",
    [
        "The first 3 tasks are hard.",
        "Series H has 22 tasks.",
        "Each of the 5 tasks runs alone.",
        "In 2026 we ran 12 tasks twice.",
        "v0.1.2 has 4 breaking changes",
        "4 written exams",
        "run 3 tasks at a time",
        "H23 is about 2 tasks in the plugin's queue",
        "<!-- count:unknown -->5<!-- /count -->",
        "See S1-S16 and H4.",
    ],
)
def test_sentences_that_count_something_else(line: str) -> None:
    assert corrected(line, COUNTS) == line


@given(st.text(max_size=40))
def test_any_text_fits_a_cell(text: str) -> None:
    cell = cell_text(text)
    table = find_tables(["| a | b |", "|---|---|", f"| {cell} | next |", f"|{cell}|next|"])
    assert [len(row.cells) for row in table[0].rows] == [2, 2]
    assert {row.cells for row in table[0].rows} == {(cell.strip(), "next")}


ODD = [
    BEGIN,
    END,
    "```",
    "~~~",
    "| H23",
    "| H23 |",
    "|---|",
    "|-",
    "| [H24](x) | a \\| b |",
    "| `H99-gone` | | | |",
]
ODD += [
    "\\|",
    "| a \\",
    "|",
    "||",
    "| H23 | H23 | H23 | H23 | H23 | H23 |",
    "\u2028| H23 |",
    "It contains 9 tasks",
]
LINES = st.lists(
    st.sampled_from([*README.split("\n"), *SCORING.split("\n"), *ODD]) | st.text(max_size=20), max_size=25
)


def plain(text: str) -> list[str]:
    """Lines that are neither blank nor table rows and hold no digits: none may change, vanish or move."""
    return [line for line in text.split("\n") if line.strip() and not re.search(r"\d|^\s*\|", line)]


@pytest.mark.slow
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(readme=LINES, scoring=LINES, eol=st.sampled_from(["\n", "\r\n"]))
def test_any_document_is_made_true_at_once_and_then_stays(
    root: Path, readme: list[str], scoring: list[str], eol: str
) -> None:
    texts = [eol.join(lines).replace("\ufeff", "") for lines in (readme, scoring)]
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    after, after_scoring, _ = sync(root, texts[0], texts[1] or "x")
    for before, now in ((texts[0], after), (texts[1] or "x", after_scoring)):
        assert plain(now) == plain(before)
