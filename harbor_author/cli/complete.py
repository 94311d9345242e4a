"""What the commands' arguments are completed by. `words` does the work, without click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from harbor_author.cli import words


def task_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """IDs of the suite's tasks, each with its name as help; paths when the word looks like one."""
    if "/" in incomplete or incomplete.startswith("."):
        return [CompletionItem(incomplete, type="file")]
    return _items(words.tasks(_root(context), incomplete))


def card_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Card IDs of the default references folder, with titles; after a comma, the next of a list."""
    return _items(words.cards(_root(context), incomplete))


def rule_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the rules of `author validate`."""
    return _items([(name, said) for name, said in _rules().items() if name.startswith(incomplete)])


#: How `words` calls what these offer.
_KINDS: dict[Callable[..., Any], str] = {task_names: "task", card_ids: "card", rule_names: "rule"}

_METAVARS = {"RULE": "rule", "LETTER": "series", "DIR": "dir"}


def describe() -> dict[str, Any]:
    """The table of `words`: every command with its options and arguments, and the rules."""
    from harbor_author.cli.main import COMMANDS, cli

    with click.Context(cli, info_name="author") as context:
        commands = {}
        for name, (_, text) in COMMANDS.items():
            command = cli.get_command(context, name)
            assert command is not None
            commands[name] = {**_described(command), "help": text}
        return {**_described(cli), "commands": commands, "rules": _rules()}


def _described(command: click.Command) -> dict[str, Any]:
    context = click.Context(command)
    options: dict[str, Any] = {}
    arguments: list[Any] = []
    repeats = False
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option):
            takes = None if parameter.is_flag or parameter.is_eager else _kind(parameter)
            for name in (*parameter.opts, *parameter.secondary_opts):
                if name.startswith("--"):
                    options[name] = {"help": parameter.help or "", "value": takes}
        else:
            arguments.append(_kind(parameter))
            repeats = repeats or parameter.nargs == -1
    found: dict[str, Any] = {
        "help": command.get_short_help_str(100),
        "options": options,
        "arguments": arguments,
        "repeats": repeats,
    }
    if isinstance(command, click.Group) and command.name != "cli":
        found["commands"] = {name: _described(inner) for name, inner in command.commands.items()}
    return found


def _kind(parameter: click.Parameter) -> str | list[str]:
    named = _KINDS.get(getattr(parameter, "_custom_shell_complete", None) or _kind)
    named = named or _METAVARS.get(parameter.metavar or "")
    if named is not None:
        return named
    if isinstance(parameter.type, click.Choice):
        return [str(choice) for choice in parameter.type.choices]
    if isinstance(parameter.type, click.Path):
        return "file" if parameter.type.file_okay else "dir"
    return "text"


def _items(offers: list[tuple[str, str]]) -> list[CompletionItem]:
    return [CompletionItem(word, help=said) for word, said in offers]


def _root(context: click.Context) -> str | None:
    return words.suite_root(str(context.params.get("suite_dir") or "."))


def _rules() -> dict[str, str]:
    from harbor_author.checks import all_rules

    return {name: rule.what.partition("\n")[0] for name, rule in all_rules().items()}
