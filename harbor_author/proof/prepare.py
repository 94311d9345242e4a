"""Looking a task over before its first trial: what it says, whether it can start here, its image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError
from harbor_author.integrity.package import check_plain, package_digest
from harbor_author.proof.config import TaskConfig, load_config
from harbor_author.proof.errors import TaskRefusedError
from harbor_author.proof.images import BuiltImage, provide_image
from harbor_author.proof.separate import verifier_environment
from harbor_author.proof.session import Cancellation
from harbor_author.proof.trial import Bench
from harbor_author.sandbox import Engine, ImageInfo
from harbor_author.suite import Task

_COMPOSE = "docker-compose.yaml"


@dataclass(frozen=True)
class PreparedTask:
    """A task ready for trials; `package` is its digest before them."""

    bench: Bench
    built: BuiltImage
    package: str


def prepare(
    engine: Engine,
    task: Task,
    *,
    cancellation: Cancellation,
    keep: bool,
    log: Callable[[str], None],
    remove: Callable[[str], None] | None = None,
) -> PreparedTask:
    """Read a task and provide its images.

    Args:
        remove: who removes its containers; None: the engine, and at once.

    Raises:
        TaskRefusedError: no trial can start.
    """
    if task.path.is_dir():
        refuse_links(task.path)
    config = load_config(task.path)
    check_startable(task.path, config)
    try:
        package = package_digest(task.path)
    except IntegrityError as error:
        raise TaskRefusedError("task-invalid", error.message, path=error.path, hint=error.hint) from error
    built = provide_image(engine, task.path / "environment", config.environment, task=task.name, log=log)
    bench = Bench(
        engine=engine,
        task_dir=task.path,
        task=task.name,
        config=config,
        image=built.image,
        cancellation=cancellation,
        keep=keep,
        remove=remove,
    )
    return PreparedTask(replace(bench, verifier_images=_verifier_images(bench, built, log)), built, package)


def refuse_links(task_dir: Path) -> None:
    """Refuse a task with links or special files before anything of it is read: they lead out, or never end.

    Raises:
        TaskRefusedError: with the cause `task-invalid`.
    """
    try:
        check_plain(task_dir)
    except IntegrityError as error:
        where = task_dir / str(error.path)
        raise TaskRefusedError("task-invalid", error.message, path=where, hint=error.hint) from error


def check_startable(task_dir: Path, config: TaskConfig) -> None:
    """Refuse what Harbor would not run, what this engine cannot run as Harbor does, and scripts Linux cannot run.

    Raises:
        TaskRefusedError: with the cause.
    """
    environment = config.environment
    if environment.os != "linux":
        raise TaskRefusedError("unsupported-here", f"its containers are of {environment.os}, not linux")
    modes = {environment.network_mode, config.agent.network_mode, config.verifier.network_mode}
    modes |= {phase.network_mode for step in config.steps for phase in (step.agent, step.verifier)}
    if "allowlist" in modes:
        raise TaskRefusedError(
            "unsupported-here", 'network_mode = "allowlist" needs Harbor\'s own egress sidecar', path=task_dir
        )
    if environment.gpus:
        raise TaskRefusedError("unsupported-here", f"it asks for {environment.gpus} GPUs", path=task_dir)
    for compose in (task_dir / "environment" / _COMPOSE, task_dir / "tests" / _COMPOSE):
        if compose.is_file():
            raise TaskRefusedError("unsupported-here", "a task of several services", path=compose)
    if config.steps:
        for step in config.steps:
            if not (task_dir / "steps" / step.name / "instruction.md").is_file():
                raise TaskRefusedError(
                    "task-invalid", f"step {step.name} has no instruction.md", path=task_dir
                )
    elif not (task_dir / "instruction.md").is_file():
        raise TaskRefusedError("task-invalid", "there is no instruction.md", path=task_dir)
    _check_test_script(task_dir, config)


def _check_test_script(task_dir: Path, config: TaskConfig) -> None:
    bundled = config.separate_verifier() and verifier_environment(task_dir, config)[2]
    if not (task_dir / "tests" / "test.sh").is_file() and not bundled and not config.steps:
        raise TaskRefusedError("task-invalid", "there is no tests/test.sh", path=task_dir)
    refuse_crlf(task_dir)


def refuse_crlf(task_dir: Path) -> None:
    """Refuse a test.sh that Linux cannot run.

    Raises:
        TaskRefusedError: one has CRLF line endings (`crlf-script`).
    """
    for script in [task_dir / "tests" / "test.sh", *sorted(task_dir.glob("steps/*/tests/test.sh"))]:
        line = crlf_line(script) if script.is_file() else None
        if line is not None:
            raise TaskRefusedError("crlf-script", "has CRLF line endings", path=script, line=line)


def crlf_line(script: Path) -> int | None:
    """The first line of a script that ends in CRLF, or None."""
    data = script.read_bytes()
    at = data.find(b"\r\n")
    return None if at < 0 else data.count(b"\n", 0, at) + 1


def source_changed(prepared: PreparedTask) -> str | None:
    """What is wrong with the source after the trials, or None: it must be what it was before."""
    task_dir = prepared.bench.task_dir
    if not task_dir.is_dir():
        return "the task's directory is gone"
    try:
        now = package_digest(task_dir)
    except IntegrityError as error:
        return str(error)
    return None if now == prepared.package else f"the package was {prepared.package} before and is {now} now"


def _verifier_images(bench: Bench, built: BuiltImage, log: Callable[[str], None]) -> dict[str, ImageInfo]:
    """The images of separate judges by step name (`""`: a task without steps)."""
    config, images = bench.config, {}
    for step in config.steps or (None,):
        if not config.separate_verifier(step):
            continue
        context, environment, bundled = verifier_environment(bench.task_dir, config, step)
        name = step.name if step else ""
        if environment == config.environment and not bundled:
            images[name] = built.image
        else:
            task = f"{bench.task}-verifier{'-' + name if name else ''}"
            images[name] = provide_image(bench.engine, context, environment, task=task, log=log).image
    return images
