"""Requirements 91 to 101: what a process in a working copy can see of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harbor_author.integrity import (
    CopyError,
    IntegrityError,
    load_benchmark_task,
    run_grader,
    run_tasks,
    toolchain,
    tree_hash,
    with_fixture_copy,
    workspace_environment,
)
from harbor_author.integrity.fixture import INSTRUCTION_FILES
from tests.conftest import REPOSITORY
from tests.integrity.support import PREFIX, write_task


def seen_inside(source: Path, code: str, **named: Any) -> str:
    """What a Python process in a working copy prints."""

    def operation(workspace: Path) -> str:
        environment = workspace_environment(workspace, **named)
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=workspace,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    return with_fixture_copy(source, operation, prefix=PREFIX)


def test_r91_r93_only_named_variables_arrive(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "HOMEBREW_X",
        "EDITOR",
        "PYTHONPATH",
        "GIT_DIR",
    ):
        monkeypatch.setenv(name, "from this machine")
    code = "import os, json; print(json.dumps(dict(os.environ)))"
    found = json.loads(seen_inside(source, code, variables={"CASE": "1"}))
    assert set(found) - {"LC_CTYPE"} == {
        "PATH", "HOME", "TMPDIR", "CASE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LANG", "LC_ALL", "TZ",
        "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES",
        "GIT_TERMINAL_PROMPT", "HARBOR_AUTHOR_RUN",
    }  # fmt: skip
    assert "from this machine" not in found.values()


@pytest.mark.parametrize(
    "name",
    [
        "API_KEY", "AWS_REGION", "MY_TOKEN", "GITHUB_ACTOR", "DB_PASSWORD", "client_secret", "SSH_AUTH_SOCK",
        "LD_PRELOAD", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PYTHONSTARTUP", "a b", "", "X=Y", "1X", "BASH_ENV",
    ],
)  # fmt: skip
def test_r93_names_of_secrets_and_loaders_are_refused(source: Path, temporary: Path, name: str) -> None:
    with pytest.raises(IntegrityError, match="variable"):
        seen_inside(source, "", variables={name: "x"})


def test_r92_r94_home_is_temporary_and_empty_of_configuration(
    source: Path, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = Me\n")
    monkeypatch.setenv("HOME", str(home))
    code = """
import os, pathlib, subprocess
home = pathlib.Path.home()
print(home, list(home.iterdir()))
print(subprocess.run(["git", "config", "--list"], capture_output=True, text=True).stdout)
print(subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True).stdout)
"""
    (temporary / ".git").mkdir()
    out = seen_inside(source, code)
    (temporary / ".git").rmdir()
    assert out.splitlines()[0].endswith("/home []")
    assert str(home) not in out
    assert out.split("\n", 1)[1].strip() == ""


@pytest.mark.parametrize("name", INSTRUCTION_FILES)
def test_r94_instructions_above_the_workspace_stop_the_run(source: Path, temporary: Path, name: str) -> None:
    (temporary / name).write_text("Obey.")
    with pytest.raises(CopyError, match="would instruct an agent"):
        with_fixture_copy(source, lambda _: pytest.fail("started"), prefix=PREFIX)
    (temporary / name).unlink()


def test_r95_versions_of_tools_are_reported(tmp_path: Path, temporary: Path) -> None:
    write_task(tmp_path)
    tools = run_tasks([load_benchmark_task(tmp_path, "fix-sum")], lambda *_: None, prefix=PREFIX).tools
    assert tools == toolchain()
    assert tools["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"platform", "git", "node", "npm"} <= set(tools)


def test_r95_a_missing_tool_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain()["git"] == "absent"


def test_r96_clock_and_seed_are_fixed(source: Path, temporary: Path) -> None:
    code = "import os; print(os.environ['SOURCE_DATE_EPOCH'], os.environ['HARBOR_AUTHOR_SEED'], hash('a'))"
    runs = {seen_inside(source, code, clock_s=1_700_000_000, seed=7) for _ in range(2)}
    assert len(runs) == 1
    assert runs.pop().startswith("1700000000 7 ")


NETWORK = (
    "import socket; print(len(socket.if_nameindex())); socket.create_connection(('127.0.0.1', {port}), 2)"
)


@pytest.mark.parametrize("network", ["none", "public"])
def test_r97_the_network_is_off_unless_declared(tmp_path: Path, temporary: Path, network: str) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        code = NETWORK.format(port=server.getsockname()[1])
        write_task(
            tmp_path, network=network, grader={"type": "command", "command": [sys.executable, "-c", code]}
        )
        task = load_benchmark_task(tmp_path, "fix-sum")
        grade = with_fixture_copy(task.fixture, lambda path: run_grader(task, path), prefix=PREFIX)
    assert grade.passed is (network == "public"), grade.output


def test_r99_tasks_on_the_public_network_stay_out_of_the_main_rate(tmp_path: Path, temporary: Path) -> None:
    write_task(tmp_path, "offline")
    write_task(tmp_path, "online", network="public")
    tasks = [load_benchmark_task(tmp_path, id_) for id_ in ("offline", "online")]
    report = run_tasks(tasks, lambda *_: None, prefix=PREFIX)
    assert [task.task for task in report.tasks] == ["offline", "online"]
    assert [task.task for task in report.offline_tasks()] == ["offline"]


def test_r100_r133_what_a_hash_cannot_show_is_written_down(source: Path, temporary: Path) -> None:
    def change_and_restore(_: Path) -> None:
        text = (source / "run.sh").read_text()
        (source / "run.sh").write_text("changed")
        (source / "run.sh").write_text(text)

    with_fixture_copy(source, change_and_restore, prefix=PREFIX)
    assert "changed and restored" in (REPOSITORY / "docs" / "integrity.md").read_text()


def test_r101_a_source_may_be_read_only(source: Path, temporary: Path) -> None:
    for path in [*source.rglob("*"), source]:
        if "node_modules" not in path.parts:
            path.chmod(path.stat().st_mode & ~0o222)
    before = tree_hash(source)
    with_fixture_copy(source, lambda path: (path / "run.sh").write_text("changed"), prefix=PREFIX)
    assert tree_hash(source) == before
    for path in [source, *source.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    assert os.access(source, os.W_OK)
