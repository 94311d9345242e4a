"""What other tools run of ours: the steps of the GitHub Action and the pre-commit hooks, as those tools would."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import find_suite
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow

ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH with `author`, which notes its arguments, and a `python` that installs nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    said = tmp_path / "said"
    author = f'#!/bin/sh\necho "author $*" >>{said}\nexec {sys.executable} -m harbor_author "$@"\n'
    python = f'#!/bin/sh\necho "python $*" >>{said}\n'
    for name, text in (("author", author), ("python", python)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def run_step(name: str, suite: Path, tools: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: `bash --noprofile --norc -eo pipefail FILE`, inputs filled in."""
    step = STEPS[name]
    given = {key: str(value.get("default", "")) for key, value in ACTION["inputs"].items()} | inputs

    def filled(text: str) -> str:
        for key, value in given.items():
            text = text.replace("${{ inputs." + key + " }}", value)
        assert "${{" not in text, "an input that action.yml does not declare"
        return text

    assert "${{" not in step["run"], "an input in the script itself could run as code"
    script = tools.parent / "step.sh"
    script.write_text(step["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=suite,
        env={
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
            "GITHUB_ACTION_PATH": str(REPOSITORY),
            **{key: filled(value) for key, value in step.get("env", {}).items()},
        },
        capture_output=True,
        text=True,
        check=False,
    )


def said(tools: Path) -> str:
    return (tools.parent / "said").read_text()


def test_the_action_installs_itself_or_a_version(tools: Path, suite_root: Path) -> None:
    assert run_step("Install", suite_root, tools).returncode == 0
    assert run_step("Install", suite_root, tools, version="0.1.0").returncode == 0
    assert said(tools).splitlines() == [
        f"python -m pip install -q {REPOSITORY}",
        "python -m pip install -q harbor-author==0.1.0",
    ]


def test_the_action_annotates_lines_at_fault(tools: Path, suite_root: Path) -> None:
    bad = new_task(find_suite(suite_root), TaskRequest(series="M", slug="bad")).path
    assert run_step("Validate", suite_root, tools).returncode == 0
    (bad / "task.toml").write_text("x = \n", encoding="utf-8")
    done = run_step("Validate", suite_root, tools, validate="M15 --ignore leaks")
    assert done.returncode == 1
    assert "::error file=tasks/M15-bad/task.toml,line=1" in done.stdout
    assert "author validate --format github M15 --ignore leaks" in said(tools)


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({"prove": "changed"}, "--all"),
        ({"prove": "all", "matrix": "true", "shard": "2/4"}, "--all --force --matrix --shard 2/4"),
    ],
)
def test_the_action_proves_what_is_asked(
    tools: Path, suite_root: Path, inputs: dict[str, str], arguments: str
) -> None:
    done = run_step("Prove", suite_root, tools, **inputs)
    assert said(tools) == f"author oracle-check {arguments}\n"
    assert done.returncode == 2, "the suite holds no task"
    assert "holds no task" in done.stderr
    assert STEPS["Prove"]["if"] == "inputs.prove != 'none'"


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_a_hook_fails_on_a_faulty_task_of_the_commit_and_on_no_other(
    name: str, tools: Path, suite_root: Path
) -> None:
    suite = find_suite(suite_root)
    old = new_task(suite, TaskRequest(series="H", slug="old")).path
    (old / "tests" / "test.sh").write_text("if\n")
    git(suite_root, "init", "-q")
    git(suite_root, "add", ".")
    git(suite_root, "commit", "-qm", "old")
    new = new_task(suite, TaskRequest(series="M", slug="new")).path
    git(suite_root, "add", ".")
    hook = HOOKS[name]
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False
    good = run_hook(hook, suite_root, tools)
    assert good.returncode == 0, good.stdout + good.stderr
    (new / "tests" / "test.sh").chmod(0o644)
    (new / "tests" / "test.sh").write_text("#!/bin/bash\r\nif\r\n")
    git(suite_root, "add", ".")
    bad = run_hook(hook, suite_root, tools)
    assert bad.returncode == 1, bad.stdout + bad.stderr
    assert "M15" in bad.stdout


def run_hook(hook: dict[str, Any], root: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    """As pre-commit does: the entry's words, in the repository's top folder."""
    return subprocess.run(
        shlex.split(hook["entry"]),
        cwd=root,
        env={
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
        },
        capture_output=True,
        text=True,
        check=False,
    )
