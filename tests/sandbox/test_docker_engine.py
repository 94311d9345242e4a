"""The real engine, verb by verb."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator

import pytest

from harbor_author.sandbox import ContainerSpec, Engine, EngineError, EngineUnavailableError, connect
from harbor_author.sandbox.archives import Archive
from harbor_author.sandbox.ownership import owner_labels

IMAGE = "node:24-bookworm"


@pytest.fixture(scope="module")
def docker(engine: None) -> Engine:
    return connect()


@pytest.fixture
def container(docker: Engine) -> Iterator[str]:
    made = docker.create(ContainerSpec(IMAGE, owner_labels("test"), network="none", pids=200, memory_mb=256))
    docker.start(made)
    yield made
    docker.remove(made)


def bash(docker: Engine, container: str, command: str, **options):
    return docker.run(container, ["bash", "-c", command], **options)


@pytest.mark.engine
def test_a_command_gives_its_status_and_both_outputs(docker: Engine, container: str) -> None:
    result = bash(docker, container, "echo out; echo err >&2; exit 3")
    assert result.exit_code == 3
    assert sorted(result.output.split()) == ["err", "out"]


@pytest.mark.engine
def test_a_signal_is_128_and_more(docker: Engine, container: str) -> None:
    assert bash(docker, container, "kill -TERM $$").exit_code == 143


@pytest.mark.engine
@pytest.mark.parametrize("options", [{"user": "nobody-here"}, {"workdir": "/not/there"}])
def test_a_command_that_cannot_start_is_126_with_the_reason(docker: Engine, container: str, options) -> None:
    result = bash(docker, container, "true", **options)
    assert result.exit_code == 126
    assert result.failure


@pytest.mark.engine
def test_a_command_out_of_time_is_left_running(docker: Engine, container: str) -> None:
    started = time.monotonic()
    result = bash(docker, container, "echo begun; exec sleep 60", timeout_s=1.0)
    assert (result.timed_out, result.exit_code) == (True, None)
    assert time.monotonic() - started < 10
    assert any("sleep 60" in command for _, command in docker.processes(container))


@pytest.mark.engine
def test_files_go_in_with_their_modes_and_come_out(docker: Engine, container: str) -> None:
    archive = (
        Archive()
        .directory("logs/verifier", 0o777)
        .data("solution/solve.sh", b"#!/bin/bash\necho hi\n", 0o755)
    )
    docker.put(container, "/", archive.finish())
    assert bash(docker, container, "/solution/solve.sh && stat -c %a /logs/verifier").output == "hi\n777\n"
    found = docker.read(container, "/solution/solve.sh", 5)
    assert found is not None
    assert (found.data, found.size_bytes) == (b"#!/bi", 20)
    assert docker.read(container, "/not/there", 5) is None


@pytest.mark.engine
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/etc/passwd", "file"),
        ("/etc", "directory"),
        ("/bin", "link"),
        ("/dev/null", "special"),
        ("/none", None),
    ],
)
def test_what_stands_at_a_path(docker: Engine, container: str, path: str, kind: str | None) -> None:
    found = docker.stat(container, path)
    assert (found and found.kind) == kind


@pytest.mark.engine
def test_an_archive_over_the_limit_is_refused(docker: Engine, container: str) -> None:
    bash(docker, container, "mkdir /big && head -c 3000000 /dev/zero > /big/file")
    with pytest.raises(EngineError, match="larger than 1 MiB"):
        docker.archive(container, "/big", 1 << 20, io.BytesIO())


@pytest.mark.engine
def test_usage_tells_the_processes(docker: Engine, container: str) -> None:
    usage = docker.usage(container)
    assert usage.pids is not None
    assert 1 <= usage.pids <= 5


@pytest.mark.engine
def test_removing_twice_is_well_and_then_it_is_gone(docker: Engine, container: str) -> None:
    docker.remove(container)
    docker.remove(container)
    with pytest.raises(EngineError):
        bash(docker, container, "true")


@pytest.mark.engine
def test_an_image_that_is_not_here_is_none(docker: Engine) -> None:
    assert docker.image("harbor-author/not-here:1") is None
    assert docker.image("Not A Name") is None


def test_no_engine_is_one_sentence_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(
        EngineUnavailableError, match=r"(?s)no container engine answers.*fix: DOCKER_HOST names it"
    ):
        connect()
