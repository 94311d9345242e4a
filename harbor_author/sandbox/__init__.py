"""The container engine, as narrow as a trial needs it: images, containers, files in and out, limits, clean-up.

`connect` gives the real engine. Everything that it creates carries an owner (`ownership`), so that a crash leaves
nothing that the next run does not remove.
"""

from __future__ import annotations

from harbor_author.sandbox.engine import (
    BuildError,
    ContainerInfo,
    ContainerSpec,
    Engine,
    EngineError,
    EngineInfo,
    EngineUnavailableError,
    ExecResult,
    FileRead,
    FileStat,
    ImageInfo,
    ImageMissingError,
    SandboxError,
    Usage,
)


def connect() -> Engine:
    """The engine that `docker` itself would talk to.

    Raises:
        EngineUnavailableError: there is none, or it does not answer.
    """
    from harbor_author.sandbox.docker_engine import DockerEngine

    return DockerEngine()


__all__ = [
    "BuildError",
    "ContainerInfo",
    "ContainerSpec",
    "Engine",
    "EngineError",
    "EngineInfo",
    "EngineUnavailableError",
    "ExecResult",
    "FileRead",
    "FileStat",
    "ImageInfo",
    "ImageMissingError",
    "SandboxError",
    "Usage",
    "connect",
]
