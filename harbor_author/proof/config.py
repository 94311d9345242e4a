"""What of task.toml a trial obeys, read as Harbor 0.26 reads it (schema 1.4)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from harbor_author.proof.errors import TaskRefusedError
from harbor_author.suite import SuiteError, parse_toml

_BOM = b"\xef\xbb\xbf"
_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_SIZE = re.compile(r"(?i)^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*$")
_UNITS_MB = {"": 1 / (1 << 20), "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}
_NETWORK_MODES = ("public", "no-network", "allowlist")

DEFAULT_VERIFIER_TIMEOUT_S = 600.0
DEFAULT_BUILD_TIMEOUT_S = 600.0
#: Always collected, whether declared or not.
ARTIFACTS_DIR = "/logs/artifacts"


@dataclass(frozen=True)
class Healthcheck:
    """`[environment.healthcheck]`; times in seconds."""

    command: str
    interval_s: float = 5.0
    timeout_s: float = 30.0
    start_period_s: float = 0.0
    start_interval_s: float = 5.0
    retries: int = 3


@dataclass(frozen=True)
class EnvironmentConfig:
    """`[environment]`, or `[verifier.environment]`."""

    docker_image: str | None = None
    build_timeout_s: float = DEFAULT_BUILD_TIMEOUT_S
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    network_mode: str = "public"
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    os: str = "linux"
    gpus: int = 0
    healthcheck: Healthcheck | None = None
    #: `[metadata.author] new_privileges`, which holds for every container of the task.
    new_privileges: bool = False


@dataclass(frozen=True)
class CollectHook:
    """`[[verifier.collect]]`: run after the agent, before artifacts are collected; best effort."""

    command: str
    service: str = "main"
    timeout_s: float = 60.0
    user: str | None = None


@dataclass(frozen=True)
class PhaseConfig:
    """`[agent]` or `[verifier]` of the task or of one step; None means: as the level above says."""

    timeout_s: float | None = None
    user: str | None = None
    network_mode: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    environment_mode: str | None = None
    environment: EnvironmentConfig | None = None
    collect: tuple[CollectHook, ...] = ()


@dataclass(frozen=True)
class Artifact:
    """A path that crosses from the agent's container to a separate verifier."""

    source: str
    exclude: tuple[str, ...] = ()
    service: str = "main"


@dataclass(frozen=True)
class StepConfig:
    """One of `[[steps]]`; `min_reward` maps reward keys to thresholds."""

    name: str
    agent: PhaseConfig = PhaseConfig()
    verifier: PhaseConfig = PhaseConfig()
    min_reward: Mapping[str, float] = field(default_factory=dict)
    healthcheck: Healthcheck | None = None
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True)
class TaskConfig:
    """All that a trial needs to know of a task's task.toml."""

    environment: EnvironmentConfig
    agent: PhaseConfig
    verifier: PhaseConfig
    solution_env: Mapping[str, str]
    artifacts: tuple[Artifact, ...]
    steps: tuple[StepConfig, ...]
    reward_strategy: str
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def separate_verifier(self, step: StepConfig | None = None) -> bool:
        """Whether the judge runs in a container of its own."""
        for verifier in ([step.verifier] if step else []) + [self.verifier]:
            if verifier.environment_mode is not None:
                return verifier.environment_mode == "separate"
            if verifier.environment is not None:
                return True
        return False


def load_config(task_dir: Path) -> TaskConfig:
    """Read `task.toml`.

    Raises:
        TaskRefusedError: Harbor would not load the task (`task-invalid`, `byte-order-mark`, `task-vanished`).
    """
    path = task_dir / "task.toml"
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        if not task_dir.is_dir():
            raise TaskRefusedError(
                "task-vanished", "there is no such directory any more", path=task_dir
            ) from error
        raise TaskRefusedError("task-invalid", "there is no task.toml", path=path) from error
    except OSError as error:
        raise TaskRefusedError("task-invalid", f"cannot be read ({error.strerror})", path=path) from error
    if data.startswith(_BOM):
        raise TaskRefusedError("byte-order-mark", "begins with a byte-order mark", path=path, line=1)
    try:
        document = parse_toml(data.decode(), path=path).document
    except UnicodeDecodeError as error:
        raise TaskRefusedError("task-invalid", "is not UTF-8", path=path) from error
    except SuiteError as error:
        raise TaskRefusedError("task-invalid", error.message, path=path, line=error.line) from error
    return _Reader(path).config(document)


def without_network(config: TaskConfig) -> TaskConfig:
    """The same task with every phase offline."""
    environment = replace(config.environment, network_mode="no-network")
    verifier_environment = config.verifier.environment
    return replace(
        config,
        environment=environment,
        agent=replace(config.agent, network_mode=None),
        verifier=replace(
            config.verifier,
            network_mode=None,
            environment=verifier_environment and replace(verifier_environment, network_mode="no-network"),
        ),
    )


def resolve_env(
    env: Mapping[str, str], where: str, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Replace whole values `${NAME}` and `${NAME:-default}` from this machine's environment, as Harbor does.

    Raises:
        TaskRefusedError: a variable is not set and has no default.
    """
    environ = os.environ if environ is None else environ
    resolved = {}
    for key, value in env.items():
        match = _TEMPLATE.fullmatch(value)
        if match is None:
            resolved[key] = value
            continue
        name, default = match.groups()
        if name in environ:
            resolved[key] = environ[name]
        elif default is not None:
            resolved[key] = default
        else:
            raise TaskRefusedError(
                "env-missing", f"{where} {key} asks for the host variable {name}, which is not set"
            )
    return resolved


_TASK_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*")


class _Reader:
    """Typed access to a document whose types are not yet known to be right."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new_privileges = False

    def config(self, document: Mapping[str, Any]) -> TaskConfig:
        self._identity(document)
        self._new_privileges = self._declared(document)
        environment = self._table(document, "environment")
        strategy = document.get("multi_step_reward_strategy") or "mean"
        if strategy not in ("mean", "final"):
            self._refuse("multi_step_reward_strategy", 'is neither "mean" nor "final"')
        steps = document.get("steps") or []
        if not isinstance(steps, list):
            self._refuse("steps", "is not a list of tables")
        return TaskConfig(
            environment=self._environment(environment, "environment"),
            agent=self._phase(self._table(document, "agent"), "agent"),
            verifier=self._phase(self._table(document, "verifier"), "verifier"),
            solution_env=self._env(self._table(document, "solution"), "solution"),
            artifacts=self._artifacts(document.get("artifacts"), "artifacts"),
            steps=tuple(self._step(step, f"steps[{index}]") for index, step in enumerate(steps)),
            reward_strategy=strategy,
            document=document,
        )

    def _identity(self, document: Mapping[str, Any]) -> None:
        """`[task]` is optional; where it stands, Harbor wants a name `org/name` and loads no task without."""
        if "task" not in document:
            return
        name = self._table(document, "task").get("name")
        if not isinstance(name, str) or not _TASK_NAME.fullmatch(name) or ".." in name:
            self._refuse("task.name", 'is not a name such as "org/name"')

    def _declared(self, document: Mapping[str, Any]) -> bool:
        author = self._table(self._table(document, "metadata"), "author")
        declared = author.get("new_privileges", False)
        if not isinstance(declared, bool):
            self._refuse("metadata.author.new_privileges", "is neither true nor false")
        return declared

    def _step(self, table: Any, where: str) -> StepConfig:
        if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
            self._refuse(where, "has no name")
        name = table["name"]
        if not re.fullmatch(r"[^/\\\x00]+", name) or name in (".", ".."):
            self._refuse(f"{where}.name", "is not a directory's name")
        minimum = table.get("min_reward")
        if minimum is None:
            thresholds: dict[str, float] = {}
        elif isinstance(minimum, Mapping):
            thresholds = {key: self._number(value, f"{where}.min_reward") for key, value in minimum.items()}
        else:
            thresholds = {"reward": self._number(minimum, f"{where}.min_reward")}
        return StepConfig(
            name=name,
            agent=self._phase(self._table(table, "agent"), f"{where}.agent"),
            verifier=self._phase(self._table(table, "verifier"), f"{where}.verifier"),
            min_reward=thresholds,
            healthcheck=self._healthcheck(table.get("healthcheck"), f"{where}.healthcheck"),
            artifacts=self._artifacts(table.get("artifacts"), f"{where}.artifacts"),
        )

    def _phase(self, table: Mapping[str, Any], where: str) -> PhaseConfig:
        mode = table.get("environment_mode")
        environment = table.get("environment")
        if mode not in (None, "shared", "separate"):
            self._refuse(f"{where}.environment_mode", 'is neither "shared" nor "separate"')
        if mode == "shared" and environment is not None:
            self._refuse(f"{where}.environment", 'cannot stand beside environment_mode = "shared"')
        hooks = table.get("collect") or []
        return PhaseConfig(
            timeout_s=self._optional(table, "timeout_sec", where),
            user=self._user(table, where),
            network_mode=self._network(table, where),
            env=self._env(table, where),
            environment_mode=mode,
            environment=None
            if environment is None
            else self._environment(self._table(table, "environment"), f"{where}.environment"),
            collect=tuple(self._hook(hook, f"{where}.collect") for hook in hooks),
        )

    def _hook(self, table: Any, where: str) -> CollectHook:
        if not isinstance(table, Mapping) or not isinstance(table.get("command"), str):
            self._refuse(where, "has no command")
        return CollectHook(
            command=table["command"],
            service=str(table.get("service", "main")),
            timeout_s=self._optional(table, "timeout_sec", where) or 60.0,
            user=self._user(table, where),
        )

    def _environment(self, table: Mapping[str, Any], where: str) -> EnvironmentConfig:
        network = self._network(table, where)
        if network is None:
            allow = table.get("allow_internet")
            network = (
                "allowlist" if table.get("allowed_hosts") else "no-network" if allow is False else "public"
            )
        memory = self._optional(table, "memory_mb", where)
        if memory is None and table.get("memory") is not None:
            memory = self._size_mb(table["memory"], f"{where}.memory")
        storage = self._optional(table, "storage_mb", where)
        if storage is None and table.get("storage") is not None:
            storage = self._size_mb(table["storage"], f"{where}.storage")
        image = table.get("docker_image")
        return EnvironmentConfig(
            docker_image=str(image) if image else None,
            build_timeout_s=self._optional(table, "build_timeout_sec", where) or DEFAULT_BUILD_TIMEOUT_S,
            cpus=self._optional(table, "cpus", where),
            memory_mb=None if memory is None else int(memory),
            storage_mb=None if storage is None else int(storage),
            network_mode=network,
            env=self._env(table, where),
            workdir=str(table["workdir"]) if table.get("workdir") else None,
            os=str(table.get("os", "linux")).lower(),
            gpus=int(self._optional(table, "gpus", where) or 0),
            healthcheck=self._healthcheck(table.get("healthcheck"), f"{where}.healthcheck"),
            new_privileges=self._new_privileges,
        )

    def _healthcheck(self, table: Any, where: str) -> Healthcheck | None:
        if table is None:
            return None
        if not isinstance(table, Mapping) or not isinstance(table.get("command"), str):
            self._refuse(where, "has no command")

        def seconds(key: str, default: float) -> float:
            value = self._optional(table, key, where)
            return default if value is None else value

        return Healthcheck(
            command=table["command"],
            interval_s=seconds("interval_sec", 5.0),
            timeout_s=seconds("timeout_sec", 30.0),
            start_period_s=seconds("start_period_sec", 0.0),
            start_interval_s=seconds("start_interval_sec", 5.0),
            retries=int(seconds("retries", 3.0)),
        )

    def _artifacts(self, items: Any, where: str) -> tuple[Artifact, ...]:
        if items is None:
            return ()
        if not isinstance(items, Sequence) or isinstance(items, str):
            self._refuse(where, "is not a list")
        found = []
        for item in items:
            if isinstance(item, str):
                found.append(Artifact(item))
            elif isinstance(item, Mapping) and isinstance(item.get("source"), str):
                excluded = tuple(str(pattern) for pattern in item.get("exclude") or ())
                found.append(Artifact(item["source"], excluded, str(item.get("service") or "main")))
            else:
                self._refuse(where, "holds neither a path nor a table with a source")
        return tuple(found)

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = table.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self._refuse(key, "is not a table")
        return value

    def _env(self, table: Mapping[str, Any], where: str) -> dict[str, str]:
        env = self._table(table, "env")
        for key, value in env.items():
            if not isinstance(value, str):
                self._refuse(f"{where}.env.{key}", "is not a string")
        return dict(env)

    def _user(self, table: Mapping[str, Any], where: str) -> str | None:
        user = table.get("user")
        if user is None:
            return None
        if isinstance(user, bool) or not isinstance(user, (str, int)):
            self._refuse(f"{where}.user", "is neither a name nor a number")
        return str(user)

    def _network(self, table: Mapping[str, Any], where: str) -> str | None:
        mode = table.get("network_mode")
        if mode is not None and mode not in _NETWORK_MODES:
            self._refuse(f"{where}.network_mode", f"is none of {', '.join(_NETWORK_MODES)}")
        return mode

    def _optional(self, table: Mapping[str, Any], key: str, where: str) -> float | None:
        value = table.get(key)
        return None if value is None else self._number(value, f"{where}.{key}")

    def _number(self, value: Any, where: str) -> float:
        # pydantic, which Harbor reads with, also takes a number written as text.
        try:
            number = float(value)
        except (TypeError, ValueError):
            self._refuse(where, f"is not a number: {str(value)[:60]!r}")
        if not math.isfinite(number):
            self._refuse(where, "is not finite")
        return number

    def _size_mb(self, value: Any, where: str) -> float:
        match = _SIZE.match(str(value))
        if match is None:
            self._refuse(where, f'is not a size such as "2G": {str(value)[:60]!r}')
        return float(match[1]) * _UNITS_MB[match[2].upper()]

    def _refuse(self, where: str, what: str) -> NoReturn:
        raise TaskRefusedError("task-invalid", f"{where} {what}", path=self._path)
