from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from harbor_author.scaffold import ScaffoldError, TaskRequest, import_suite, new_task
from harbor_author.suite import find_suite, next_id, task_mode
from tests.conftest import AuthorRunner


@pytest.fixture
def existing(suite_root: Path) -> Path:
    """A suite as one is kept by hand: tasks and tables, no author.toml, modes that only the instruction tells."""
    suite = find_suite(suite_root)
    for series, mode in (("H", "mutable"), ("H", "mutable"), ("H", "readonly"), ("S", "readonly")):
        made = new_task(suite, TaskRequest(series=series, slug="x", mode=mode))
        toml = made.path / "task.toml"
        toml.write_text(toml.read_text(encoding="utf-8").replace(f'mode = "{mode}"\n', ""), encoding="utf-8")
    (suite_root / "tasks" / "stray").mkdir()
    (suite_root / "README.md").write_text(
        "| ID | What |\n|---|---|\n| H1 | a |\n| H2 | b |\n| [H23](tasks/H23-x) | c |\n"
    )
    (suite_root / "author.toml").unlink()
    return suite_root


def digest(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def test_what_the_tasks_say_is_written_down(existing: Path) -> None:
    before = digest(existing / "tasks")
    imported = import_suite(existing)
    assert digest(existing / "tasks") == before
    suite = find_suite(existing)
    assert suite.settings.name == "scratch"
    assert (suite.settings.host.dsh, suite.settings.host.source) == ("0.1.2-alpha.3", "pypi")
    assert suite.settings.readme == "README.md"
    assert suite.settings.reserved == ("H1-H2",)
    assert dict(suite.settings.modes) == {"H25": "readonly"}
    assert [task_mode(task, {}) for task in suite.tasks()[:4]] == [
        "mutable",
        "mutable",
        "readonly",
        "readonly",
    ]
    assert str(next_id(suite, "H")) == "H26"
    assert any("stray" in note for note in imported.notes)


def test_an_import_never_overwrites(existing: Path) -> None:
    import_suite(existing)
    with pytest.raises(ScaffoldError, match="exists already"):
        import_suite(existing)


def test_a_dry_run_prints_and_writes_nothing(author: AuthorRunner, existing: Path) -> None:
    done = author("import", existing, "--dry-run")
    assert done.status == 0
    assert '[registers]\nreadme = "README.md"' in done.out
    assert not (existing / "author.toml").exists()


def test_a_folder_without_tasks_is_none(author: AuthorRunner, existing: Path) -> None:
    shutil.rmtree(existing / "tasks")
    done = author("import", existing)
    assert done.status == 2
    assert "author init" in done.err


def test_a_series_that_installs_no_host_is_about_none(existing: Path) -> None:
    task = existing / "tasks" / "E1-service"
    shutil.copytree(existing / "tasks" / "H23-x", task)
    dockerfile = task / "environment" / "Dockerfile"
    dockerfile.write_text("FROM node:24-bookworm\nCOPY fixture/ /app/fixture/\n", encoding="utf-8")
    imported = import_suite(existing)
    assert find_suite(existing).settings.series["E"].host is False
    assert find_suite(existing).settings.series["H"].host is True
    assert any("series E is about no host" in note for note in imported.notes)
