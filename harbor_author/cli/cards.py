"""`author cards`."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import (
    author_group,
    examples,
    json_option,
    open_suite,
    print_json,
    say,
    suite_option,
)
from harbor_author.cli.complete import card_ids
from harbor_author.suite import Card, SuiteError
from harbor_author.suite.coverage import card_coverage


@author_group("author cards list", "author cards show DSH-0.1.2-A3-01", "author cards coverage --json")
def command() -> None:
    """The suite's cards: each describes one change of the host."""


def _card_document(card: Card, root: Path) -> dict[str, object]:
    path = card.path.relative_to(root).as_posix() if card.path.is_relative_to(root) else str(card.path)
    return {"id": card.id, "title": card.title, "path": path, "line": card.line, "fields": dict(card.fields)}


@command.command("list", epilog=examples("author cards list", "author cards list --json"))
@suite_option
@json_option
def list_cards(suite_dir: Path | None, as_json: bool) -> int:
    """List every card; exits 1 when a card file is malformed."""
    suite = open_suite(suite_dir)
    cards = suite.cards()
    if as_json:
        print_json(
            {
                "schema": "author/cards/1",
                "cards": [_card_document(card, suite.root) for card in cards.cards.values()],
                "problems": [
                    {
                        "path": str(problem.path),
                        "line": problem.line,
                        "message": problem.message,
                        "fix": problem.fix,
                    }
                    for problem in cards.problems
                ],
            }
        )
    elif not cards.cards and not cards.problems:
        click.echo(f"No cards in {', '.join(str(path) for path in suite.reference_dirs)}.")
    else:
        from harbor_author.output.tables import table

        click.echo(
            table([(card.id, card.fields.get("type", "?"), card.title) for card in cards.cards.values()])
        )
        for problem in cards.problems:
            say(f"{problem.path}:{problem.line}: {problem.message}\n  fix: {problem.fix}", err=True)
    return 1 if cards.problems else 0


@command.command("show", epilog=examples("author cards show DSH-0.1.2-A3-01"))
@click.argument("card_id", metavar="CARD", shell_complete=card_ids)
@suite_option
@json_option
def show_card(card_id: str, suite_dir: Path | None, as_json: bool) -> None:
    """Print one card: its fields, where it is declared, which tasks cite it."""
    suite = open_suite(suite_dir)
    card = suite.cards().get(card_id)
    if card is None:
        near = suite.cards().nearest(card_id)
        raise SuiteError(
            f"no card {card_id} is declared in this suite",
            hint=f"did you mean {near}?" if near else "'author cards list' shows them",
        )
    cited_by = card_coverage(suite).cited_by.get(card.id, ())
    if as_json:
        print_json(
            {"schema": "author/card/1", **_card_document(card, suite.root), "cited_by": list(cited_by)}
        )
        return
    say(f"{card.id} · {card.title}\n  declared at {card.path}:{card.line}")
    for name, text in card.fields.items():
        say(f"  {name}: " + text.replace("\n", "\n    "))
    click.echo(f"  cited by: {', '.join(cited_by) or 'no task'}")


@command.command("coverage", epilog=examples("author cards coverage", "author cards coverage --json"))
@suite_option
@json_option
def coverage(suite_dir: Path | None, as_json: bool) -> None:
    """Say which cards no task covers, and which tasks cite what."""
    suite = open_suite(suite_dir)
    result = card_coverage(suite)
    if as_json:
        print_json(
            {
                "schema": "author/cards-coverage/1",
                "cards": {card: list(tasks) for card, tasks in result.cited_by.items()},
                "uncovered": list(result.uncovered),
                "tasks": {task: list(cards) for task, cards in result.cites.items()},
                "unknown": {task: list(cards) for task, cards in result.unknown.items()},
            }
        )
        return
    covered = len(result.cited_by) - len(result.uncovered)
    click.echo(f"{covered} of {len(result.cited_by)} cards are covered by a task.")
    for card_id in result.uncovered:
        say(f"  not covered: {card_id} · {suite.cards().cards[card_id].title}")
    for task, cards in result.cites.items():
        say(f"{task}: {', '.join(cards) or 'cites no card'}")
    if suite.cards().problems:
        click.echo(
            f"{len(suite.cards().problems)} problems in card files: 'author cards list' names them.", err=True
        )
    for task, cards in result.unknown.items():
        say(f"{task}: cites undeclared {', '.join(cards)}")
