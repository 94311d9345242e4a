"""Shell scripts by their syntax tree: commands, the words they are given, where their output goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from harbor_author.checks.parsing import parse_bounded

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query, Tree

#: Stands in a word for what only the running shell knows.
UNKNOWN = "\ufffc"
_MAX_DEPTH = 60
#: Commands that run the command after them; the number of their own words besides options.
_WRAPPERS = {
    "sudo": 0, "env": 0, "exec": 0, "command": 0, "nohup": 0, "time": 0, "nice": 0, "ionice": 0, "stdbuf": 0,
    "setsid": 0, "builtin": 0, "timeout": 1, "xvfb-run": 0, "unbuffer": 0, "chronic": 0, "gosu": 1,
}  # fmt: skip
_OPTION_WITH_VALUE = {
    "sudo": ("-u", "-g", "-C", "-D", "-h", "-p"),
    "env": ("-u", "-C", "-S"),
    "timeout": ("-k", "-s", "--signal", "--kill-after"),
    "nice": ("-n",),
    "ionice": ("-c", "-n", "-p"),
    "stdbuf": ("-i", "-o", "-e"),
    "exec": ("-a",),
}
#: The grammar's scanner asks C's `isalpha` about whole code points and reads outside of its table (`{` and U+7F249 end
#: the process), so each byte that is no ASCII is a letter to it; places stay.
_LETTERS = bytes.maketrans(bytes(range(0x80, 0x100)), b"x" * 0x80)
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh"})


@dataclass(frozen=True)
class Redirect:
    """`operator target`; the target is "" for here-documents, whose text is `body`."""

    operator: str
    target: str
    body: str = ""


@dataclass(frozen=True)
class Command:
    """One simple command.

    Attributes:
        words: name and arguments as the shell would pass them, `UNKNOWN` for what cannot be known.
        line, column: 1-based in the file.
        node: its syntax node; None for a command inside the string of `sh -c`.
        nested: it stands inside the string of `sh -c` or `eval`.
        shell_line: the whole string of the `sh -c` that it stands in, else "".
    """

    words: tuple[str, ...]
    redirects: tuple[Redirect, ...]
    line: int
    column: int
    node: Node | None = field(default=None, compare=False, repr=False)
    nested: bool = False
    shell_line: str = ""

    @cached_property
    def argv(self) -> tuple[str, ...]:
        """The words after wrappers such as `timeout 60` and `sudo -u x`, and leading assignments."""
        return unwrap(self.words)

    @cached_property
    def name(self) -> str:
        """Base name of the program."""
        return self.argv[0].rsplit("/", 1)[-1] if self.argv else ""

    @cached_property
    def args(self) -> tuple[str, ...]:
        return self.argv[1:]

    @property
    def options(self) -> list[str]:
        return [word for word in self.args if word.startswith("-")]

    @property
    def operands(self) -> list[str]:
        return [word for word in self.args if not word.startswith("-")]


def unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """`words` without the programs that only run another."""
    while words:
        name = words[0].rsplit("/", 1)[-1]
        own = _WRAPPERS.get(name)
        if own is None:
            return words
        rest = list(words[1:])
        valued = _OPTION_WITH_VALUE.get(name, ())
        while rest and (rest[0].startswith("-") or (name == "env" and re.match(r"\w+=", rest[0]))):
            option = rest.pop(0)
            if option == "--":
                break
            if option in valued and rest:
                rest.pop(0)
        del rest[:own]
        if not rest:
            return words
        words = tuple(rest)
    return words


@dataclass(frozen=True)
class Script:
    """A parsed script. `source` is its text without carriage returns."""

    source: str
    first_line: int = 1

    @cached_property
    def data(self) -> bytes:
        return self.source.encode("utf-8", "surrogatepass")

    @cached_property
    def tree(self) -> Tree:
        return parse_bounded(_parser(), self.data.translate(_LETTERS))

    @property
    def root(self) -> Node:
        return self.tree.root_node

    @cached_property
    def interpreter(self) -> str:
        """Base name of the program in the `#!` line ("" without one)."""
        match = re.match(r"#!\s*(\S+)(?:[ \t]+(.*))?", self.source)
        if match is None:
            return ""
        name = match[1].rsplit("/", 1)[-1]
        if name == "env" and match[2]:
            words = [word for word in match[2].split() if not word.startswith("-")]
            return words[0].rsplit("/", 1)[-1] if words else "env"
        return name

    @cached_property
    def constants(self) -> dict[str, str]:
        """Variables with one value in the whole script, given as a literal."""
        values: dict[str, list[str]] = {}
        changing: set[str] = set()
        for node in self.nodes("variable_assignment", "for_statement", "command"):
            if node.type == "variable_assignment":
                name = node.child_by_field_name("name")
                value = node.child_by_field_name("value")
                if name is None or name.type != "variable_name":
                    continue
                appended = any(child.type == "+=" for child in node.children)
                text = "" if value is None else self.word(value, {})
                values.setdefault(self.slice(name), []).append(UNKNOWN if appended else text)
            elif node.type == "for_statement":
                loop = node.child_by_field_name("variable")
                if loop is not None:
                    changing.add(self.slice(loop))
            else:
                words = [self.slice(child) for child in node.named_children]
                if words and words[0] in ("read", "getopts", "mapfile", "readarray", "printf"):
                    changing.update(words[1:])
        found: dict[str, str] = {}
        for variable, texts in values.items():
            if variable not in changing and len(set(texts)) == 1 and UNKNOWN not in texts[0]:
                found[variable] = texts[0]
        # A second pass resolves constants made of constants, such as DIR=/logs; OUT=$DIR/reward.txt.
        for node in self.nodes("variable_assignment"):
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is None or value is None:
                continue
            key = self.slice(name)
            if key not in found and key not in changing and len(values.get(key, ())) == 1:
                text = self.word(value, found)
                if UNKNOWN not in text:
                    found[key] = text
        return found

    @cached_property
    def fault(self) -> tuple[int, int] | None:
        """Line and column of the first syntax error."""
        if not self.root.has_error:
            return None
        for node in self.nodes("ERROR", "MISSING"):
            return self.place(node)
        return (self.first_line, 1)

    @cached_property
    def commands(self) -> list[Command]:
        """Every simple command in order, those in substitutions and `sh -c` strings included."""
        found = []
        for node in self.nodes("command", "declaration_command", "test_command", "unset_command"):
            command = self.command(node)
            found.append(command)
            found.extend(_nested(command, 0))
        return found

    def command(self, node: Node) -> Command:
        """The simple command of a `command` node (or a test, whose words are then its text)."""
        line, column = self.place(node)
        if node.type == "test_command":
            return Command(("[", self.slice(node)), (), line, column, node)
        words: list[str] = []
        redirects: list[Redirect] = []
        for child in node.named_children:
            if child.type == "variable_assignment" and node.type == "command":
                continue
            if child.type.endswith("_redirect"):
                redirects += self.redirects(child)
            elif child.type == "command_name":
                words.append(self.word(child.named_children[0] if child.named_children else child))
            elif child.type != "comment":
                words.append(self.word(child))
        if node.type in ("declaration_command", "unset_command"):
            words.insert(0, self.slice(node.children[0]) if node.children else "")
        redirects += self._outer_redirects.get(node.id, ())
        return Command(tuple(words), tuple(redirects), line, column, node)

    @cached_property
    def _outer_redirects(self) -> dict[int, list[Redirect]]:
        """Node -> redirections that the grammar hangs on the list or pipeline which that command ends.

        From the top down: a node's way up costs as much as it lies deep.
        """
        found: dict[int, list[Redirect]] = {}
        for statement in self.nodes("redirected_statement"):
            own = [
                r for c in statement.named_children if c.type.endswith("_redirect") for r in self.redirects(c)
            ]
            leaf = statement.child_by_field_name("body")
            while leaf is not None and leaf.type in (
                "list",
                "pipeline",
                "redirected_statement",
                "negated_command",
            ):
                if leaf.type == "redirected_statement":
                    leaf = leaf.child_by_field_name("body")
                else:
                    leaf = leaf.named_children[-1] if leaf.named_children else None
            if leaf is not None:
                found.setdefault(leaf.id, []).extend(own)
        return found

    def redirects(self, node: Node) -> list[Redirect]:
        """One redirection; a here-document carries those that follow it on its line."""
        operator = next((self.slice(c) for c in node.children if not c.is_named), "")
        if node.type == "heredoc_redirect":
            body = next((self.slice(c) for c in node.named_children if c.type == "heredoc_body"), "")
            found = [Redirect("<<", "", body)]
            for child in node.named_children:
                if child.type.endswith("_redirect"):
                    found += self.redirects(child)
            return found
        if node.type == "herestring_redirect":
            return [Redirect("<<<", "", self.slice(node)[3:].strip())]
        destination = node.child_by_field_name("destination")
        fd = next((self.slice(c) for c in node.named_children if c.type == "file_descriptor"), "")
        return [Redirect(fd + operator, self.word(destination) if destination is not None else "")]

    def word(self, node: Node, constants: dict[str, str] | None = None, depth: int = 0) -> str:
        """What the shell makes of a word, `UNKNOWN` where that depends on the run."""
        if depth > _MAX_DEPTH:
            return UNKNOWN
        kind = node.type
        if kind in ("word", "number", "special_variable_name", "variable_name"):
            return _unescaped(self.slice(node))
        if kind == "raw_string":
            return self.slice(node)[1:-1]
        if kind == "ansi_c_string":
            return _unescaped(self.slice(node)[2:-1])
        if kind == "simple_expansion":
            known = self.constants if constants is None else constants
            return known.get(self.slice(node)[1:], UNKNOWN)
        if kind == "expansion":
            known = self.constants if constants is None else constants
            match = re.fullmatch(r"\$\{(\w+)\}", self.slice(node))
            return known.get(match[1], UNKNOWN) if match else UNKNOWN
        if kind in ("string", "translated_string", "concatenation"):
            return self._joined(node, constants, depth)
        if kind in ("command_substitution", "process_substitution", "arithmetic_expansion"):
            return UNKNOWN
        if kind == "command_name":
            return "".join(self.word(c, constants, depth + 1) for c in node.named_children)
        return self.slice(node)

    def _joined(self, node: Node, constants: dict[str, str] | None, depth: int) -> str:
        parts = []
        end = node.start_byte + (1 if node.type == "string" else 0)
        for child in node.named_children:
            if node.type == "string" and child.start_byte > end:
                # tree-sitter gives no node to blanks between two expansions of a string.
                parts.append(self.data[end : child.start_byte].decode("utf-8", "replace"))
            if child.type == "string_content":
                parts.append(re.sub(r"\\([\\\"$`])", r"\1", self.slice(child)))
            else:
                parts.append(self.word(child, constants, depth + 1))
            end = child.end_byte
        if node.type == "string" and node.end_byte - 1 > end:
            parts.append(self.data[end : node.end_byte - 1].decode("utf-8", "replace"))
        return "".join(parts)

    def slice(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def place(self, node: Node) -> tuple[int, int]:
        row, column = node.start_point
        return row + self.first_line, column + 1

    @cached_property
    def _by_type(self) -> dict[str, list[Node]]:
        return {}

    def nodes(self, *types: str) -> list[Node]:
        """All nodes of some types, in order of the text."""
        from tree_sitter import QueryCursor

        key = " ".join(types)
        if key not in self._by_type:
            found = QueryCursor(_query(key)).captures(self.root).get("found", [])
            # A query of several patterns gives its captures by pattern.
            self._by_type[key] = sorted(found, key=lambda n: (n.start_byte, -n.end_byte))
        return self._by_type[key]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text


def _nested(command: Command, depth: int) -> Iterator[Command]:
    """The commands in the string of `sh -c STRING` and `eval STRING`."""
    if depth > 3:
        return
    text = shell_string(command.argv)
    if not text:
        return
    inner = parse_script(text)
    for found in inner.commands:
        yield Command(
            found.words, found.redirects, command.line + found.line - 1, command.column, None, True, text
        )


def shell_string(argv: tuple[str, ...]) -> str:
    """The script given to `sh -c`, or "" when the command is no such thing."""
    if not argv:
        return ""
    name = argv[0].rsplit("/", 1)[-1]
    if name == "eval":
        return " ".join(argv[1:])
    if name in SHELLS or name == "su":
        for index, word in enumerate(argv[1:-1], 1):
            if re.fullmatch(r"-[a-z]*c[a-z]*", word):
                return argv[index + 1]
    return ""


@lru_cache(maxsize=4096)
def parse_script(source: str, first_line: int = 1) -> Script:
    """The script of a text; equal texts are parsed once in a process."""
    return Script(source, first_line)


@lru_cache(maxsize=1)
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


@lru_cache(maxsize=1)
def _parser() -> Parser:
    from tree_sitter import Parser

    return Parser(_language())


@lru_cache(maxsize=64)
def _query(types: str) -> Query:
    from tree_sitter import Query

    return Query(_language(), f"[{' '.join(f'({kind})' for kind in types.split())}] @found")
