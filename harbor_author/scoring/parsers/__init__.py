"""Reports of agents read into findings, as the reference's three parsers read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harbor_author.scoring.errors import ScoringError
from harbor_author.scoring.parsers.critic import parse_critic, parse_harsh_critic
from harbor_author.scoring.parsers.generic import parse_generic
from harbor_author.scoring.parsers.model import ParsedReport, PerspectiveNotes, ReportFinding

__all__ = ["PARSERS", "ParsedReport", "PerspectiveNotes", "ReportFinding", "parse_report"]

PARSERS: Mapping[str, Callable[[str], ParsedReport]] = {
    "generic": parse_generic,
    "harsh-critic": parse_harsh_critic,
    "critic": parse_critic,
}


def parse_report(report: str, parser: str) -> ParsedReport:
    """Read `report` with the parser of that name: generic, harsh-critic or critic.

    Raises:
        ScoringError: there is no such parser.
    """
    parse = PARSERS.get(parser)
    if parse is None:
        raise ScoringError(f"there is no parser '{parser}'", hint=f"one of: {', '.join(PARSERS)}")
    return parse(report)
