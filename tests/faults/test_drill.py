"""The fault drill, small; scripts/bench-faults runs it whole."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.faults.drill import killed_runs, parallel_copies


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


def test_parallel_copies_of_which_half_fail(tmp_path: Path) -> None:
    found = parallel_copies(tmp_path, 20)
    assert (found.copies, found.failed, found.leftovers, found.source_unchanged) == (20, 10, 0, True)


@pytest.mark.slow
def test_killed_runs_leave_nothing_after_the_next_run(tmp_path: Path) -> None:
    found = killed_runs(tmp_path, 12, seed=3)
    assert found.left_by_kills > 0, "no run was killed in the middle of anything"
    assert (found.leftovers_after_next_run, found.half_written, found.source_unchanged) == (0, 0, True)
