"""What mining found, for people."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harbor_author.output.text import printable

if TYPE_CHECKING:
    from harbor_author.mining.extract import Extraction
    from harbor_author.mining.survey import Candidate, Survey
    from harbor_author.mining.task import Extracted


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


def extract_document(made: Extracted) -> dict[str, Any]:
    """`extract --json`."""
    found = made.extraction
    return {
        "schema": "author/extract/1",
        "id": made.name.id,
        "name": str(made.name),
        "path": str(made.path),
        "commits": {
            "before": found.source.before,
            "after": found.source.after,
            "migration": list(found.source.commits),
        },
        "licence": found.licence.describe(),
        "fixture_files": len(found.fixture),
        "copies": list(found.plan.copies),
        "removals": list(found.plan.removals),
        "touch_points": [
            {
                "id": item.point.id,
                "title": item.point.title,
                "cards": list(item.point.cards),
                "points": item.points,
                "checks": [condition.describe() for condition in item.point.conditions],
            }
            for item in found.points
        ],
        "runtime": [
            {"id": check.id, "points": check.points, "says": check.says} for check in found.runtime.checks
        ],
        "dependencies": [
            {
                "name": item.name,
                "version": item.version,
                "declared": item.declared,
                "importers": list(item.importers),
            }
            for item in found.dependencies
        ],
        "left_out": [
            {"path": item.path, "why": item.why, "changed": item.changed} for item in found.left_out
        ],
        "edited": [{"path": edit.path, "what": edit.what} for edit in found.edits],
        "hints": [{"path": hint.path, "line": hint.line, "name": hint.name} for hint in found.hints],
        "remarks": list(found.remarks),
    }


def extract_text(made: Extracted, *, dry_run: bool, scrubbed: bool) -> str:
    """What was made, what stayed behind, and what the author must look at."""
    found = made.extraction
    lines = [f"{'Would make' if dry_run else 'Made'} {made.name} in {made.path}"]
    lines.append(
        f"  fixture: {len(found.fixture)} files before {found.source.commits[0][:10]}; reference: "
        f"{len(found.plan.copies)} copied, {len(found.plan.removals)} removed"
    )
    lines.append(f"  licence: {printable(found.licence.describe())}")
    for item in found.points:
        cards = f" [{', '.join(item.point.cards)}]" if item.point.cards else " [no card]"
        lines.append(f"  touch point: {printable(item.point.title)}{cards}: {item.points} points")
    lines += [
        f"  on the host: {printable(check.says)}: {check.points} points" for check in found.runtime.checks
    ]
    for package in found.dependencies:
        how = (
            "not declared for those who install it"
            if package.undeclared
            else f"declared in {package.declared}"
        )
        lines.append(f"  needs at start: {package.name} {package.version or '(no version known)'}, {how}")
    lines += [f"  left out: {printable(path)}" for path in _left_out(found)]
    lines += [f"  edited: {printable(edit.path)}: {edit.what}" for edit in found.edits]
    verb = "removed" if scrubbed else "gives the answer away (--scrub removes it)"
    lines += [
        f"  {printable(hint.path)}:{hint.line}: '{printable(hint.name)}' {verb}" for hint in found.hints
    ]
    lines += [f"  note: {printable(remark)}" for remark in found.remarks]
    if not dry_run and not made.locked:
        lines.append("  note: the install is not locked: npm is not here, or did not reach its registry")
    if not dry_run:
        lines += ["", "Next:", f"  author validate {made.name.id}", f"  author oracle-check {made.name.id}"]
        lines.append(f"  grep -rn 'TODO(author)' {shlex.quote(str(made.path))}")
    return "\n".join(lines)


def _left_out(found: Extraction) -> list[str]:
    """One line a reason, with up to three paths; a path that the migration changed is always named."""
    by_reason: dict[str, list[str]] = {}
    for item in found.left_out:
        by_reason.setdefault(item.why, []).append(
            item.path + (" (changed by the migration)" if item.changed else "")
        )
    lines = []
    for why, paths in by_reason.items():
        shown = sorted(paths, key=lambda path: not path.endswith(")"))[:3]
        more = f" and {len(paths) - len(shown)} more" if len(paths) > len(shown) else ""
        lines.append(f"{', '.join(shown)}{more}: {why}")
    return lines
