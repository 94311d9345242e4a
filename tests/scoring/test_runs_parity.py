"""`author runs summarize` on a job that the real Harbor has just written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SHARED, AuthorRunner

pytestmark = pytest.mark.parity

PEER = Path(os.environ.get("HARBOR_AUTHOR_PEER", SHARED / "tools" / "harbor-peer"))


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that means the same to Harbor, which runs in a container of its own."""
    folder = Path(tempfile.mkdtemp(prefix="harbor-author-runs-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_real_job(author: AuthorRunner, suite_root: Path, shared_folder: Path) -> None:
    if not PEER.exists():
        pytest.skip(f"no Harbor at {PEER}; set HARBOR_AUTHOR_PEER")
    author("new", "--series", "S", "--slug", "counted", cwd=suite_root)
    shutil.copytree(suite_root / "tasks", shared_folder / "tasks")
    jobs = shared_folder / "jobs"
    for agent in ("oracle", "nop"):
        arguments = ["-p", shared_folder / "tasks", "-a", agent, "-o", jobs, "--job-name", agent, "-y", "-q"]
        done = subprocess.run(
            [PEER, "harbor", "run", *arguments], capture_output=True, text=True, check=False, timeout=900
        )
        assert done.returncode == 0, done.stdout + done.stderr
    ran = author("runs", "summarize", jobs / "oracle", "--against", jobs / "nop", "--json")
    assert ran.status == 0, ran.out + ran.err
    document = json.loads(ran.out)
    assert [group["agents"] for group in document["groups"]] == [["nop"], ["oracle"]]
    (pair,) = document["comparison"]["pairs"]
    assert (pair["task"], pair["base"], pair["now"], pair["direction"]) == ("scratch/s17", 0, 1, "improved")
    assert document["comparison"]["changedTasks"] == []
    assert author("runs", "summarize", jobs / "oracle", jobs).status == 2
