"""What mining found, for people."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from harbor_author.output.text import printable

if TYPE_CHECKING:
    from harbor_author.mining.survey import Candidate, Survey


def survey_text(found: Survey, repository: Path) -> str:
    """Candidates with their reasons, best first, and the command that makes a task of the best."""
    if not found.candidates:
        return f"{found.commits:,} commits read; none looks forced by the host."
    lines = [f"{found.commits:,} commits read; the likeliest first."]
    for candidate in found.candidates:
        span = " .. ".join(oid[:10] for oid in dict.fromkeys((candidate.commits[0], candidate.commits[-1])))
        lines += ["", f"{candidate.score:>3}  {span}  {candidate.date}  {printable(candidate.subject)[:100]}"]
        if candidate.cards:
            lines.append(f"     cards: {', '.join(candidate.cards)}")
        lines += [f"     - {printable(reason)}" for reason in candidate.reasons]
    return "\n".join([*lines, "", f"Next: {_next_command(found.candidates[0], repository)}"])


def _next_command(candidate: Candidate, repository: Path) -> str:
    command = f"author extract {shlex.quote(str(repository))} {candidate.commits[-1][:12]} --series M"
    return command if len(candidate.commits) == 1 else f"{command} --from {candidate.commits[0][:12]} --trap"
