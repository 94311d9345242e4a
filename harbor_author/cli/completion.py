"""`author completion`."""

from __future__ import annotations

import click

from harbor_author.cli.common import author_command

_BASH = """\
# Completion of author for bash. Each word that fits comes as "kind TAB word TAB text".
_author_complete() {
    local kind word said
    COMPREPLY=()
    while IFS=$'\\t' read -r kind word said; do
        case $kind in
            word) COMPREPLY+=("$word") ;;
            file) compopt -o default 2>/dev/null ;;
            dir) compopt -o dirnames 2>/dev/null ;;
        esac
    done < <(_AUTHOR_COMPLETE=words author "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o nosort -F _author_complete author
"""
_ZSH = """\
#compdef author
# Completion of author for zsh. Each word that fits comes as "kind TAB word TAB text".
_author() {
    local -a offers
    local kind word said
    while IFS=$'\\t' read -r kind word said; do
        case $kind in
            word) offers+=("${word//:/\\\\:}${said:+:$said}") ;;
            file) _files ;;
            dir) _files -/ ;;
        esac
    done < <(_AUTHOR_COMPLETE=words author "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#offers )) && _describe -V author offers
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _author "$@"
else
    compdef _author author
fi
"""
_FISH = """\
# Completion of author for fish. Each word that fits comes as "kind TAB word TAB text".
function _author_complete
    set -l begun (commandline -ct)
    set -l before (commandline -opc)
    for line in (_AUTHOR_COMPLETE=words author $before[2..-1] "$begun" 2>/dev/null)
        set -l part (string split \\t -- $line)
        switch $part[1]
            case word
                printf '%s\\t%s\\n' $part[2] "$part[3]"
            case file
                __fish_complete_path "$begun"
            case dir
                __fish_complete_directories "$begun"
        end
    end
end
complete --command author --no-files --keep-order --arguments '(_author_complete)'
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@author_command(
    "author completion bash > ~/.local/share/bash-completion/completions/author",
    'author completion zsh > "${fpath[1]}/_author"',
    "author completion fish > ~/.config/fish/completions/author.fish",
)
@click.argument("shell", type=click.Choice(list(_SCRIPTS)))
def command(shell: str) -> None:
    """Print the script that makes a shell complete commands, options, and IDs of tasks, cards and rules."""
    from harbor_author.cli import words

    words.table()  # so that the first key press finds it made
    click.echo(_SCRIPTS[shell], nl=False)
