"""`proof.json`: what was proved, bound to the digests of all that it depends on, and whether that still holds."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from harbor_author import __version__
from harbor_author.integrity.errors import IntegrityError
from harbor_author.integrity.files import write_atomic
from harbor_author.integrity.package import package_digest, package_files
from harbor_author.integrity.treehash import tree_hash
from harbor_author.proof.context import base_names, context_digest
from harbor_author.proof.errors import ProofError
from harbor_author.suite import HostSettings, Task, read_plain

if TYPE_CHECKING:
    from harbor_author.proof.verdict import Trial

FILE_NAME = "proof.json"
VERDICTS = ("pass", "fail", "error")
SCHEMA = "author/proof/1"
#: Raised when a trial means something else than before: every older receipt is stale then.
#: 2: no new privileges; a disk that a script fills is an error of its own.
TRIAL_SEMANTICS = 2

_TRIAL_NUMBERS = ("reward", "score", "max", "duration_s", "solve_s", "judge_s")
#: A cause's message may quote what a judge printed; the log itself is not the receipt's.
_MAX_MESSAGE = 500
#: Ours, Harbor's or people's, but nothing that a trial can see.
_UNSEEN = ("README.md", "trajectory.json")


@dataclass(frozen=True)
class Inputs:
    """The digests of all that a proof depends on; each a key of the receipt's `inputs`."""

    package: str | None
    readme: str | None
    trial: str
    environment: str
    dockerfile: str | None
    fixture: str | None
    bases: Mapping[str, str]
    host: Mapping[str, str] | None
    platform: str
    builder: str | None = None

    def document(self) -> dict[str, Any]:
        return {
            "package": self.package,
            "readme": self.readme,
            "trial": self.trial,
            "environment": self.environment,
            "dockerfile": self.dockerfile,
            "fixture": self.fixture,
            "bases": dict(sorted(self.bases.items())),
            "host": dict(sorted(self.host.items())) if self.host else None,
            "platform": self.platform,
            "builder": self.builder,
        }


@dataclass(frozen=True)
class Receipt:
    """A receipt as read; `document` is all of it."""

    path: Path
    document: Mapping[str, Any] = field(repr=False)

    @property
    def verdict(self) -> str:
        return str(self.document.get("verdict"))

    @property
    def trials(self) -> list[dict[str, Any]]:
        trials: list[dict[str, Any]] = self.document["trials"]
        return trials

    @property
    def names(self) -> set[str]:
        return {str(trial.get("name")) for trial in self.trials}


@dataclass(frozen=True)
class Currency:
    """Whether a receipt holds: `state` is `current`, `stale`, `missing` or `broken`.

    `because` names what makes it stale; `notes` what changed without making it so.
    """

    state: str
    because: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    receipt: Receipt | None = None


def this_platform() -> str:
    """Such as `linux/amd64`: the platform that containers of this machine have."""
    machine = platform.machine().lower()
    return f"linux/{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }"


def gather_inputs(
    task: Task, bases: Mapping[str, str], builder: str | None = None, *, with_package: bool = True
) -> Inputs:
    """Compute the digests of a task as it is now; Harbor's own, which reads every file once more, only if asked.

    Raises:
        IntegrityError, TaskRefusedError: it cannot be read, or holds a link or a special file.
    """
    environment = task.path / "environment"
    dockerfile = environment / "Dockerfile"
    fixture = environment / "fixture"
    readme = task.path / "README.md"
    host = task.suite.settings.host if task.suite else None
    return Inputs(
        package=package_digest(task.path) if with_package else None,
        readme=_sha256(readme.read_bytes()) if readme.is_file() else None,
        trial=trial_digest(task.path),
        environment=context_digest(environment) if environment.is_dir() else "none",
        dockerfile=_sha256(dockerfile.read_bytes()) if dockerfile.is_file() else None,
        fixture=tree_hash(fixture) if fixture.is_dir() else None,
        bases=bases,
        host=_host(host) if host else None,
        platform=this_platform(),
        builder=builder,
    )


def trial_digest(task_dir: Path) -> str:
    """`sha256:...` over name, executable bit and content of each packaged file that a trial can depend on."""
    digest = hashlib.sha256()
    for relative in package_files(task_dir):
        if relative in _UNSEEN or relative.startswith("environment/"):
            continue  # the environment has a digest of its own, with what the package leaves out
        path = task_dir / relative
        executable = "x" if path.stat().st_mode & 0o111 else "-"
        digest.update(f"{relative}\0{executable}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def known_bases(task: Task) -> list[str]:
    """The names of the images that the task's own is made from."""
    dockerfile = task.path / "environment" / "Dockerfile"
    try:
        if dockerfile.is_file():
            return base_names(read_plain(dockerfile).decode("utf-8", "replace"))
        from harbor_author.proof.config import load_config

        image = load_config(task.path).environment.docker_image
    except (ProofError, OSError):
        return []
    return [image] if image else []


def write_receipt(
    task: Task,
    inputs: Inputs,
    trials: Sequence[Trial],
    *,
    verdict: str,
    cause: str | None,
    extra: Mapping[str, Any],
    kept: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write `proof.json`: sorted keys, one trial a block, times to a tenth of a second.

    Args:
        kept: trials of an older receipt that still hold; one that was run again is replaced in its place.
    """
    fresh = {trial.name: trial_document(trial) for trial in trials}
    rows = [fresh.pop(str(row.get("name")), row) for row in kept]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": __version__,
        "semantics": TRIAL_SEMANTICS,
        "task": task.name,
        "verdict": verdict,
        "cause": cause,
        "inputs": inputs.document(),
        "trials": [*rows, *fresh.values()],
        **extra,
    }
    path = task.path / FILE_NAME
    write_atomic(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return path


def wider_receipt(task: Task, inputs: Inputs, names: Iterable[str]) -> Receipt | None:
    """The task's receipt, if it is bound to just these inputs and has trials beyond the named ones: it proves more."""
    try:
        receipt = read_receipt(task)
    except ProofError:
        return None
    if receipt is None or receipt.document.get("semantics") != TRIAL_SEMANTICS:
        return None
    old, now = receipt.document["inputs"], inputs.document()
    same = all(old.get(key) == now[key] for key in now if key not in ("package", "readme"))
    return receipt if same and receipt.names - set(names) else None


def trial_document(trial: Trial) -> dict[str, Any]:
    """What the receipt keeps of a trial."""
    document: dict[str, Any] = {
        "name": trial.name,
        "verdict": trial.verdict,
        "expected": trial.expected,
        "reward": trial.reward,
    }
    if trial.cause:
        document["cause"] = trial.cause
    if trial.score is not None:
        document |= {"score": trial.score, "max": trial.max}
    if trial.checks:
        document["checks"] = {check.id: [check.earned, check.points] for check in trial.checks}
    if trial.leftovers:
        document["leftovers"] = list(trial.leftovers)
    if trial.message:
        document["message"] = trial.message[:_MAX_MESSAGE]
    if trial.why:
        document["why"] = trial.why
    for key in ("duration_s", "solve_s", "judge_s"):
        document[key] = round(getattr(trial, key), 1)
    return document


def read_receipt(task: Task) -> Receipt | None:
    """The task's receipt, or None when it has none.

    Raises:
        ProofError: it cannot be read, or is not one of ours.
    """
    path = task.path / FILE_NAME
    try:
        document = json.loads(read_plain(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ProofError(
            f"cannot be read as a receipt ({error})", path=path, hint="remove it and prove again"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or not _is_well_formed(document):
        raise ProofError("is no receipt of this version", path=path, hint="prove the task again")
    return Receipt(path, document)


def _is_well_formed(document: Mapping[str, Any]) -> bool:
    """Whether what is shown of a receipt has the types that we write: it is a file of the task, so anybody's."""
    trials, ablation = document.get("trials"), document.get("ablation")
    return (
        document.get("verdict") in VERDICTS
        and isinstance(document.get("inputs"), dict)
        and isinstance(trials, list)
        and all(isinstance(trial, dict) and _is_trial(trial) for trial in trials)
        and (ablation is None or (isinstance(ablation, dict) and _is_ablation(ablation)))
    )


def _is_trial(trial: Mapping[str, Any]) -> bool:
    return (
        isinstance(trial.get("name"), str)
        and trial.get("verdict") in VERDICTS
        and all(_is_number(trial.get(key)) for key in _TRIAL_NUMBERS)
        and isinstance(trial.get("cause"), (str, NoneType))
        and _is_texts(trial.get("leftovers", []))
    )


def _is_ablation(ablation: Mapping[str, Any]) -> bool:
    changes = ablation.get("changes")
    return (
        all(isinstance(ablation.get(key), int) for key in ("killed", "total"))
        and isinstance(changes, dict)
        and all(
            isinstance(row, dict)
            and isinstance(row.get("state"), str)
            and _is_number(row.get("reward"))
            and _is_texts(row.get("by"))
            for row in changes.values()
        )
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def check_receipt(
    task: Task, base_ids: Mapping[str, str | None] | None, *, needs: Iterable[str] = ()
) -> Currency:
    """Whether the task's receipt still holds.

    Args:
        base_ids: local IDs of base images as far as known; None, or a name without one, is not held against it.
        needs: names of trials that must be in it.
    """
    try:
        receipt = read_receipt(task)
    except ProofError as error:
        return Currency("broken", (error.message,))
    if receipt is None:
        return Currency("missing")
    old = receipt.document["inputs"]
    try:
        inputs = gather_inputs(task, {}, with_package=False)
    except (IntegrityError, ProofError, OSError) as error:
        return Currency("stale", (f"the task cannot be read: {error}",), receipt=receipt)
    now = inputs.document()
    because = []
    if receipt.document.get("semantics") != TRIAL_SEMANTICS:
        because.append("the meaning of a trial (another version of author)")
    for key, words in (
        ("trial", "instruction, task.toml, tests or solution"),
        ("environment", "environment/"),
        ("host", "the host in author.toml"),
    ):
        if old.get(key) != now[key]:
            because.append(words)
    if old.get("fixture") != now["fixture"] and "environment/" not in because:
        because.append("the fixture")
    because += _changed_bases(old.get("bases"), base_ids)
    missing = sorted(set(needs) - receipt.names)
    if missing:
        because.append(f"it has no trial {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}")
    notes = []
    if old.get("readme") != now["readme"] and not because:
        notes.append("README.md changed, so Harbor's digest did, but nothing that a trial depends on")
    if old.get("platform") != now["platform"]:
        notes.append(f"proved on {old.get('platform')}, this machine is {now['platform']}")
    return Currency("stale" if because else "current", tuple(because), tuple(notes), receipt)


def _changed_bases(old: Any, base_ids: Mapping[str, str | None] | None) -> list[str]:
    if base_ids is None or not isinstance(old, dict):
        return []
    return [
        f"the base image {name}"
        for name, identity in old.items()
        if base_ids.get(name) is not None and base_ids[name] != identity
    ]


def _host(host: HostSettings) -> dict[str, str]:
    return {"image": host.image, "pnpm": host.pnpm, "dsh": host.dsh, "source": host.source}


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
