"""`author completion`."""

from __future__ import annotations

import click

from harbor_author.cli.common import author_command


@author_command(
    "author completion bash > ~/.local/share/bash-completion/completions/author",
    'author completion zsh > "${fpath[1]}/_author"',
    "author completion fish > ~/.config/fish/completions/author.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that makes a shell complete commands, options, task IDs and card IDs."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    root = context.find_root()
    click.echo(completion(root.command, {}, "author", "_AUTHOR_COMPLETE").source())
