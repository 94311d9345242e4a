"""An engine that is killed and comes back, or whose disk fills up: it is the test's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harbor_author.proof.config import load_config
from harbor_author.proof.images import provide_image
from harbor_author.proof.session import Cancellation, Limits
from harbor_author.proof.submission import UNTOUCHED
from harbor_author.proof.trial import Bench, run_trial
from harbor_author.sandbox import connect
from tests.conftest import REPOSITORY, AuthorRunner
from tests.proof.tasks import JUDGE, make_task
from tests.sandbox.own_engine import IMAGE, OwnEngine, missing, own_engine

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(missing()), reason=missing() or "an engine can be started"),
]
DOCKERFILE = f"FROM {IMAGE}\nWORKDIR /app\n"
#: Stage -> what holds a run up there until its container or build is seen.
HOLDS = {
    "build": {"environment__Dockerfile": f"FROM {IMAGE}\nWORKDIR /app\nRUN sleep 300\n"},
    "solve": {"solution__solve_sh": "#!/bin/bash\ntouch /app/solving\nsleep 300\n"},
    "judge": {"tests__test_sh": "#!/bin/bash\ntouch /app/judging\nsleep 300\n"},
}


@pytest.fixture(scope="module")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A socket's address is short.
    return tmp_path_factory.mktemp("e")


@pytest.fixture(scope="module")
def own(engine_folder: Path) -> Iterator[OwnEngine]:
    with own_engine(engine_folder) as engine:
        yield engine


@contextmanager
def proving(task: Path, own: OwnEngine) -> Iterator[subprocess.Popen[str]]:
    """A running `oracle-check` of a task."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harbor_author", "oracle-check", task, "--json"],
        cwd=task.parent,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "DOCKER_HOST": own.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def is_held(own: OwnEngine, stage: str, name: str) -> bool:
    """Whether a run stands where its task holds it up."""
    ids = own.docker("ps", "-q").stdout.split()
    commands = [own.docker("top", id_, check=False).stdout for id_ in ids]
    if not any("sleep 300" in command for command in commands):
        return False
    return stage == "build" or bool(own.containers(name))


def whole_again(author: AuthorRunner, own: OwnEngine, task: Path, held: str) -> None:
    """The next run passes, once the task is not held up, and nothing of the last one is left."""
    for path in ("environment/Dockerfile", "solution/solve.sh", "tests/test.sh"):
        text = (task / path).read_text()
        (task / path).write_text(text.replace("RUN sleep 300\n", "").replace("sleep 300\n", ""))
    if held == "judge":
        (task / "tests" / "test.sh").write_text(JUDGE)
    if held == "solve":
        (task / "solution" / "solve.sh").write_text("#!/bin/bash\necho done > /app/answer\n")
    ran = author("oracle-check", task, env={"DOCKER_HOST": own.url})
    assert ran.status == 0, ran.out + ran.err
    assert own.containers(task.name) == []
    assert own.docker("ps", "-aq", "--filter", "label=harbor-author.owner").stdout == ""
    assert [path.name for path in task.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("stage", HOLDS)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_run_that_is_ended_at_a_stage(
    author: AuthorRunner, own: OwnEngine, tmp_path: Path, stage: str, name: str
) -> None:
    label = f"{stage}-{name.lower()}"
    task = make_task(tmp_path, label, **{"environment__Dockerfile": DOCKERFILE, **HOLDS[stage]}).path
    own.docker("rm", "-f", f"mine-{label}", check=False)
    own.docker("create", "--name", f"mine-{label}", IMAGE, "sleep", "1")
    with proving(task, own) as process:
        own.wait_for(lambda: is_held(own, stage, label), f"{stage} of {label}")
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=60)
        assert process.returncode == (-9 if name == "SIGKILL" else 130), out + err
        assert "Traceback" not in err
        if name != "SIGKILL":
            assert "interrupted" in err
            assert own.containers(label) == []
    assert not (task / "proof.json").exists()
    whole_again(author, own, task, stage)
    assert own.docker("ps", "-aq", "--filter", f"name=mine-{label}").stdout
    own.docker("rm", f"mine-{label}")


@pytest.mark.parametrize("stage", HOLDS)
def test_an_engine_that_is_killed_and_comes_back(
    author: AuthorRunner, own: OwnEngine, tmp_path: Path, stage: str
) -> None:
    label = f"{stage}-engine"
    task = make_task(tmp_path, label, **{"environment__Dockerfile": DOCKERFILE, **HOLDS[stage]}).path
    own.docker("create", "--name", f"mine-{label}", IMAGE, "sleep", "1")
    with proving(task, own) as process:
        own.wait_for(lambda: is_held(own, stage, label), f"{stage} of {label}")
        own.kill()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 2, out + err
    assert out, err
    (result,) = json.loads(out)["results"]
    assert (result["verdict"], result["cause"]) == ("error", "engine-failed")
    assert all(trial["reward"] is None for trial in result["trials"] if trial["cause"] == "engine-failed")
    assert not (task / "proof.json").exists()
    gone = author("oracle-check", task, env={"DOCKER_HOST": own.url})
    assert (gone.status, "no container engine answers" in gone.err) == (2, True)
    own.start()
    whole_again(author, own, task, stage)
    assert own.docker("ps", "-aq", "--filter", f"name=mine-{label}").stdout
    own.docker("rm", f"mine-{label}")


def test_an_engine_whose_disk_is_full(
    author: AuthorRunner, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fill = "dd if=/dev/zero of=/app/big bs=1M count=4000"
    with own_engine(tmp_path_factory.mktemp("f"), size_mb=200) as own:
        building = make_task(tmp_path, "building", environment__Dockerfile=f"FROM {IMAGE}\nRUN {fill}\n")
        judging = make_task(
            tmp_path, "judging", environment__Dockerfile=DOCKERFILE, tests__test_sh=f"#!/bin/bash\n{fill}\n"
        )
        solving = make_task(
            tmp_path,
            "solving",
            environment__Dockerfile=DOCKERFILE,
            solution__solve_sh=f"#!/bin/bash\n{fill}\n",
            tests__test_sh="#!/bin/bash\n[ -e /app/big ] && r=1 || r=0\necho $r > /logs/verifier/reward.txt\n",
        )
        paths = [task.path for task in (building, judging, solving)]
        ran = author("oracle-check", "--json", "--jobs", "1", *paths, env={"DOCKER_HOST": own.url})
        causes = {result["task"]: result["cause"] for result in json.loads(ran.out)["results"]}
        # A judge that fills the disk has no room for its log or reward: that is no zero, and not the machine's fault.
        assert causes == {"building": "disk-full", "judging": "disk-limit", "solving": "disk-limit"}, ran.out
        assert "before its limit of 16384 MiB" in ran.out
        assert "No space left on device" in ran.out
        assert not (building.path / "proof.json").exists()
        assert own.docker("ps", "-aq").stdout == ""
        whole = make_task(tmp_path, "whole", environment__Dockerfile=DOCKERFILE)
        assert author("oracle-check", whole.path, env={"DOCKER_HOST": own.url}).status == 0


def test_a_disk_filler_ends_with_the_limit_named(
    own: OwnEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = "#!/bin/bash\ndd if=/dev/zero of=/app/big bs=1M count=100\nsleep 50\n"
    task = make_task(tmp_path, "filler", environment__Dockerfile=DOCKERFILE, tests__test_sh=fill)
    monkeypatch.setenv("DOCKER_HOST", own.url)
    config = load_config(task.path)
    engine = connect()
    built = provide_image(engine, task.path / "environment", config.environment, task="filler", log=print)
    limits = Limits(disk_mb=50)
    bench = Bench(task.path, "filler", config, engine, built.image, Cancellation(), limits=limits)
    ran = run_trial(bench, UNTOUCHED)
    assert (ran.cause, ran.rewards) == ("disk-limit", None), ran
    assert "more than 50 MiB" in ran.message
    assert own.containers("filler") == []
