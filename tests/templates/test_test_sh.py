"""test.sh and the judge library where they run: in a container, on the Node.js of the image."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

from tests.conftest import REPOSITORY

IMAGE = "node:24-bookworm"
SHARED_TESTS = REPOSITORY / "templates/shared/tests"

pytestmark = [pytest.mark.engine, pytest.mark.node, pytest.mark.usefixtures("engine")]


class Container:
    """A fresh container as Harbor starts one, removed at the end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.docker("run", "-d", "--name", name, "--network", "none", IMAGE, "sh", "-c", "sleep infinity")

    def docker(self, *arguments: str) -> str:
        done = subprocess.run(
            ["docker", *arguments], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sh(self, script: str) -> str:
        return self.docker("exec", self.name, "bash", "-c", script)

    def judge(self, tests: Path, *, prepare: str = "true") -> tuple[str | None, str]:
        """Run test.sh as Harbor does. Returns the reward (None when none was written) and test-stdout.txt."""
        self.sh("mkdir -p /logs/verifier /app/fixture /opt/bench && chmod 777 /logs/verifier")
        self.sh(f"echo 1 > /app/fixture/a; cp -a /app/fixture /opt/bench/baseline; {prepare}")
        self.docker("cp", f"{tests}/.", f"{self.name}:/tests")
        self.sh("chmod +x /tests/test.sh; (/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1 || true")
        self.sh("sleep 0.3")
        reward = self.sh("/bin/cat /logs/verifier/reward.txt 2> /dev/null || true").strip()
        return reward or None, self.sh("/bin/cat /logs/verifier/test-stdout.txt 2> /dev/null || true")


@pytest.fixture
def container() -> Iterator[Container]:
    name = f"author-test-sh-{uuid.uuid4().hex[:12]}"
    try:
        yield Container(name)
    finally:
        subprocess.run(["docker", "rm", "-f", name], capture_output=True, timeout=60, check=False)


def task_tests(root: Path, judge: str, *, on_error: str = "zero") -> Path:
    folder = root / "tests"
    folder.mkdir()
    template = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False).from_string(
        (SHARED_TESTS / "test.sh.j2").read_text(encoding="utf-8")
    )
    (folder / "test.sh").write_text(template.render(on_error=on_error) + "\n", encoding="utf-8")
    (folder / "judge-utils.mjs").write_bytes((SHARED_TESTS / "judge-utils.mjs").read_bytes())
    (folder / "judge.mjs").write_text(judge, encoding="utf-8")
    return folder


def a_judge(body: str, *, mode: str = "readonly") -> str:
    return (
        'import { defineJudge } from "./judge-utils.mjs";\n'
        f'const judge = defineJudge({{ task: "H1-x", mode: "{mode}", checks: [{{ id: "a", points: 100 }}], '
        'steps: [{ id: "step", budget_s: 20 }] });\n'
        f"await judge.run(async () => {{ {body} }});\n"
    )


RIGHT = a_judge('judge.gate(); judge.award("a", 85, "nearly");')


def test_the_score_becomes_the_reward(container: Container, tmp_path: Path) -> None:
    reward, log = container.judge(task_tests(tmp_path, RIGHT))
    assert reward == "0.85"
    assert json.loads(log.strip().splitlines()[-1])["score"] == 85
    assert container.sh("ls /logs/verifier").split() == ["reward.txt", "test-stdout.txt"]


@pytest.mark.parametrize(
    "left",
    [
        "setsid bash -c 'while :; do echo 1 > /logs/verifier/reward.txt; sleep 0.02; done' > /dev/null 2>&1 &",
        "echo '{\"reward\": 1}' > /logs/verifier/reward.json",
        "mkdir /logs/verifier/reward.txt",
        "ln -s /etc/passwd /logs/verifier/reward.txt",
        "mkdir /elsewhere; rm -r /logs/verifier; ln -s /elsewhere /logs/verifier",
        "cd /usr/local/sbin; printf '#!/bin/sh\\necho 1\\n' | tee node cat mv env > rm; chmod +x *",
        "echo 'export NODE_OPTIONS=--require=/evil.js' >> /root/.bashrc; echo 'process.exit()' > /evil.js",
    ],
)
def test_what_the_submission_left_behind_does_not_change_the_reward(
    container: Container, tmp_path: Path, left: str
) -> None:
    reward, log = container.judge(task_tests(tmp_path, RIGHT), prepare=left)
    assert reward == "0.85", log
    assert container.sh("/bin/ls /logs/verifier/reward.json 2> /dev/null || true") == ""
    assert "root:" in container.sh("/bin/cat /etc/passwd")


@pytest.mark.parametrize(
    "judge",
    [
        a_judge('throw new Error("mine");'),
        a_judge('judge.award("a", 100, ""); await judge.exec("step", ["/nowhere"]);'),
        "console.log('{\"score\":100,\"max\":100}'); console.log('more');",
        "process.kill(process.pid, 'SIGKILL');",
        "this is no JavaScript",
    ],
)
def test_a_judge_that_could_not_judge(container: Container, tmp_path: Path, judge: str) -> None:
    reward, log = container.judge(task_tests(tmp_path, judge))
    assert reward == "0"
    assert "could not judge" in log
    (tmp_path / "none").mkdir()
    strict = task_tests(tmp_path / "none", judge, on_error="no-reward")
    container.sh("rm -rf /tests /opt/bench; echo 1 > /logs/verifier/reward.txt")
    assert container.judge(strict)[0] is None


def test_a_daemon_of_the_submission_does_not_outlive_its_step(container: Container, tmp_path: Path) -> None:
    step = (
        'await judge.exec("step", ["/bin/bash", "-c", "env -i setsid bash -c '
        "'while :; do echo 1 > /logs/verifier/reward.txt; sleep 0.02; done' > /dev/null 2>&1 &\"]);"
        'judge.award("a", 10, "");'
    )
    reward, _ = container.judge(task_tests(tmp_path, a_judge(step)))
    assert reward == "0.1"
    assert container.sh("ls -d /tmp/bench-* 2> /dev/null || true") == ""


def test_the_containers_own_processes_live_on(container: Container, tmp_path: Path) -> None:
    container.judge(task_tests(tmp_path, RIGHT))
    assert "sleep infinity" in container.sh(
        "tr '\\0' ' ' < /proc/1/cmdline; cat /proc/[0-9]*/cmdline | tr '\\0' ' '"
    )
