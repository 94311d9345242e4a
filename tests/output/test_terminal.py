"""What a person sees in a terminal: tables, bars and progress, on a real pty of several widths."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harbor_author.output.bars import Bar, Style, as_scores, band, draw
from harbor_author.output.tables import cut, display_width, table
from harbor_author.proof import receipts
from harbor_author.proof.verdict import Trial
from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import find_suite
from tests.conftest import AuthorRunner, author_command
from tests.output.terminal import Terminal, screen_of

WIDTHS = [40, 80, 200]
CHINESE = "把旧的通知渠道迁移到新的宿主接口，并保留用户已经保存的全部设置与历史记录"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_a_table_fits_and_keeps_its_columns(width: int) -> None:
    rows = [
        ("H23", "H23-" + "long-" * 9 + "name", "mutable", CHINESE),
        ("M15", "M15-short", "readonly", "👩 a title with an emoji and \x1b[31mred\x1b[0m"),
        ("S17", "S17-e\u0301te\u0301", "mutable", "x" * 300),
    ]
    lines = table(rows, width=width).splitlines()
    assert len(lines) == 3
    assert all(display_width(line) <= width for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert lines[1].startswith("M15" if width > 20 else "M")


def test_a_table_that_fits_is_not_cut() -> None:
    assert table([("a", "bb", "ccc"), ("aaa", "b", "c")], width=12) == "a    bb  ccc\naaa  b   c"


def test_without_a_width_nothing_is_cut() -> None:
    assert table([("a", "x" * 999), ("b", "y")], width=1 << 20).splitlines()[0] == "a  " + "x" * 999


@pytest.mark.parametrize("text", [CHINESE, "❤️❤️❤️❤️", "e\u0301" * 9, "plain words", "👍🏽👍🏽👍🏽"])
@pytest.mark.parametrize("width", range(9))
def test_a_cut_is_never_wider_than_asked(text: str, width: int) -> None:
    assert display_width(cut(text, width)) <= width


BARS = [
    Bar("untouched", 0.0, 0.0, 0.0, "0", "pass", "ok"),
    Bar("oracle", 1.0, 1.0, 1.0, "100", "pass", "ok"),
    Bar("decoy:half", 0.35, 0.0, 0.4, "35", "pass", "ok"),
    Bar("decoy:far", 0.75, 0.0, 0.4, "75", "fail", "FAIL reward-too-high"),
    Bar("between", 0.6, 0.2, 0.8, "60", "pass", "ok"),
    Bar("repeat", None, 0.0, 1.0, "-", "error", "ERROR judge-killed"),
]


def test_bars_show_score_cap_floor_and_what_is_beyond() -> None:
    drawn = draw(BARS, Style(44, unicode=False))
    assert [line.split("\n")[0][18:30] for line in drawn] == [
        "[          ]",
        "[##########]",
        "[####|     ]",
        "[####|!!!  ]",
        "[##|###--| ]",
        "[no score  ]",
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("unicode", [True, False])
def test_bars_fit_the_width(width: int, unicode: bool) -> None:
    bars = [
        *BARS,
        Bar(f"decoy:{CHINESE}", 0.2, 0.0, 0.4, "20", "pass", "ok, at most 40"),
        Bar("n" * 300, 0.9, 0.0, 0.4, "90", "fail", f"FAIL reward-too-high: {CHINESE} {'long ' * 40}"),
    ]
    lines = "\n".join(draw(bars, Style(width, unicode))).splitlines()
    assert max(display_width(line) for line in lines) <= width
    if not unicode:
        assert not set("▕▏█▒░│") & set("".join(lines))


def test_without_colour_a_bar_has_no_escape_and_with_it_the_same_text() -> None:
    plain = draw(BARS, Style(80))
    coloured = draw(BARS, Style(80, colour=True))
    assert "\x1b" not in "".join(plain)
    for bare, painted in zip(plain, coloured, strict=True):
        assert re.sub("\x1b\\[[0-9]+m", "", painted) == bare


@pytest.mark.parametrize(
    ("expected", "low", "high"),
    [
        ("0", 0, 0),
        ("1", 1, 1),
        ("at most 0.4", 0, 0.4),
        ("0.2 to 0.8", 0.2, 0.8),
        ("any", 0, 1),
        ("1.2.3", 0, 1),
    ],
)
def test_the_band_of_an_expectation(expected: str, low: float, high: float) -> None:
    assert band(expected) == (low, high)


def test_an_expectation_by_scores() -> None:
    assert as_scores("0.2 to 0.85") == "20 to 85"


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite whose tasks have current receipts, one with Chinese names and a decoy that went too far."""
    root = tmp_path_factory.mktemp("suite")
    (root / "tasks").mkdir()
    (root / "references").mkdir()
    (root / "author.toml").write_text(
        '[suite]\nname = "scratch"\n\n[host]\nsource = "pypi"\ndsh = "0.1.2-alpha.3"\n'
    )
    suite = find_suite(root)
    for slug, title in (("one", CHINESE), ("a" + "-very-long" * 5, "Short")):
        made = new_task(suite, TaskRequest(series="H", slug=slug, title=title, language="zh"))
        task = next(task for task in find_suite(root).tasks() if task.path == made.path)
        trials = [
            Trial("untouched", "pass", 0.0, "0", score=0, max=100, duration_s=2.0),
            Trial("oracle", "pass", 1.0, "1", score=100, max=100, duration_s=9.5, judge_s=6.0),
            Trial("decoy:半途而废的迁移", "pass", 0.35, "at most 0.4", score=35, max=100, duration_s=3.0),
        ]
        receipts.write_receipt(
            task, receipts.gather_inputs(task, {}), trials, verdict="pass", cause=None, extra={}
        )
    return root


@pytest.mark.parametrize("width", WIDTHS)
def test_list_fits_the_terminal(proved: Path, width: int) -> None:
    status, screen, raw = screen_of([*author_command(), "list"], columns=width, cwd=proved)
    assert status == 0
    lines = screen.splitlines()
    assert [line.split()[0] for line in lines] == ["H1", "H2"], "no line wraps"
    assert ("…" in screen) == (width < 200)
    assert b"\x1b" not in raw


def test_columns_overrules_the_terminal(proved: Path) -> None:
    _, screen, _ = screen_of([*author_command(), "list"], columns=200, cwd=proved, env={"COLUMNS": "50"})
    assert max(len(line) for line in screen.splitlines()) <= 50


def test_a_pipe_is_given_whole_lines(proved: Path, author: AuthorRunner) -> None:
    assert CHINESE in author("list", cwd=proved, env={"COLUMNS": "40"}).out


DUMB = {"TERM": "dumb"}
ASCII = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}


@pytest.mark.parametrize(
    ("width", "env"), [(40, {}), (80, {"NO_COLOR": "1"}), (80, ASCII), (80, DUMB), (200, {})]
)
def test_a_proof_is_drawn_as_bars(proved: Path, width: int, env: dict[str, str]) -> None:
    status, screen, raw = screen_of(
        [*author_command(), "oracle-check", "H1"], columns=width, cwd=proved, env=env
    )
    assert status == 0, screen
    assert "H1: PASS (current" in screen.replace("\n", " ")
    rows = {line.split()[0]: line for line in screen.splitlines()[1:] if "▕" in line or "[" in line}
    assert {"untouched", "oracle"} <= rows.keys()
    ascii_only = "PYTHONIOENCODING" in env
    assert rows["oracle"].count("#" if ascii_only else "█") >= 10
    assert ("|" if ascii_only else "│") in screen, "the decoy's cap is marked"
    assert (b"\x1b[32m" in raw) == (env in ({}, ASCII))
    assert (b"\x1b" in raw) == (env != DUMB)
    assert "at most 40" in screen


def test_a_proof_in_a_pipe_is_plain(proved: Path, author: AuthorRunner) -> None:
    done = author("oracle-check", "H1", cwd=proved)
    assert "  oracle                  100  ok  (9.5 s)\n" in done.out, "aligned by what Chinese takes"
    assert not set("▕█│\x1b") & set(done.out)


WORK = """
import sys
from harbor_author.output.progress import working
with working("reading 读取插件 tasks", total=200) as work:
    work.count(12)
    sys.stdin.readline()
print("finished")
"""


@pytest.mark.parametrize("width", [40, 80])
def test_long_work_shows_its_stage_and_time_and_then_nothing(width: int) -> None:
    with Terminal([sys.executable, "-c", WORK], columns=width) as terminal:
        terminal.until(lambda seen: "reading" in seen.text)
        assert terminal.text.startswith("reading 读取插件 tasks: ")
        assert len(terminal.text.splitlines()) == 1, "it does not wrap"
        assert "12 of 200, " in terminal.text
        terminal.type("\n")
        assert terminal.finish() == 0
        assert "reading" not in terminal.text
        assert terminal.text.splitlines()[-1] == "finished"


TRIALS = """
import os, sys
from harbor_author.proof.progress import choose
progress = choose(quiet=False, verbose="-v" in sys.argv, environ=os.environ)
progress.stage("H23", "", "prepare")
for number in range(30):
    progress.log("H23", f"Step {number}/30 : RUN " + "x" * 300)
sys.stdin.readline()
for trial in ("untouched", "decoy:半途而废的迁移", "oracle"):
    progress.stage("H23", trial, "judge")
progress.done("H23", "untouched", "reward 0, as expected")
sys.stdin.readline()
progress.close()
print("finished")
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_trials_are_shown_as_they_run_and_the_build_in_one_line(width: int) -> None:
    with Terminal([sys.executable, "-c", TRIALS], columns=width, env={"NO_COLOR": "1"}) as terminal:
        terminal.until(lambda seen: "build: Step 29" in seen.text)
        assert len(terminal.text.splitlines()) == 1
        terminal.type("\n")
        terminal.until(lambda seen: "1 trial done" in seen.text)
        first, *trials = terminal.text.splitlines()
        assert first.startswith("H23  1 trial done, ")
        assert [line.split()[0] for line in trials] == ["decoy:半途而废的迁移", "oracle"]
        assert all(line.endswith(" s") for line in trials)
        assert "\x1b[3" not in terminal.raw.decode(), "no colour"
        terminal.type("\n")
        assert terminal.finish() == 0
        assert terminal.text == "finished"


@pytest.mark.parametrize("arguments", [["-v"], []])
def test_a_log_has_lines_and_the_build_only_when_asked(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRIALS, *arguments], input=b"\n\n", capture_output=True, check=True
    )
    said = done.stderr.decode()
    assert "\x1b" not in said
    assert ("Step 29/30" in said) == bool(arguments)
    assert "H23 untouched: reward 0, as expected\n" in said
