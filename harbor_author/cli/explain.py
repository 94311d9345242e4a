"""`author explain`: what a rule says, why, and what to do."""

from __future__ import annotations

import click

from harbor_author.cli.common import author_command
from harbor_author.cli.complete import rule_names


@author_command("author explain unconditional-reward")
@click.argument("rule", shell_complete=rule_names)
def command(rule: str) -> int:
    """Explain a rule of `author validate`: what is wrong, the real case behind it, bad, good, and the fix."""
    from harbor_author.checks import get_rule
    from harbor_author.output.rules_text import explain

    click.echo(explain(get_rule(rule)))
    return 0
