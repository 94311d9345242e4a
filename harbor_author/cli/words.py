"""What a shell is offered at a key press, without click: importing that alone would take as long as it may all take.

A table of commands, options and rules is made from click's own once, and kept as `words.json` in
`$XDG_CACHE_HOME/harbor-author` until a command's or a rule's file changes. IDs are read from names of files and from
headings at each press.
"""

from __future__ import annotations

import json
import os
import re
import sys

TYPE_CHECKING = False  # typing itself takes a tenth of what a key press may take
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SUITE_FILE = "author.toml"
_TASK = re.compile(r"([A-Z][1-9][0-9]*)-([a-z0-9]+(?:-[a-z0-9]+)*)")
_CARD = re.compile(
    rb"^### (DSH-\d+\.\d+\.\d+-[AR]\d+-\d{2}|(?:R|API|CFG)-\d{2}) +\xc2\xb7 +([^\r\n]*)", re.MULTILINE
)


def suite_root(start: str) -> str | None:
    """The nearest folder with an author.toml, from `start` upwards."""
    here = os.path.realpath(start)
    while not os.path.isfile(os.path.join(here, SUITE_FILE)):  # noqa: PTH113, PTH118 - pathlib costs as much as the rest
        above = os.path.dirname(here)  # noqa: PTH120
        if above == here:
            return None
        here = above
    return here


def tasks(root: str | None, begun: str) -> list[tuple[str, str]]:
    """IDs of the suite's tasks; whole names once an ID is followed by a hyphen."""
    try:
        names = os.listdir(f"{root}/tasks") if root else []  # noqa: PTH208
    except OSError:
        return []
    found = [match for match in map(_TASK.fullmatch, names) if match and match[0].startswith(begun)]
    found.sort(key=lambda match: (match[1][0], int(match[1][1:]), match[2]))
    return [(match[0] if begun.startswith(f"{match[1]}-") else match[1], match[2]) for match in found]


def cards(root: str | None, begun: str) -> list[tuple[str, str]]:
    """IDs of cards in the default references folder, with titles; after a comma, the next of a list."""
    before, comma, last = begun.rpartition(",")
    found = []
    for folder, _, names in sorted(os.walk(f"{root}/references")) if root else []:
        for name in sorted(names):
            if not name.endswith(".md"):
                continue
            try:
                with open(f"{folder}/{name}", "rb") as file:  # noqa: PTH123
                    text = file.read()
            except OSError:
                continue
            for match in _CARD.finditer(text):
                if match[1].decode().startswith(last):
                    found.append((before + comma + match[1].decode(), match[2].decode("utf-8", "replace")))
    return found


def series(root: str | None) -> list[str]:
    """The letters of the suite's series, those that every suite has among them."""
    try:
        with open(f"{root}/{SUITE_FILE}", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            declared = re.findall(r"^\[series\.([A-Z])\]", file.read(), re.MULTILINE)
    except OSError:
        return []
    return sorted({"H", "M", "S", *declared})


def offers(table: dict[str, Any], words: list[str], begun: str) -> Iterator[tuple[str, str, str]]:
    """What fits after `words` for a word that begins with `begun`: kind (`word`, `file`, `dir`), word, what is said."""
    command, options, positions = table, {**table["options"]}, 0
    pending: str | None = None
    start = "."
    for word in words:
        if word == "=":  # bash takes --option=value apart
            continue
        if pending is not None:
            start = word if pending == "--suite" else start
            pending = None
        elif word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            if name == "--suite" and equals:
                start = value
            elif not equals and options.get(name, {}).get("value") is not None:
                pending = name
        elif "commands" in command:
            if word not in command["commands"]:
                return
            command = command["commands"][word]
            options = command["options"]
        else:
            positions += 1
    prefix = ""
    if pending is None and begun.startswith("--") and "=" in begun:
        pending, _, begun = begun.partition("=")
        prefix = f"{pending}="
    if begun == "=":
        begun = ""
    if pending is not None:
        kind = options.get(pending, {}).get("value")
    elif begun.startswith("-"):
        yield from (
            ("word", name, entry["help"]) for name, entry in options.items() if name.startswith(begun)
        )
        return
    elif "commands" in command:
        for name, entry in command["commands"].items():
            if name.startswith(begun):
                yield "word", name, entry["help"]
        return
    else:
        arguments = command["arguments"]
        last = arguments[-1] if arguments and command["repeats"] else None
        kind = arguments[positions] if positions < len(arguments) else last
    for offer, word, said in _values(table, kind, begun, start):
        yield offer, prefix + word, said


def _values(table: dict[str, Any], kind: Any, begun: str, start: str) -> Iterator[tuple[str, str, str]]:
    if kind in ("file", "dir") or (kind == "task" and ("/" in begun or begun.startswith("."))):
        yield "dir" if kind == "dir" else "file", begun, ""
        return
    found: list[tuple[str, str]] = []
    if kind == "task":
        found = tasks(suite_root(start), begun)
    elif kind == "card":
        found = cards(suite_root(start), begun)
    elif kind == "series":
        found = [(letter, "") for letter in series(suite_root(start)) if letter.startswith(begun)]
    elif kind == "rule":
        found = [(name, said) for name, said in table["rules"].items() if name.startswith(begun)]
    elif isinstance(kind, list):
        found = [(word, "") for word in kind if word.startswith(begun)]
    for word, said in found:
        yield "word", word, said


def main() -> None:
    """Print what fits the command line in the arguments, the last being begun: `kind TAB word TAB text` a line."""
    *words, begun = sys.argv[1:] or [""]
    lines = []
    for kind, word, said in offers(table(), words, begun):
        lines.append("\t".join(re.sub(r"[\x00-\x1f\x7f]", " ", part) for part in (kind, word, said)) + "\n")
    sys.stdout.buffer.write("".join(lines).encode("utf-8", "replace"))


def table() -> dict[str, Any]:
    """Commands, options and rules: as kept, else made anew and kept where that can be."""
    stamp = _stamp()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    path = f"{cache}/harbor-author/words.json"
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            kept = json.load(file)
        if kept["stamp"] == stamp:
            return dict(kept["table"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    from harbor_author.cli.complete import describe

    made = describe()
    _keep(path, json.dumps({"stamp": stamp, "table": made}))
    return made


def _stamp() -> list[Any]:
    """What changes whenever a command or a rule does."""
    here = os.path.dirname(__file__)  # noqa: PTH120
    seen = []
    for folder in (here, f"{here}/../checks/rules"):
        for entry in os.scandir(folder):
            if entry.name.endswith(".py"):
                status = entry.stat()
                seen.append([entry.name, status.st_mtime_ns, status.st_size])
    return sorted(seen)


def _keep(path: str, text: str) -> None:
    from pathlib import Path

    aside = f"{path}.{os.getpid()}"
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(aside).write_text(text, encoding="utf-8")
        Path(aside).replace(path)
    except OSError:
        return  # the next key press is slow again
