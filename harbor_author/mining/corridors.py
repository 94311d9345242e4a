"""Several commits that are one migration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harbor_author.mining.survey import Candidate

_APART_S = 3 * 86_400
_LONGEST = 6
#: What two commits on different files of one package must score each to be taken for one migration.
_TELLING = 20
_INNER = frozenset({b".dsh-plugin", b"src", b"lib", b"client", b"server", b"web", b"host"})


def join_corridors(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Offer candidates on the same files, or telling ones on the same package, within three days as one.

    Commits stand oldest first.

    A member that already is another's follow-up fix is not offered a second time.
    """
    joined: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.time_s):
        home = next((index for index, other in enumerate(joined) if _one_migration(other, candidate)), None)
        if home is None:
            joined.append(candidate)
        else:
            joined[home] = _join(joined[home], candidate)
    return joined


def _one_migration(earlier: Candidate, later: Candidate) -> bool:
    if later.commits[0] in earlier.commits:
        return True
    if len(earlier.commits) >= _LONGEST or not 0 <= later.time_s - earlier.time_s <= _APART_S:
        return False
    if not earlier.paths.isdisjoint(later.paths):
        return True
    telling = min(earlier.score, later.score) >= _TELLING
    return telling and not _packages(earlier).isdisjoint(_packages(later))


def _packages(candidate: Candidate) -> set[bytes]:
    """The folders of the packages that a candidate touches: what stands before `src`, `.dsh-plugin` and the like."""
    found = set()
    for path in candidate.paths:
        folders = path.split(b"/")[:-1]
        inner = next((index for index, folder in enumerate(folders) if folder in _INNER), len(folders))
        found.add(b"/".join(folders[:inner]))
    return found


def _join(earlier: Candidate, later: Candidate) -> Candidate:
    commits = (*earlier.commits, *(oid for oid in later.commits if oid not in earlier.commits))
    best, other = (earlier, later) if earlier.score >= later.score else (later, earlier)
    reasons = (*best.reasons, *(reason for reason in other.reasons if reason not in best.reasons))
    return replace(
        best,
        commits=commits,
        score=min(100, best.score + min(4, other.score // 10)),
        reasons=reasons if len(commits) == 1 else (f"a corridor of {len(commits)} commits", *reasons),
        cards=tuple(dict.fromkeys((*earlier.cards, *later.cards))),
        time_s=earlier.time_s,
        paths=earlier.paths | later.paths,
    )
