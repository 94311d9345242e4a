from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harbor_author.cli import words
from harbor_author.cli.complete import describe
from tests.conftest import REPOSITORY, AuthorRunner
from tests.output.terminal import Terminal


@pytest.fixture
def filled(suite_root: Path) -> Path:
    for name in ("H23-left-behind", "H24-renamed", "M15-jobs", "stray"):
        (suite_root / "tasks" / name).mkdir()
    (suite_root / "references" / "v0.1.2-alpha.2.md").write_text(
        "### DSH-0.1.2-A2-01 · One\n### DSH-0.1.2-A2-02 · Two\n", encoding="utf-8"
    )
    with (suite_root / "author.toml").open("a", encoding="utf-8") as toml:
        toml.write('\n[series.E]\ntitle = "executor"\nmode = "mutable"\nhost = "none"\n')
    return suite_root


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return describe()


def offered(author: AuthorRunner, cache: Path, folder: Path, *line: str) -> list[str]:
    """What a shell is offered for the last word of a command line."""
    done = author(*line, cwd=folder, env={"_AUTHOR_COMPLETE": "words", "XDG_CACHE_HOME": str(cache)})
    assert (done.status, done.err) == (0, "")
    rows = [row.split("\t") for row in done.out.splitlines()]
    return [word if kind == "word" else f"<{kind}>" for kind, word, _ in rows]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (["or"], ["oracle-check"]),
        (["rename", "H2"], ["H23", "H24"]),
        (["rename", "H23-"], ["H23-left-behind"]),
        (["validate", "H23", "H2"], ["H23", "H24"]),
        (["rename", "H23", ""], []),
        (["validate", "./"], ["<file>"]),
        (["proof", "c"], ["check"]),
        (["proof", "check", "M"], ["M15"]),
        (["cards", "show", "DSH"], ["DSH-0.1.2-A2-01", "DSH-0.1.2-A2-02"]),
        (["new", "--cards", "DSH-0.1.2-A2-01,DSH-0.1.2-A2-02"], ["DSH-0.1.2-A2-01,DSH-0.1.2-A2-02"]),
        (["new", "--series", ""], ["E", "H", "M", "S"]),
        (["new", "--series", "=", "E"], ["E"]),
        (["new", "--series=E"], ["--series=E"]),
        (["explain", "unconditional-r"], ["unconditional-reward"]),
        (["validate", "--select", "unconditional-r"], ["unconditional-reward"]),
        (["validate", "--format", "j"], ["json", "junit"]),
        (["oracle-check", "H23", "--ma"], ["--matrix"]),
        (["list", "--suite", ""], ["<dir>"]),
        (["absent", ""], []),
        (["-"], ["--version", "--help"]),
    ],
    ids=" ".join,
)
def test_words_that_fit(
    table: dict[str, Any], filled: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], wanted: list[str]
) -> None:
    monkeypatch.chdir(filled)
    found = words.offers(table, line[:-1], line[-1])
    assert [word if kind == "word" else f"<{kind}>" for kind, word, _ in found] == wanted


def test_the_suite_that_the_line_names_counts(
    author: AuthorRunner, cache: Path, filled: Path, tmp_path: Path
) -> None:
    assert offered(author, cache, tmp_path, "validate", "H") == []
    assert offered(author, cache, tmp_path, "validate", "--suite", str(filled), "H") == ["H23", "H24"]


def test_hostile_names_cannot_break_a_line(author: AuthorRunner, cache: Path, filled: Path) -> None:
    (filled / "references" / "x.md").write_bytes("### DSH-0.1.2-A2-03 · a\x1b[2J\tb\n".encode())
    done = author(
        "cards",
        "show",
        "DSH-0.1.2-A2-03",
        cwd=filled,
        env={"_AUTHOR_COMPLETE": "words", "XDG_CACHE_HOME": str(cache)},
    )
    assert done.out == "word\tDSH-0.1.2-A2-03\ta [2J b\n"


def test_a_cache_that_is_broken_or_cannot_be_written_costs_time_only(
    author: AuthorRunner, filled: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "broken"
    (folder / "harbor-author").mkdir(parents=True)
    (folder / "harbor-author" / "words.json").write_text('{"stamp": []}', encoding="utf-8")
    assert offered(author, folder, filled, "or") == ["oracle-check"]
    (tmp_path / "file").write_text("")
    assert offered(author, tmp_path / "file", filled, "or") == ["oracle-check"]


def test_a_key_press_is_answered_at_once(author: AuthorRunner, cache: Path, filled: Path) -> None:
    """Processor time of the whole process, task and card IDs included, beside that of an interpreter that does nothing.

    Target: 100 ms on a machine where bare Python takes 20.
    """
    offered(author, cache, filled, "validate", "H")

    def cost(*command: str, **environment: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command,
            env={"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(cache), **environment},
            cwd=filled,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    bare = min(cost(sys.executable, "-c", "pass") for _ in range(5))
    for line in (["validate", "H"], ["cards", "show", "D"]):
        taken = min(
            cost(sys.executable, "-m", "harbor_author", *line, _AUTHOR_COMPLETE="words") for _ in range(5)
        )
        assert taken < 5 * bare


#: Makes the terminal the session's own and lets it echo, as a shell wants it, and becomes the shell.
OWN_TERMINAL = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "modes = termios.tcgetattr(0); modes[3] |= termios.ECHO; termios.tcsetattr(0, termios.TCSANOW, modes)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
#: Of each shell: how it is started, its own file and what is in it, and the script's place, as a user would have them.
SHELLS = {
    "bash": (
        ["bash", "--rcfile", ".bashrc", "-i"],
        ".bashrc",
        "PS1='> '; bind 'set show-all-if-ambiguous on'; bind 'set enable-bracketed-paste off'; source author\n",
        "author",
    ),
    "zsh": (
        ["zsh", "-i"],
        ".zshrc",
        "PS1='> '; fpath=(~/functions $fpath); autoload -Uz compinit; compinit -u -d ~/dump\n",
        "functions/_author",
    ),
    "fish": (
        ["fish", "-i"],
        ".config/fish/config.fish",
        "set fish_greeting\nfunction fish_prompt; echo -n '> '; end\n",
        ".config/fish/completions/author.fish",
    ),
}
#: What is typed before Tab, and what is on the screen then: the rest of the only word, or all that fit.
TABS = {
    "author or": ["author oracle-check"],
    "author validate M": ["author validate M15"],
    "author rename H2": ["H23", "H24"],
    "author cards show DSH-0.1.2-A2-0": ["A2-01", "A2-02"],
    "author explain unconditional-r": ["author explain unconditional-reward"],
    "author oracle-check H23 --ma": ["author oracle-check H23 --matrix"],
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_tab_in_a_real_shell(
    author: AuthorRunner, cache: Path, filled: Path, tmp_path: Path, shell: str
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}; Debian has a package of that name")
    start, own, text, place = SHELLS[shell]
    home = tmp_path / "home"
    command = home / "bin" / "author"
    for path in (home / own, home / place, command):
        path.parent.mkdir(parents=True, exist_ok=True)
    (home / own).write_text(text, encoding="utf-8")
    (home / place).write_text(
        author("completion", shell, env={"XDG_CACHE_HOME": str(cache)}).out, encoding="utf-8"
    )
    command.write_text(f'#!/bin/sh\nPYTHONPATH={REPOSITORY} exec {sys.executable} -m harbor_author "$@"\n')
    command.chmod(0o755)
    start = [str(home / word) if word == own else word for word in start]
    start = [sys.executable, "-c", OWN_TERMINAL, *start]
    environment = {
        "HOME": str(home),
        "ZDOTDIR": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local"),
        "XDG_CACHE_HOME": str(cache),
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }
    if shell == "bash":
        (home / own).write_text(text.replace("source author", f"source {home / place}"), encoding="utf-8")
    with Terminal(start, columns=100, cwd=filled, env=environment) as terminal:
        terminal.until(lambda shown: shown.text.endswith(">"))
        for typed, wanted in TABS.items():
            terminal.type(f"{typed}\t")
            terminal.until(lambda shown, wanted=wanted: all(word in shown.text for word in wanted))
            terminal.type("\x15\x0c")  # empties the line, then the screen
            terminal.until(lambda shown: shown.text.strip() == ">")


def test_scripts_of_an_earlier_release_are_answered(author: AuthorRunner, filled: Path) -> None:
    env = {"_AUTHOR_COMPLETE": "bash_complete", "COMP_WORDS": "author rename H2", "COMP_CWORD": "2"}
    assert author(cwd=filled, env=env).out.split() == ["plain,H23", "plain,H24"]
