"""What bash, node and shellcheck said of a text, kept from run to run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from harbor_author.integrity.cache import cache_path, keep_json, load_json

_CACHE_LIMIT = 5_000


@dataclass(frozen=True)
class ToolFault:
    """One complaint of a program about a file; `code` is the program's own name for it."""

    message: str
    line: int | None
    column: int | None = None
    code: str = ""


class VerdictCache:
    """Verdicts of earlier runs, by program and digest; losing it costs time and nothing else."""

    #: Those of this process, for where nothing can be kept on disk.
    _session: ClassVar[dict[str, dict[str, tuple[ToolFault, ...]]]] = {}

    def __init__(self) -> None:
        self._path = cache_path("checks-2.json")
        self._verdicts = self._load()
        self._fresh: dict[str, dict[str, tuple[ToolFault, ...]]] = {}
        self._identity: dict[str, str] = {}

    def _load(self) -> dict[str, dict[str, tuple[ToolFault, ...]]]:
        try:
            raw = load_json(self._path)
            return {
                identity: {key: tuple(ToolFault(*fault) for fault in faults) for key, faults in kept.items()}
                for identity, kept in raw.items()
            }
        except (TypeError, AttributeError):
            return {}

    def known(self, tool: str, program: str, driver: str) -> dict[str, tuple[ToolFault, ...]]:
        """Verdicts of just this build of a program, called in just this way."""
        info = Path(program).stat()
        way = hashlib.sha256(driver.encode()).hexdigest()[:8]
        self._identity[tool] = f"{program} {info.st_size} {info.st_mtime_ns} {way}"
        identity = self._identity[tool]
        return {**self._verdicts.get(identity, {}), **self._session.get(identity, {})}

    def add(self, tool: str, verdicts: Mapping[str, tuple[ToolFault, ...]]) -> None:
        self._fresh.setdefault(self._identity[tool], {}).update(verdicts)
        session = self._session.setdefault(self._identity[tool], {})
        if len(session) > _CACHE_LIMIT:
            session.clear()
        session.update(verdicts)

    def save(self) -> None:
        if not any(self._fresh.values()):
            return
        merged = self._load()
        for identity, verdicts in self._fresh.items():
            kept = {**merged.get(identity, {}), **verdicts}
            merged[identity] = dict(list(kept.items())[-_CACHE_LIMIT:])
        document = {
            identity: {
                key: [[f.message, f.line, f.column, f.code] for f in faults] for key, faults in kept.items()
            }
            for identity, kept in merged.items()
        }
        keep_json(self._path, document)
