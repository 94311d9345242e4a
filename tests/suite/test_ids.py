from __future__ import annotations

import pytest

from harbor_author.suite import SuiteError, TaskId, check_slug, gaps, parse_ranges, parse_task_name, slugify
from harbor_author.suite.ids import next_number


@pytest.mark.parametrize("name", ["H23-slug", "S1-a", "M140-two-words", "H2-3d-view"])
def test_task_names(name: str) -> None:
    parsed = parse_task_name(name)
    assert parsed is not None
    assert str(parsed) == name


@pytest.mark.parametrize(
    "name",
    [
        "H23",
        "h23-slug",
        "H0-slug",
        "H023-slug",
        "H23-",
        "H23-Slug",
        "H23--a",
        "H23-a-",
        "H23-slug\n",
        "HH2-a",
        "H2_a",
        "",
    ],
)
def test_what_is_no_task_name(name: str) -> None:
    assert parse_task_name(name) is None


def test_a_name_that_no_host_name_could_hold_is_refused() -> None:
    assert parse_task_name("H1-" + "a" * 60) is not None
    assert parse_task_name("H1-" + "a" * 61) is None


def test_ranges() -> None:
    assert parse_ranges(["S1-S3", "H4", "M2-3"]) == {
        TaskId("S", 1),
        TaskId("S", 2),
        TaskId("S", 3),
        TaskId("H", 4),
        TaskId("M", 2),
        TaskId("M", 3),
    }


@pytest.mark.parametrize("entry", ["H", "H3-H1", "H1-M4", "1-4", "H1-H", "H0"])
def test_bad_ranges_name_the_entry(entry: str) -> None:
    with pytest.raises(SuiteError, match=entry):
        parse_ranges([entry])


def test_gaps_are_reported_and_never_filled() -> None:
    used = parse_ranges(["H1-H3", "H7"])
    assert next_number("H", used) == 8
    assert gaps("H", used) == [4, 5, 6]
    assert next_number("M", used) == 1


@pytest.mark.parametrize("slug", ["Slug", "a b", "-a", "a-", "a--b", "ü", "", "a/b", "a\n", "x" * 58])
def test_bad_slugs(slug: str) -> None:
    with pytest.raises(SuiteError):
        check_slug(slug)


def test_the_hint_for_a_bad_slug_is_a_good_slug() -> None:
    with pytest.raises(SuiteError) as caught:
        check_slug("Renamed Service!")
    assert "--slug renamed-service" in str(caught.value)
    assert check_slug(slugify("Renamed Service!")) == "renamed-service"
    assert slugify("旧插件") == ""
