"""How files reach a container: with the first command where they can, and never by the hand of a submission."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import pytest

from harbor_author.proof import oracle_check
from harbor_author.proof.config import EnvironmentConfig
from harbor_author.proof.session import Cancellation, Session, TrialAbortedError, open_session
from harbor_author.sandbox import EngineError, ExecResult, ImageInfo, Usage
from tests.proof.tasks import make_task
from tests.sandbox.fake_engine import FakeContainer, FakeEngine


def ok(container: FakeContainer, command: str) -> ExecResult:
    return ExecResult(0)


def session_of(engine: FakeEngine, *, image_user: str = "", cancellation: Cancellation | None = None):
    return open_session(
        engine,
        ImageInfo("base", None, user=image_user),
        EnvironmentConfig(),
        task="t",
        phases=(None,),
        cancellation=cancellation or Cancellation(),
    )


def streaming() -> FakeEngine:
    engine = FakeEngine(ok)
    engine.streams_stdin = True
    return engine


def run(session: Session, engine: FakeEngine, name: str, **options: str) -> tuple[int, int]:
    """Send a file with a command; how many went by themselves, and how many with a command, so far."""
    session.pending.data(name, b"x")
    session.exec("true", **options)
    (container,) = engine.live.values()
    assert name in container.files
    return engine.puts, engine.with_files


def test_only_the_first_command_unpacks_files_itself() -> None:
    engine = streaming()
    with session_of(engine) as session:
        assert run(session, engine, "/solution/a") == (0, 1)
        assert run(session, engine, "/tests/b") == (1, 1), "the submission may have planted its own tar"
    assert engine.live == {}


@pytest.mark.parametrize(("image_user", "options"), [("node", {}), ("", {"user": "node"})])
def test_files_belong_to_root_whoever_runs_the_command(image_user: str, options: dict[str, str]) -> None:
    engine = streaming()
    with session_of(engine, image_user=image_user) as session:
        assert run(session, engine, "/solution/a", **options) == (1, 0)


def test_an_image_without_tar_gets_its_files_the_other_way() -> None:
    engine = streaming()
    engine.has_tar = False
    with session_of(engine) as session:
        assert run(session, engine, "/solution/a") == (1, 0)
    assert [container.commands for container in engine.made] == [["true"]]


def test_a_container_is_removed_when_the_trial_breaks_off() -> None:
    engine = FakeEngine(ok)
    with pytest.raises(ZeroDivisionError), session_of(engine):
        _ = 1 / 0
    assert engine.live == {}


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        ('OCI runtime exec failed: exec: "bash": executable file not found in $PATH', "environment-failed"),
        ('OCI runtime exec failed: chdir to cwd ("/x") set in config.json failed', "environment-failed"),
    ],
)
def test_what_harbor_could_not_use_either_is_the_environments_fault(failure: str, cause: str) -> None:
    engine = FakeEngine(lambda container, command: ExecResult(126, failure=failure))
    with pytest.raises(TrialAbortedError) as caught, session_of(engine) as session:
        session.exec("true")
    assert caught.value.cause == cause


def test_a_container_that_does_not_stay_up_is_said_to_have_stopped() -> None:
    def gone(container: FakeContainer, command: str) -> ExecResult:
        raise EngineError("the engine could not run a command: Container abc is not running", status=409)

    engine = FakeEngine(gone)
    with pytest.raises(TrialAbortedError, match="does not keep it running"), session_of(engine) as session:
        session.exec("true")


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            'failed to create shim: OCI runtime create failed: exec: "sh": executable file not found in $PATH',
            "environment-failed",
        ),
        ("failed to create endpoint x on network bridge: could not find bridge docker0", "engine-failed"),
        ("failed to create shim: OCI runtime create failed: no space left on device", "disk-full"),
    ],
)
def test_a_container_that_does_not_start_is_laid_to_image_or_machine(
    tmp_path: Path, said: str, cause: str
) -> None:
    class Starting(FakeEngine):
        def start(self, container: str) -> None:
            raise EngineError(f"the engine could not start a container: {said}", status=500)

    engine = Starting(ok)
    (result,) = oracle_check([make_task(tmp_path, environment__Dockerfile="FROM base\n")], engine=engine)
    assert (result.verdict, result.cause) == ("error", cause)
    assert engine.live == {}


NO_ROOM = "write /app/x: no space left on device"


@pytest.mark.parametrize(
    ("wrote_mb", "blocks_free", "said", "cause"),
    [
        (5000, 0, "", "disk-limit"),  # what it said had no room either
        (3, 0, NO_ROOM, "disk-full"),
        (None, 0, "", "disk-full"),
        (3, 1 << 30, NO_ROOM, "disk-limit"),  # a small file system of its own
        (5000, 1 << 30, "it failed", None),
    ],
)
def test_a_full_disk_is_laid_to_the_container_or_to_the_machine(
    wrote_mb: int | None, blocks_free: int, said: str, cause: str | None
) -> None:
    class Full(FakeEngine):
        def usage(self, container: str, *, disk: bool = False) -> Usage:
            return Usage(None, None, wrote_mb if disk else None)

    with session_of(Full(lambda *_: ExecResult(0, f"{blocks_free} 4096\n"))) as session:
        found = session.no_room(said)
    assert (found and found[0]) == cause


def test_an_engine_without_room_midway_is_no_failure_of_the_engine() -> None:
    class Full(FakeEngine):
        def put(self, container: str, path: str, archive: IO[bytes]) -> None:
            raise EngineError(f"the engine could not copy files: {NO_ROOM}", status=500)

        def usage(self, container: str, *, disk: bool = False) -> Usage:
            return Usage(None, None, 900)

    with pytest.raises(TrialAbortedError) as caught, session_of(Full(ok)) as session:
        session.exec("true")
    assert (caught.value.cause, "900 MiB" in caught.value.message) == ("disk-limit", True)


def test_an_interrupt_is_noticed_before_the_next_command() -> None:
    cancellation = Cancellation()
    engine = FakeEngine(ok)
    with session_of(engine, cancellation=cancellation) as session:
        cancellation.cancel()
        with pytest.raises(TrialAbortedError, match="interrupted"):
            session.exec("true")
    assert engine.live == {}
