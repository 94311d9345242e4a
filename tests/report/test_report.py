"""What the page says, and that it says it safely."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest

from harbor_author.report import collect, html
from harbor_author.report.charts import heat_map
from harbor_author.report.differences import differences
from harbor_author.report.model import HeatMap, SuiteView, TaskView
from harbor_author.suite import find_suite
from tests.conftest import AuthorRunner, make_suite
from tests.report.scenes import CHINESE, HOSTILE, make_scenes


class Page(HTMLParser):
    """What a page holds: tags with attributes, and all of its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> SuiteView:
    suite = find_suite(make_scenes(make_suite(tmp_path_factory.mktemp("scenes"))))
    return collect(suite, suite.tasks())


@pytest.fixture(scope="module")
def page(view: SuiteView) -> Page:
    return Page(html(view))


def task(view: SuiteView, label: str) -> TaskView:
    return next(task for task in view.tasks if task.label == label)


def test_nothing_of_a_task_becomes_markup(page: Page) -> None:
    assert not {"script", "img", "b"} & {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text


def test_the_page_needs_no_network(page: Page) -> None:
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href"):
            value = attributes.get(name) or "#"
            assert value.startswith("#") or value == "data:,", (tag, value)


def test_every_chart_is_told_in_words(page: Page) -> None:
    charts = [
        attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("class") != "flat"
    ]
    assert len(charts) == 3 + 5 * 2 + 2, "states of three series, two charts of five proofs, two heat maps"
    idents = {attributes["id"] for _, attributes in page.tags if attributes.get("id")}
    for chart in charts:
        assert chart["role"] == "img"
        assert set((chart["aria-labelledby"] or "").split()) <= idents
    assert "75 of 100, expected at most 40, fail" in page.text
    assert "error judge-killed" in page.text
    assert "the longest oracle, 9.5 s, of it submission 1.0 s, judge 6.0 s" in page.text
    assert "1 of 3 changes are noticed by a check; not noticed: package.json" in page.text


def test_links_inside_the_page_lead_somewhere(page: Page) -> None:
    idents = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(idents) == len(set(idents))
    for _, attributes in page.tags:
        link = attributes.get("href") or ""
        if link.startswith("#"):
            assert link[1:] in idents


def test_the_glance_counts_what_holds(page: Page) -> None:
    text = re.sub(r"\s*\n\s*", "", page.text)
    for words in (
        "Proved and current2 of 8",
        "Proofs stale2",
        "Proofs failed2",
        "Cards covered1 of 8",
        "8 tasks, 8 cards",
        "series H: 2 proved, 1 failed, 1 error, 1 stale, 1 not proved",
    ):
        assert words in text


def test_cards_that_no_task_covers_come_first(page: Page) -> None:
    cards = page.text[page.text.index("1 of 8 cards") :]
    assert cards.index("Not covered") < cards.index("DSH-0.1.2-A3-02") < cards.index("Covered")
    assert cards.index("Covered") < cards.index("DSH-0.1.2-A3-01")


def test_repetitions_are_one_bar_and_ablation_none(view: SuiteView) -> None:
    shown = task(view, "H24")
    assert [bar.count for bar in shown.drawn if bar.name == "oracle"] == [5]
    assert not any("#" in bar.name for bar in shown.drawn)
    assert len(shown.bars) == 40


def test_a_failed_proof_tells_which_check_and_what_to_do(view: SuiteView) -> None:
    story = task(view, "H25").story
    assert story[0].startswith("reward-too-low: ")
    assert "oracle: 60, expected 100." in story
    assert "Check 设置保留 gave 10 of 50 points." in story
    assert f"decoy:{CHINESE}: 75, expected at most 40. It stands for: {CHINESE}" in story
    assert "Check boots gave 50 of 50 points all the same." in story
    assert story[-1].startswith("What to do: ")
    assert task(view, "H26").story[1] == ("oracle: no score, expected 100. The judge was killed by signal 9.")
    assert task(view, "H28").story == ()


def test_findings_show_their_source(view: SuiteView) -> None:
    found = task(view, "H27")
    assert found.counts["error"] > 0
    [syntax] = [finding for finding in found.findings if finding.rule == "shell-syntax"]
    assert any(here for _, _, here in syntax.lines)
    weights = [finding.severity for finding in found.findings]
    assert weights == sorted(weights, key=["error", "warning", "note"].index)


def test_every_command_that_the_page_names_can_be_run(view: SuiteView, page: Page) -> None:
    from harbor_author.cli.main import cli

    commands = {command for task in view.tasks for _, command in task.reproduce}
    commands |= set(re.findall(r"^author [a-z].*$", page.text, re.MULTILINE))
    assert len(commands) > 20
    for command in commands:
        name, *arguments = shlex.split(command)[1:]
        found = cli.get_command(click.Context(cli), name)
        assert found is not None, command
        while isinstance(found, click.Group):
            found = found.get_command(click.Context(found), arguments.pop(0))
        assert found is not None, command
        if "…" not in command and "--series" not in arguments:
            found.make_context(name, arguments)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_way_from_the_fixture_to_the_solution(tmp_path: Path) -> None:
    fixture, solution = tmp_path / "environment" / "fixture", tmp_path / "solution"
    for name in ("package.json", "lib/package.json", "lib/old.js", "kept.js", "same.js"):
        write(fixture / name, "one\ntwo\n")
    write(solution / "plugin" / "kept.js", "one\nthree\n")
    write(solution / "plugin" / "same.js", "one\ntwo\n")
    write(solution / "project" / "new.js", "new\n")
    write(solution / "report.md", "# Report\n")
    write(solution / "decoys" / "x" / "kept.js", "decoy\n")
    write(solution / "SOLUTION.md", "why\n")
    write(
        solution / "solve.sh", 'rm -f "$fixture/lib/package.json" ${fixture}/lib/old.js\ncp x package.json\n'
    )
    (solution / "link.md").symlink_to("/etc/hostname")
    found = {one.path: one for one in differences(tmp_path)}
    assert {name: one.what for name, one in found.items()} == {
        "solve.sh": "script",
        "kept.js": "changed",
        "new.js": "added",
        "report.md": "added",
        "lib/package.json": "removed",
        "lib/old.js": "removed",
    }
    assert found["kept.js"].lines[-2:] == ("-two", "+three")
    assert found["lib/old.js"].lines == ("-one", "-two")


def test_the_command_does_not_overwrite_another_file(author: AuthorRunner, suite_root: Path) -> None:
    output = suite_root / "notes.html"
    output.write_text("<p>mine</p>")
    done = author("report", "--suite", suite_root, "--output", output)
    assert done.status == 2
    assert output.read_text() == "<p>mine</p>"
    assert author("report", "--suite", suite_root, "--output", suite_root / "r.html").status == 0
    assert author("report", "--suite", suite_root, "--output", suite_root / "r.html").status == 0


def test_two_hundred_tasks_stay_small(view: SuiteView) -> None:
    one = task(view, "H25")
    tasks = tuple(replace(one, anchor=f"task-{number}", label=f"H{number}") for number in range(200))
    text = html(replace(view, tasks=tasks))
    assert text.count("<article") == 200
    assert len(text.encode()) < 5 * 1024 * 1024


def test_a_suite_without_a_task_says_how_to_make_one(suite_root: Path) -> None:
    suite = find_suite(suite_root)
    assert "author new --series H" in html(collect(suite, suite.tasks()))


def test_a_title_may_hold_anything(view: SuiteView) -> None:
    assert HOSTILE[:25] in task(view, "H23").title


def test_changes_of_one_file_are_told_apart_in_the_heat_map() -> None:
    long = "src/services/with/a/long/way/to/notification-service.ts@"
    names = [f"{long}{line}" for line in (2, 20, 23)]
    chart = heat_map(
        HeatMap(
            ("works",),
            dict.fromkeys(names, ("works",)),
            dict.fromkeys(names, "killed"),
            dict.fromkeys(names, 0.0),
        ),
        ident="h",
    )
    shown = re.findall(r'<text class="name"[^>]*>([^<]*)', chart)
    assert [name.rpartition("@")[2] for name in shown] == ["2", "20", "23"]
    assert all(name.startswith("…") for name in shown)
