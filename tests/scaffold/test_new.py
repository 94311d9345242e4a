from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import contract_gaps, find_suite, reserve_task
from tests.conftest import REPOSITORY, AuthorRunner

TITLES = [
    'He said "no" \\ and \\u0041 left',
    "插件升级：缺少客户端 🚀",
    "''' and \"\"\" and ``` and {{ id }} and {% raw %}",
    "*/ --> | <script>alert(1)</script> $(reboot) `reboot` ${HOME} %s",
    "# not a heading",
    "-n",
]


@pytest.mark.parametrize("series", ["S", "M", "H"])
@pytest.mark.parametrize("title", TITLES)
def test_any_title_survives(suite_root: Path, series: str, title: str) -> None:
    made = new_task(find_suite(suite_root), TaskRequest(series=series, slug="x", title=title))
    document = tomllib.loads((made.path / "task.toml").read_text(encoding="utf-8"))
    assert document["task"]["description"] == title
    assert list(document["task"])[:2] == ["name", "description"]
    for script in made.path.rglob("*.sh"):
        assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
        assert script.stat().st_mode & 0o777 == 0o755
    for path in made.path.rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.node
def test_titles_are_safe_in_javascript(suite_root: Path) -> None:
    made = new_task(find_suite(suite_root), TaskRequest(series="H", slug="x", title=" ".join(TITLES)[:200]))
    for path in made.path.rglob("*.mjs"):
        checked = subprocess.run(["node", "--check", path], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("series", ["S", "M", "H"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_contract_fits_the_mode(suite_root: Path, series: str, language: str) -> None:
    request = TaskRequest(series=series, language="zh" if language == "zh" else "en")
    made = new_task(find_suite(suite_root), request)
    document = tomllib.loads((made.path / "task.toml").read_text(encoding="utf-8"))
    mode = "readonly" if series == "S" else "mutable"
    assert document["metadata"]["mode"] == mode
    assert document["metadata"]["execution_contract"] == "BENCHMARK-AUTH-v1"
    assert contract_gaps((made.path / "instruction.md").read_text(encoding="utf-8"), mode) == []


def test_the_host_is_pinned_as_the_suite_says(suite_root: Path) -> None:
    made = new_task(find_suite(suite_root), TaskRequest(series="H"))
    dockerfile = (made.path / "environment" / "Dockerfile").read_text(encoding="utf-8")
    assert "FROM node:24-bookworm" in dockerfile
    assert "0.1.2a3" in dockerfile
    assert "pnpm@11.24.0" in dockerfile


def test_another_host_for_one_task(author: AuthorRunner, suite_root: Path) -> None:
    made = author("new", "--series", "H", "--suite", suite_root, "--host", "npm:0.1.2-alpha.2", "--json")
    dockerfile = Path(json.loads(made.out)["path"], "environment", "Dockerfile").read_text(encoding="utf-8")
    assert "@deepseek-ai/dsh@0.1.2-alpha.2" in dockerfile


def test_the_command_prints_what_it_made_and_what_comes_next(author: AuthorRunner, suite_root: Path) -> None:
    made = author("new", "--series", "H", "--suite", suite_root)
    assert made.status == 0, made.err
    task = suite_root / "tasks" / "H23-untitled"
    assert f"Made H23-untitled in {task}" in made.out
    listed = {line.strip() for line in made.out.splitlines() if line.startswith("  ")}
    assert {path.relative_to(task).as_posix() for path in task.rglob("*") if path.is_file()} <= listed
    tail = made.out[made.out.index("Next:") :].splitlines()[1:]
    assert [line.split()[0] for line in tail] == ["author", "author", "$EDITOR"]


def test_a_dry_run_writes_nothing(author: AuthorRunner, suite_root: Path) -> None:
    made = author("new", "--series", "M", "--suite", suite_root, "--dry-run")
    assert "Would make M15-untitled" in made.out
    assert list((suite_root / "tasks").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--series", "X"], ["'X'", "S (static)"]),
        (["--series", "h"], ["'H'"]),
        (["--series", "H", "--slug", "Bad Slug"], ["--slug bad-slug"]),
        (["--series", "H", "--title", ""], ["title"]),
        (["--series", "H", "--title", "two\nlines"], ["line breaks"]),
        (["--series", "H", "--title", "x" * 201], ["201"]),
        (["--series", "H", "--cards", "DSH-0.1.2-A1-01"], ["DSH-0.1.2-A1-01", "author cards list"]),
        (["--series", "H", "--mode", "mutabel"], ["'mutable'"]),
        (["--series", "H", "--host", ""], ["no version"]),
        (["--series", "H", "--host", "cargo:1"], ["cargo:1", "pypi:VERSION"]),
        (["--series", "H", "--host", "1.0\nRUN x"], ["version"]),
        ([], ["--series"]),
    ],
)
def test_what_cannot_be_made(
    author: AuthorRunner, suite_root: Path, options: list[str], words: list[str]
) -> None:
    done = author("new", *options, "--suite", suite_root)
    assert done.status == 2
    for word in words:
        assert word in done.err
    assert list((suite_root / "tasks").iterdir()) == []


def test_tasks_that_cannot_be_written_leave_nothing(author: AuthorRunner, suite_root: Path) -> None:
    (suite_root / "tasks").rmdir()
    (suite_root / "tasks").write_text("")
    done = author("new", "--series", "H", "--suite", suite_root)
    assert done.status == 2
    assert str(suite_root / "tasks") in done.err


def test_a_full_disk_leaves_nothing(suite_root: Path) -> None:
    """A file size limit stands in for a full disk: the write fails midway with an OSError."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000));"
        f"sys.argv = ['author', 'new', '--series', 'H', '--suite', {str(suite_root)!r}];"
        "from harbor_author.cli.main import main; main()"
    )
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "nothing was left behind" in done.stderr
    assert list((suite_root / "tasks").iterdir()) == []


def test_an_interrupt_leaves_nothing(suite_root: Path) -> None:
    def interrupted() -> None:
        with reserve_task(find_suite(suite_root), "H", "x") as reservation:
            (reservation.staging / "half").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((suite_root / "tasks").iterdir()) == []


@pytest.mark.slow
def test_many_at_once_get_distinct_consecutive_ids(suite_root: Path) -> None:
    suite = find_suite(suite_root)

    def make(index: int) -> str:
        with reserve_task(suite, "H", f"t{index}") as reservation:
            (reservation.staging / "task.toml").write_text(str(index))
        return reservation.name.id

    with ThreadPoolExecutor(16) as pool:
        made = sorted(pool.map(make, range(200)), key=lambda task_id: int(task_id[1:]))
    assert made == [f"H{number}" for number in range(23, 223)]
    assert len(suite.tasks()) == 200


@pytest.mark.slow
def test_processes_at_once_get_distinct_consecutive_ids(author: AuthorRunner, suite_root: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        runs = list(
            pool.map(lambda _: author("new", "--series", "H", "--suite", suite_root, "--json"), range(6))
        )
    ids = sorted(json.loads(run.out)["id"] for run in runs)
    assert ids == [f"H{number}" for number in range(23, 29)]


def test_a_series_of_the_suites_own(author: AuthorRunner, suite_root: Path) -> None:
    with (suite_root / "author.toml").open("a", encoding="utf-8") as stream:
        stream.write('\n[series.R]\ntitle = "review"\nmode = "readonly"\n')
    made = author("new", "--series", "R", "--suite", suite_root, "--json")
    assert json.loads(made.out)["id"] == "R1"
    assert (Path(json.loads(made.out)["path"]) / "tests" / "test.sh").exists()
