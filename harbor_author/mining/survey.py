"""Rank a repository's commits by how likely their host forced them.

One `git log --raw` is streamed, newest first. A commit is read further only when a changed path can speak to the
host; then the facts (`facts.py`) of its old and new blobs are compared, each blob once. Memory holds a window of
recent commits (for follow-up fixes), a bounded cache of facts, and the best candidates.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from harbor_author.mining.corridors import join_corridors
from harbor_author.mining.facts import Facts, facts_of, is_manifest, is_source, is_test, speaks_to_host
from harbor_author.mining.git_open import open_repository
from harbor_author.mining.git_stream import BlobReader, Change, LoggedCommit
from harbor_author.mining.hostdata import Host, load_host
from harbor_author.mining.verdict import Difference, Verdict, weigh

DAY_S: Final = 86_400
FOLLOW_UP_S: Final = 7 * DAY_S
_MAX_BLOB: Final = 512 * 1024
_MAX_FILES: Final = 80
_CACHED_FACTS: Final = 2048
_WINDOW: Final = 1024
_KEPT: Final = 300
#: Commits whose blobs are asked for at once: git works ahead, and the caller's wait is paid once a batch.
_BATCH: Final = 64


@dataclass(frozen=True)
class Candidate:
    """One migration worth asking about: a commit, or a corridor of several (oldest first)."""

    commits: tuple[str, ...]
    score: int
    reasons: tuple[str, ...]
    cards: tuple[str, ...]
    subject: str
    time_s: int
    touch_points: int
    paths: frozenset[bytes] = field(repr=False, default=frozenset())

    @property
    def date(self) -> str:
        """The first commit's day, UTC."""
        try:
            return datetime.fromtimestamp(self.time_s, tz=UTC).date().isoformat()
        except (OverflowError, ValueError, OSError):
            return "unknown"  # a commit may claim any time


@dataclass(frozen=True)
class Survey:
    """Candidates, best first, and how many commits were looked at."""

    candidates: tuple[Candidate, ...]
    commits: int
    head: str


@dataclass(frozen=True)
class _Recent:
    """A commit newer than the one at hand."""

    oid: str
    time_s: int
    paths: frozenset[bytes]
    subject: str
    fix: bool


def survey_repository(
    path: Path,
    *,
    since: str | None = None,
    host: str = "dsh",
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Survey:
    """Rank the commits reachable from HEAD (and not from `since`).

    Args:
        host: the name of a host's data, or the path of a data file.
        limit: how many candidates at most.
        progress: called now and then with the number of commits read so far.

    Raises:
        MiningError: not a repository, empty, shallow or damaged; unknown revision or host.
    """
    host_data = load_host(host)
    with open_repository(path) as repository, repository.blobs() as blobs:
        head = repository.resolve("HEAD")
        revisions = [head]
        if since is not None:
            revisions.append("^" + repository.resolve(since))
        surveyor = _Surveyor(host_data, blobs)
        count = 0
        stream = repository.log(*revisions)
        while batch := list(islice(stream, _BATCH)):
            count += len(batch)
            surveyor.look_at(batch)
            if progress is not None:
                progress(count)
        found = join_corridors(surveyor.candidates())
    found.sort(key=lambda candidate: (-candidate.score, -candidate.time_s, candidate.commits))
    return Survey(candidates=tuple(found[:limit]), commits=count, head=head)


class _Surveyor:
    def __init__(self, host: Host, blobs: BlobReader) -> None:
        self._host = host
        self._blobs = blobs
        self._facts: OrderedDict[tuple[bytes, bytes], Facts] = OrderedDict()
        self._speaks: dict[bytes, bool] = {}
        self._window: deque[_Recent] = deque(maxlen=_WINDOW)
        self._best: list[tuple[int, int, str, Candidate]] = []

    def candidates(self) -> list[Candidate]:
        return [entry[-1] for entry in self._best]

    def look_at(self, batch: Sequence[LoggedCommit]) -> None:
        """Take in some commits, newest first; what they need of git is asked for at once."""
        speaking = [
            [change for change in logged.changes if self._is_speaking(change.path)] for logged in batch
        ]
        read = [sorted(changes, key=_importance)[:_MAX_FILES] for changes in speaking]
        self._load([change for changes in read for change in changes], strict=False)
        for logged, changes, selected in zip(batch, speaking, read, strict=True):
            self._look_at(logged, changes, selected)

    def _look_at(self, logged: LoggedCommit, speaking: Sequence[Change], read: Sequence[Change]) -> None:
        commit = logged.commit
        recent = _Recent(
            oid=commit.oid,
            time_s=commit.time_s,
            paths=frozenset(change.path for change in speaking[:_MAX_FILES]),
            subject=commit.subject,
            fix=self._host.says("fix", commit.subject) is not None,
        )
        if speaking and commit.parents:
            self._judge(logged, read, recent)
        if speaking:
            self._window.append(recent)

    def _is_speaking(self, path: bytes) -> bool:
        known = self._speaks.get(path)
        if known is None:
            if len(self._speaks) > 50_000:
                self._speaks.clear()
            known = self._speaks[path] = speaks_to_host(path.decode("utf-8", "replace"), self._host)
        return known

    def _judge(self, logged: LoggedCommit, read: Sequence[Change], recent: _Recent) -> None:
        removed, added = self._difference(read, strict=False)
        if not removed and not added:
            return
        self._load(read, strict=True)
        removed, added = self._difference(read, strict=True)
        if not removed and not added:
            return
        difference = Difference(
            removed=removed,
            added=added,
            kept=self._kept(read),
            message=logged.commit.message,
            only_new_files=all(change.old is None for change in read),
            files=len(logged.changes),
            with_tests=any(is_test(change.path.decode("utf-8", "replace")) for change in logged.changes),
            with_sources=any(is_source(change.path.decode("utf-8", "replace")) for change in read),
        )
        follow_ups = self._follow_ups(recent)
        verdict = weigh(
            difference, self._host, follow_ups=[(later.oid, later.subject) for later in follow_ups]
        )
        if verdict.score > 0:
            self._keep(recent, verdict, follow_ups)

    def _keep(self, recent: _Recent, verdict: Verdict, follow_ups: Sequence[_Recent]) -> None:
        fixes = [later for later in follow_ups if later.fix]
        candidate = Candidate(
            commits=(recent.oid, *(later.oid for later in fixes)),
            score=verdict.score,
            reasons=verdict.reasons,
            cards=verdict.cards,
            subject=recent.subject,
            time_s=recent.time_s,
            touch_points=verdict.touch_points,
            paths=recent.paths.union(*(later.paths for later in fixes)),
        )
        entry = (verdict.score, recent.time_s, recent.oid, candidate)
        if len(self._best) < _KEPT:
            heapq.heappush(self._best, entry)
        else:
            heapq.heappushpop(self._best, entry)

    def _follow_ups(self, recent: _Recent) -> list[_Recent]:
        """Later commits on the same files within days, oldest first, at most five."""
        later = [
            other
            for other in self._window
            if 0 <= other.time_s - recent.time_s <= FOLLOW_UP_S and not other.paths.isdisjoint(recent.paths)
        ]
        return sorted(later, key=lambda other: other.time_s)[:5]

    def _difference(self, changes: Sequence[Change], *, strict: bool) -> tuple[Facts, Facts]:
        before: Facts = Counter()
        after: Facts = Counter()
        for change in changes:
            before.update(self._facts_of(change.path, change.old, strict=strict))
            after.update(self._facts_of(change.path, change.new, strict=strict))
        return before - after, after - before

    def _kept(self, changes: Sequence[Change]) -> Facts:
        """Facts that hold on both sides of one and the same file."""
        kept: Facts = Counter()
        for change in changes:
            old = self._facts_of(change.path, change.old, strict=True)
            kept.update(old & self._facts_of(change.path, change.new, strict=True))
        return kept

    def _load(self, changes: Sequence[Change], *, strict: bool) -> None:
        """Read the blobs whose facts are not known yet, all in one go."""
        mark = b"!" if strict else b""
        wanted = {
            (change.path, oid)
            for change in changes
            for oid in (change.old, change.new)
            if oid is not None and (mark + change.path, oid) not in self._facts
        }
        pairs = sorted(wanted)
        for (path, oid), content in zip(
            pairs, self._blobs.stream([oid for _, oid in pairs], max_bytes=_MAX_BLOB), strict=True
        ):
            facts = Counter[str]()
            if content is not None:
                facts = facts_of(path.decode("utf-8", "replace"), content, self._host, strict=strict)
            self._facts[mark + path, oid] = facts
        while len(self._facts) > max(_CACHED_FACTS, 2 * len(wanted)):
            self._facts.popitem(last=False)

    def _facts_of(self, path: bytes, oid: bytes | None, *, strict: bool) -> Facts:
        if oid is None:
            return Counter()
        return self._facts.get((b"!" + path if strict else path, oid), Counter())


def _importance(change: Change) -> tuple[bool, bytes]:
    """Manifests first: a commit over the limit is judged by them."""
    return not is_manifest(change.path.decode("utf-8", "replace")), change.path
