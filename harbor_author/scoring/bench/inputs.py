"""What a benchmark reads before its first call: prompts, fixtures and ground truths."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harbor_author.scoring.bench.kinds import DOMAINS, Kind
from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.files import read_report
from harbor_author.scoring.text import trim
from harbor_author.scoring.truth import GroundTruth, load_truth

# Ends at the first later "---", even inside a line.
_FRONT_MATTER = re.compile(r"---.*?---(.*)\Z", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SUFFIXES = (".md", ".ts")


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its name and the system prompt that makes it."""

    name: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Fixture:
    """A text that agents are given, and the folder-made domain of its ground truth."""

    id: str
    domain: str
    text: str

    @property
    def key(self) -> str:
        return f"{self.domain}:{self.id}"


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that a run needs, validated. A fixture without ground truth is not in `truths`."""

    agents: tuple[Agent, ...]
    fixtures: tuple[Fixture, ...]
    truths: Mapping[str, GroundTruth] = field(default_factory=dict)


def load_inputs(root: Path, kind: Kind, agents: Sequence[str], *, fixture: str | None = None) -> Inputs:
    """Read the benchmark at `root`.

    Args:
        agents: names of prompt files.
        fixture: only the fixtures of this exact id; None and "" for all.

    Raises:
        ScoringError: a prompt, the fixtures, or a ground truth cannot be used.
    """
    if not agents:
        raise ScoringError("no agent is named", hint="name one with --agent")
    for name in {name for name in agents if list(agents).count(name) > 1}:
        raise ScoringError(f"agent {name} is named twice")
    prompts = tuple(Agent(name, load_prompt(root, name)) for name in agents)
    fixtures = load_fixtures(root, kind, fixture)
    return Inputs(prompts, fixtures, load_truths(root / "ground-truth", fixtures))


def load_prompt(root: Path, name: str) -> str:
    """An agent's prompt without its front matter: `agents/<name>.md` of the repository, or `prompts/<name>.md`.

    The repository is the benchmark's own folder or the one two levels up.

    Raises:
        ScoringError: there is none, or the name would leave its folder.
    """
    if not _NAME.fullmatch(name):
        raise ScoringError(f"'{name}' is no agent's name", hint="letters, digits, '.', '_' and '-'")
    places = [
        root / "agents",
        *([root.resolve().parents[1] / "agents"] if len(root.resolve().parents) > 1 else []),
        root / "prompts",
    ]
    for place in places:
        path = place / f"{name}.md"
        if path.is_file():
            return strip_front_matter(read_report(path))
    looked = ", ".join(str(place) for place in places)
    raise ScoringError(f'Could not load agent prompt for "{name}"', hint=f"looked in {looked}")


def strip_front_matter(text: str) -> str:
    """A prompt without the part between its opening "---" and the next "---", trimmed."""
    match = _FRONT_MATTER.match(text)
    return trim(match.group(1) if match else text)


def fixture_domain(folder: str) -> str:
    """The domain of the fixtures in a folder.

    Raises:
        ScoringError: it is none of the known folders.
    """
    domain = DOMAINS.get(folder)
    if domain is None:
        raise ScoringError(
            f"Unsupported fixture directory: {folder}", hint=f"fixtures stand in {', '.join(DOMAINS)}"
        )
    return domain


def load_fixtures(root: Path, kind: Kind, only: str | None) -> tuple[Fixture, ...]:
    """The fixtures of a benchmark, folders and files in the order of their bytes.

    Raises:
        ScoringError: the folder is missing or odd, or nothing is left.
    """
    folder = root / "fixtures"
    if not folder.is_dir():
        raise ScoringError(f"Fixtures directory not found: {folder}")
    if only and not _NAME.fullmatch(only):
        raise ScoringError(f"'{only}' is no fixture's id", hint="letters, digits, '.', '_' and '-'")
    found = []
    for directory in _sorted(folder) if not kind.folders else [folder / name for name in kind.folders]:
        if not directory.is_dir():
            continue
        domain = fixture_domain(directory.name)
        for path in _sorted(directory):
            if path.suffix in _SUFFIXES and path.is_file() and only in (None, "", path.stem):
                found.append(Fixture(path.stem, domain, read_report(path)))
    keys = [one.key for one in found]
    for key in keys:
        if keys.count(key) > 1:
            raise ScoringError(
                f"Duplicate fixture key: {key}", path=folder, hint="one of .md and .ts for an id"
            )
    if not found:
        raise ScoringError(f'Fixture "{only}" not found' if only else "No fixtures found", path=folder)
    return tuple(found)


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name))


def load_truths(folder: Path, fixtures: Sequence[Fixture]) -> dict[str, GroundTruth]:
    """The ground truths of some fixtures by `Fixture.key`; only a file that is not there means that there is none.

    Raises:
        ScoringError: the folder is none, or a file cannot be read, is invalid, or belongs to another fixture.
    """
    if not folder.is_dir():
        what = (
            "Ground-truth path is not a directory" if folder.exists() else "Ground-truth path does not exist"
        )
        raise ScoringError(f"{what}: {folder}")
    truths = {}
    for fixture in fixtures:
        path = folder / f"{fixture.id}.json"
        if not os.path.lexists(path):
            continue
        truth = load_truth(path)
        got = f"{truth.domain}:{truth.fixture_id}"
        if got != fixture.key:
            raise ScoringError(
                f"Ground truth identity mismatch: expected {fixture.key}, got {got}",
                path=path,
                hint="its fixtureId and domain must be those of the fixture's file and folder",
            )
        truths[fixture.key] = truth
    return truths
