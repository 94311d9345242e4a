"""Every series, mode, language and host source renders to files that their own consumers accept."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import HostSettings, contract_gaps, find_suite

TITLE = 'A "title" with \\s, `ticks`, */ {{ braces }} $(x) 中文 😀'
MODES = ("mutable", "readonly", "build-artifacts-only")
PYPI = HostSettings(image="node:24-bookworm", pnpm="11.24.0", dsh="0.1.2-alpha.3", source="pypi")
NPM = HostSettings(image="node:24-bookworm", pnpm="11.24.0", dsh="0.1.2-alpha.2", source="npm")


def make(suite_root: Path, series: str, mode: str, language: str, host: HostSettings = PYPI) -> Path:
    assert language in ("en", "zh")
    request = TaskRequest(
        series=series,
        title=TITLE,
        mode=mode,
        language="zh" if language == "zh" else "en",
        host=host,
    )
    return new_task(find_suite(suite_root), request).path


@pytest.mark.parametrize(("series", "mode", "language"), list(itertools.product("SMH", MODES, ("en", "zh"))))
def test_what_is_rendered_parses(suite_root: Path, series: str, mode: str, language: str) -> None:
    task = make(suite_root, series, mode, language)
    assert contract_gaps((task / "instruction.md").read_text(encoding="utf-8"), mode) == []
    assert tomllib.loads((task / "task.toml").read_text(encoding="utf-8"))["task"]["description"] == TITLE
    manifest = json.loads((task / "environment/fixture/package.json").read_text(encoding="utf-8"))
    assert manifest["private"] is True
    readme = (task / "environment/fixture/README.md").read_text(encoding="utf-8").splitlines()[0]
    assert "exam material only" in readme.lower()
    assert "not to be published" in readme
    solution = (task / "solution/SOLUTION.md").read_text(encoding="utf-8")
    for heading in ("Reference Changes", "The Point (one sentence)", "Grading Boundary", "Warning"):
        assert f"## {heading}\n" in solution
    for script in ("tests/test.sh", "solution/solve.sh"):
        path = task / script
        assert path.stat().st_mode & 0o777 == 0o755
        assert subprocess.run(["bash", "-n", str(path)], timeout=30, check=False).returncode == 0


@pytest.mark.node
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not on PATH")
@pytest.mark.parametrize(("series", "mode"), list(itertools.product("SMH", MODES)))
def test_judges_and_plugins_are_javascript(suite_root: Path, series: str, mode: str) -> None:
    task = make(suite_root, series, mode, "en")
    for path in sorted([*task.rglob("*.mjs"), *task.rglob("*.js")]):
        done = subprocess.run(["node", "--check", str(path)], capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("host", [PYPI, NPM], ids=["pypi", "npm"])
def test_the_image_pins_the_host(suite_root: Path, host: HostSettings) -> None:
    for series in "MH":
        text = (make(suite_root, series, "mutable", "en", host) / "environment/Dockerfile").read_text()
        assert text.startswith("FROM node:24-bookworm\n")
        assert "pnpm@11.24.0" in text
        wanted = "runtime-bin==0.1.2a3" if host is PYPI else "@deepseek-ai/dsh@0.1.2-alpha.2"
        assert wanted in text
        assert f'= "{host.dsh}"' in text, "the build fails when another host was installed"


def test_tasks_of_one_host_share_its_layers(suite_root: Path) -> None:
    shared = set()
    for series in "MH":
        text = (make(suite_root, series, "mutable", "en") / "environment/Dockerfile").read_text()
        shared.add(text.split("WORKDIR /app")[0])
    assert len(shared) == 1


def test_a_static_task_has_no_host(suite_root: Path) -> None:
    text = (make(suite_root, "S", "readonly", "en") / "environment/Dockerfile").read_text()
    assert "dsh" not in text.replace("/app", "")
    assert "pnpm" not in text
