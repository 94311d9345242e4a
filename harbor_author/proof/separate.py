"""A judge in a container of its own: what crosses over from the agent's, and where its image comes from."""

from __future__ import annotations

import io
import posixpath
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from harbor_author.proof.config import ARTIFACTS_DIR, Artifact, EnvironmentConfig, StepConfig, TaskConfig
from harbor_author.proof.session import Session, TrialAbortedError
from harbor_author.sandbox import EngineError

#: An artifact larger than this is no artifact.
_LIMIT_BYTES = 1 << 30
_MEMORY_BYTES = 8 << 20

#: (directory in the container, archive to unpack there), safe to unpack.
Collected = list[tuple[str, IO[bytes]]]


def verifier_environment(
    task_dir: Path, config: TaskConfig, step: StepConfig | None = None
) -> tuple[Path, EnvironmentConfig, bool]:
    """Where a separate judge's image comes from: build context, settings, and whether it already holds the tests."""
    candidates = [(config.verifier.environment, task_dir / "tests")]
    settings = config.verifier.environment or config.environment
    if step is not None:
        candidates.insert(0, (step.verifier.environment, task_dir / "steps" / step.name / "tests"))
        settings = step.verifier.environment or settings
    for environment, directory in candidates:
        if environment is not None and environment.docker_image:
            return directory, settings, True
        if (directory / "Dockerfile").is_file():
            return directory, _without_image(settings), True
    return task_dir / "environment", settings, False


def _without_image(settings: EnvironmentConfig) -> EnvironmentConfig:
    return replace(settings, docker_image=None)


def collect(session: Session, config: TaskConfig, step: StepConfig | None = None) -> Collected:
    """Run the collect hooks, then fetch what crosses: (parent directory, archive) pairs, safe to unpack.

    A hook that fails, and an artifact that is not there, only lack, as in Harbor.
    """
    for hook in config.verifier.collect + (step.verifier.collect if step else ()):
        with suppress(EngineError):
            session.exec(hook.command, user=hook.user, timeout_s=hook.timeout_s)
    wanted = [Artifact(ARTIFACTS_DIR), *config.artifacts, *(step.artifacts if step else ())]
    found, taken = [], set[str]()
    for artifact in wanted:
        path = posixpath.normpath(artifact.source)
        if not path.startswith("/"):
            path = posixpath.normpath(posixpath.join(_workdir(session), path))
        if path in taken:
            continue
        taken.add(path)
        raw = tempfile.SpooledTemporaryFile(_MEMORY_BYTES)  # noqa: SIM115
        try:
            if session.engine.archive(session.container, path, _LIMIT_BYTES, raw):
                raw.seek(0)
                found.append((posixpath.dirname(path), _sanitised(raw, artifact.exclude)))
        except EngineError as error:
            raise TrialAbortedError(
                "environment-failed", f"an artifact could not be fetched: {error.message}"
            ) from error
        finally:
            raw.close()
    return found


def upload(session: Session, artifacts: Collected) -> None:
    """Put the artifacts where they were in the agent's container."""
    session.exec("rm -rf /logs/verifier/..?* /logs/verifier/.[!.]* /logs/verifier/*; true", user="root")
    for parent, archive in artifacts:
        session.exec(f"mkdir -p '{parent}'" if "'" not in parent else "false", user="root")
        session.engine.put(session.container, parent or "/", archive)


def _workdir(session: Session) -> str:
    return session.exec("pwd").output.strip() or "/"


def _sanitised(source: IO[bytes], exclude: tuple[str, ...]) -> IO[bytes]:
    """A copy of an archive without what tar's `data` filter refuses: links that escape, devices, set-user bits."""
    target: IO[bytes] = tempfile.SpooledTemporaryFile(_MEMORY_BYTES)  # noqa: SIM115
    try:
        with tarfile.open(fileobj=source, mode="r:") as old, tarfile.open(fileobj=target, mode="w") as new:
            for member in old:
                if any(fnmatch(posixpath.basename(member.name), pattern) for pattern in exclude):
                    continue
                try:
                    safe = tarfile.data_filter(member, "/nonexistent")
                except tarfile.FilterError:
                    continue
                content = old.extractfile(member) if member.isreg() else None
                safe.uid = safe.gid = 0
                safe.uname = safe.gname = (
                    "root"  # the filter takes the names away, and nameless members cannot be written
                )
                safe.mode = member.mode & 0o777
                new.addfile(safe, content if content is not None else io.BytesIO())
    except tarfile.TarError as error:
        raise TrialAbortedError("environment-failed", f"an artifact's archive is broken ({error})") from error
    target.seek(0)
    return target
