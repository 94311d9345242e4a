"""`author rules`: every rule of `author validate`."""

from __future__ import annotations

import click

from harbor_author.cli.common import author_command, json_option, print_json


@author_command("author rules", "author rules --json")
@json_option
def command(as_json: bool) -> int:
    """List every rule of `author validate`, by pack and theme."""
    from harbor_author.checks import all_rules
    from harbor_author.output import rules_text

    if as_json:
        print_json(rules_text.document(all_rules().values()))
    else:
        click.echo(rules_text.listing(all_rules().values()))
    return 0
