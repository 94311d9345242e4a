"""What a test script leaves in the reward file, over every path through it.

An abstract run: a state is the set of things that the reward file may hold at a point. `if`, `&&`, `||` and `case`
split it, an exit ends it, a redirection or a judge's program replaces it. Loops run at most once; functions are
followed where they are called.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from harbor_author.checks.programs import COMPARERS, HARMLESS, INTERPRETERS, OWN_PLACES
from harbor_author.checks.script import UNKNOWN, Command, Redirect, Script, parse_script

if TYPE_CHECKING:
    from tree_sitter import Node

#: unwritten, a literal zero, a literal above zero, computed or read from somewhere.
Value = Literal["unwritten", "zero", "positive", "computed"]
State = frozenset[Value]
REWARD_FILE = re.compile(r"(?:^|/)reward\.(?:txt|json)$")
REWARD_NAME = re.compile(r"\breward\.(?:txt|json)\b")
_NOTHING: State = frozenset()
#: Stands in a program's text for what the shell puts there.
SHELLS = "given_by_the_shell"
_START: State = frozenset({"unwritten"})
_MAX_DEPTH = 80
#: Statements looked at in one run; functions that call each other twice would take for ever.
_MAX_STATEMENTS = 20_000


@dataclass(frozen=True)
class Write:
    """One place that writes the reward."""

    value: Value
    line: int
    column: int


@dataclass
class Outcome:
    """What is known of a script's run.

    Attributes:
        end: what the reward file may hold at the end, over all paths.
        writes: every place that writes it, in order.
        unwritten_at: (line, why) of ends that come without a reward.
        reads: (line, column) of places that read the file before anything surely wrote or removed it.
        opaque: it runs a program that we cannot see into, which may write the reward.
        unreached: a statement that no path comes to names the reward.
    """

    end: State = _NOTHING
    writes: list[Write] = field(default_factory=list)
    unwritten_at: list[tuple[int, str]] = field(default_factory=list)
    reads: list[tuple[int, int]] = field(default_factory=list)
    opaque: bool = False
    unreached: bool = False


@dataclass(frozen=True)
class Habit:
    """What a program does with the reward.

    Attributes:
        writes: whether it writes one, and whether it does so also when it fails midway.
        line: of its own text, on which it writes a literal reward above zero without having looked at anything.
    """

    writes: Literal["no", "may", "always"] = "no"
    line: int | None = None

    @property
    def value(self) -> Value:
        return "computed" if self.line is None else "positive"


NO_HABIT = Habit()
#: What a program does with the reward: given its path below /tests and "", or its file's name and its text.
Delegate = Callable[[str, str], Habit]


def analyse(script: Script, delegate: Delegate, *, allow_refusal: bool = False) -> Outcome:
    """Follow every path through a test script.

    Args:
        allow_refusal: a non-zero exit without a reward is meant (`on_error = "no-reward"`).
    """
    return _Flow(script, delegate, allow_refusal).run()


class _Flow:
    def __init__(self, script: Script, delegate: Delegate, allow_refusal: bool) -> None:
        self.script = script
        self.delegate = delegate
        self.allow_refusal = allow_refusal
        self.outcome = Outcome()
        self.functions: dict[str, Node] = {}
        self.calls: list[str] = []
        #: What `$1`, `$2` ... are in the function that is being followed.
        self.given: dict[str, str] = {}
        self.errexit = bool(re.match(r"#!.*\s-\w*e", script.source))
        #: Text and line of what runs at the end, and of what runs when `set -e` ends it.
        self.traps: dict[str, tuple[str, int]] = {}
        self.trapped = False
        self.cleared = False
        self.statements = 0
        self.conditions: list[str] = []
        self.ordered = [c for c in script.commands if c.node is not None]
        self.starts = [c.node.start_byte for c in self.ordered if c.node is not None]

    def run(self) -> Outcome:
        for node in self.script.nodes("function_definition"):
            name = node.child_by_field_name("name")
            if name is not None:
                self.functions[self.script.slice(name)] = node
        state = self.sequence(self.script.root.named_children, _START, 0)
        if state:
            last = self.script.source.rstrip().count("\n") + self.script.first_line
            self.finish(state, last, "it can reach its end without writing one")
        return self.outcome

    def finish(self, state: State, line: int, why: str, *, failed: bool = False) -> None:
        for signal in ("ERR", "EXIT") if failed else ("EXIT",):
            if signal in self.traps and state and not self.trapped:
                self.trapped = True
                state = self.run_trap(*self.traps[signal], state)
                self.trapped = False
        if "unwritten" in state:
            self.outcome.unwritten_at.append((line, why))
        self.outcome.end |= state

    def run_trap(self, text: str, line: int, state: State) -> State:
        words = text.split()
        errexit, self.errexit = self.errexit, False
        try:
            if words and words[0] in self.functions and not re.search(r"[;&|\n]", text):
                body = self.functions[words[0]].child_by_field_name("body")
                if body is None:
                    return state
                end = self.outcome.end
                self.outcome.end = _NOTHING
                good, bad = self.statement(body, state, 1)
                # An `exit` of its own ends the script with what it has written so far.
                after, self.outcome.end = good | bad | self.outcome.end, end
                return after
            known = self.script.constants
            text = re.sub(r"\$\{?(\w+)\}?", lambda m: known.get(m[1], m[0]), text)
            inner = _Flow(parse_script(text, line), self.delegate, True)
            after = inner.sequence(inner.script.root.named_children, state, 1) | inner.outcome.end
            self.outcome.writes += [w for w in inner.outcome.writes if w not in self.outcome.writes]
            return after
        finally:
            self.errexit = errexit

    # -- statements: each returns the states after success and after failure

    def sequence(self, nodes: Iterable[Node], state: State, depth: int) -> State:
        for node in nodes:
            if not state:
                self.outcome.unreached |= REWARD_NAME.search(self.script.slice(node)) is not None
                continue
            if node.type in ("comment", "function_definition", "heredoc_body"):
                continue
            good, bad = self.statement(node, state, depth)
            if self.errexit and bad and self.risky(node):
                line, _ = self.script.place(node)
                self.finish(bad, line, "`set -e` ends it here when this fails", failed=True)
                bad = _NOTHING
            state = good | bad
        return state

    def statement(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...] = ()
    ) -> tuple[State, State]:
        self.statements += 1
        if depth > _MAX_DEPTH or self.statements > _MAX_STATEMENTS or not state:
            return state, state
        handler = getattr(self, f"_{node.type}", None)
        if handler is not None:
            good, bad = handler(node, state, depth + 1, redirects)
            return good, bad
        return state, state

    def _command(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        command = self.script.command(node)
        if redirects:
            command = Command(command.words, redirects, command.line, command.column, node)
        return self.command(command, state, depth)

    _declaration_command = _command
    _unset_command = _command

    def _redirected_statement(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        own: list[Redirect] = list(redirects)
        piped: list[Node] = []
        for child in node.named_children:
            if child.type.endswith("_redirect"):
                own += self.script.redirects(child)
                piped += [c for c in child.named_children if c.type in ("pipeline", "command", "list")]
        body = node.child_by_field_name("body")
        if body is None:
            return self.write_by_redirect(own, "", node, state, "zero"), _NOTHING
        if body.type in ("list", "command", "pipeline", "negated_command", "declaration_command"):
            good, bad = self.statement(body, state, depth, tuple(own))
        else:
            good, bad = self.statement(body, state, depth)
            good = self.write_by_redirect(own, "", node, good, "computed")
            bad = self.write_by_redirect(own, "", node, bad, "computed")
        for pipe in piped:
            good, bad = self.statement(pipe, good | bad, depth)
        return good, bad

    def _list(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        parts = node.named_children
        operator = next((c.type for c in node.children if c.type in ("&&", "||")), "")
        if len(parts) != 2 or not operator:
            return self.sequence(parts, state, depth), _NOTHING
        good, bad = self.statement(parts[0], state, depth)
        self.conditions.append(self.script.slice(parts[0]))
        try:
            if operator == "&&":
                then_good, then_bad = self.statement(parts[1], good, depth, redirects)
                return then_good, bad | then_bad
            else_good, else_bad = self.statement(parts[1], bad, depth, redirects)
            return good | else_good, else_bad
        finally:
            self.conditions.pop()

    def _pipeline(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        parts = node.named_children
        bad = state
        last_command = self.script.command(parts[-1]) if parts[-1].type == "command" else None
        if len(parts) == 2 and last_command is not None and last_command.name == "tee":
            fed = self.script.command(parts[0]) if parts[0].type == "command" else None
            if fed is not None and any(REWARD_FILE.search(a) for a in last_command.operands):
                if "-a" in last_command.options:
                    self.read(last_command.line, last_command.column, state)
                written = self.written(last_command, _weigh(self.literal(fed)))
                return written, written
        for part in parts:
            last = part == parts[-1]
            good, bad = self.statement(part, state, depth, redirects if last else ())
            state = good | (bad if not last else _NOTHING)
        return state, bad

    def _negated_command(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        if not node.named_children:
            return state, state
        good, bad = self.statement(node.named_children[-1], state, depth, redirects)
        return bad, good

    def _variable_assignment(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        for inner in node.named_children:
            if inner.type in ("command_substitution", "string"):
                state = self.inner_writes(inner, state)
        return state, state

    def _test_command(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        return self.test(self.script.slice(node), node, state)

    def _if_statement(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        condition, body, others = _split_if(node)
        result: State = _NOTHING
        good, bad = self.condition(condition, state, depth)
        self.conditions.append(" ".join(self.script.slice(c) for c in condition))
        result |= self.sequence(body, good, depth)
        for other in others:
            if other.type == "elif_clause":
                condition, body, _ = _split_if(other)
                good, bad_next = self.condition(condition, bad, depth)
                self.conditions[-1] += " " + " ".join(self.script.slice(c) for c in condition)
                result |= self.sequence(body, good, depth)
                bad = bad_next
            else:
                result |= self.sequence(other.named_children, bad, depth)
                bad = _NOTHING
        self.conditions.pop()
        return result | bad, _NOTHING

    def condition(self, nodes: list[Node], state: State, depth: int) -> tuple[State, State]:
        for node in nodes[:-1]:
            good, bad = self.statement(node, state, depth)
            state = good | bad
        return self.statement(nodes[-1], state, depth) if nodes else (state, state)

    def _case_statement(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        result: State = _NOTHING
        complete = False
        self.conditions.append(self.script.slice(node)[:200])
        for item in node.named_children:
            if item.type == "case_item":
                patterns = item.children_by_field_name("value")
                complete |= any(self.script.slice(p) == "*" for p in patterns)
                body = [c for c in item.named_children if c not in patterns]
                result |= self.sequence(body, state, depth)
        self.conditions.pop()
        return result if complete else result | state, _NOTHING

    def _for_statement(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        body = node.child_by_field_name("body")
        inside = self.sequence(body.named_children, state, depth) if body is not None else state
        return state | inside, _NOTHING

    _while_statement = _for_statement
    _c_style_for_statement = _for_statement

    def _compound_statement(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        children = node.named_children
        if not children:
            return state, _NOTHING
        state = self.sequence(children[:-1], state, depth)
        return self.statement(children[-1], state, depth)

    def _subshell(
        self, node: Node, state: State, depth: int, redirects: tuple[Redirect, ...]
    ) -> tuple[State, State]:
        good, bad = self._compound_statement(node, state, depth, redirects)
        return good | bad, good | bad

    # -- simple commands

    def command(self, command: Command, state: State, depth: int) -> tuple[State, State]:
        name, args = command.name, command.args
        after, failed = self.effect(command, state)
        if name in ("exit", "return") or (command.words[:1] == ("exec",) and args):
            if name == "return" and self.calls:
                return after, _NOTHING
            code = args[0] if args else ""
            refused = re.fullmatch(r"[1-9]\d*", code) or UNKNOWN in code
            if not (refused and (self.allow_refusal or not self.about_the_agent())):
                self.finish(after, command.line, f"`{' '.join(command.words)[:40]}` ends it here")
            else:
                self.outcome.end |= after - _START
            return _NOTHING, _NOTHING
        if name == "set":
            flags = " ".join(args)
            if re.search(r"-\w*e\w*\b|-o errexit", flags):
                self.errexit = True
            elif re.search(r"\+\w*e\w*\b|\+o errexit", flags):
                self.errexit = False
        if name == "trap" and len(args) >= 2:
            for signal in {"0": "EXIT"}.get(args[1], args[1]), *args[2:]:
                if args[0] == "-":
                    self.traps.pop(signal, None)
                else:
                    self.traps[signal] = (args[0], command.line)
        if name in self.functions and self.calls.count(name) < 2 and len(self.calls) < 20:
            self.calls.append(name)
            outer, self.given = self.given, {str(n): word for n, word in enumerate(args, 1)}
            body = self.functions[name].child_by_field_name("body")
            good, bad = self.statement(body, after, depth) if body is not None else (after, after)
            self.given = outer
            self.calls.pop()
            return good, bad
        if name == "test":
            return self.test(" ".join(command.words), command.node, after)
        if name in ("true", ":", "echo", "printf", "mkdir", "rm"):
            return after, _NOTHING
        if name == "false":
            return _NOTHING, after
        return after, failed

    def effect(self, command: Command, state: State) -> tuple[State, State]:
        """What the reward file may hold after a simple command that succeeds, and after one that fails."""
        name, args = command.name, command.args
        target = [a for a in args if REWARD_FILE.search(a)]
        if any(_writes(r) for r in command.redirects):
            if any(_writes(r) and ">>" in r.operator for r in command.redirects):
                self.read(command.line, command.column, state)
            # The shell creates the file before the command runs, whatever becomes of that.
            written = self.write_by_redirect(
                command.redirects, self.literal(command), command, state, "computed"
            )
            return written, written
        self.write_by_redirect(command.redirects, "", command, state, "computed")
        if name == "rm" and target:
            self.cleared = True
            return _START, _START
        if name in ("cat", "grep", "head", "tail", "jq", "awk", "sed", "source", ".") and target:
            self.read(command.line, command.column, state)
            if name != "sed" or "-i" not in args:
                return state, state
        if name in ("tee", "cp", "mv", "install", "ln", "dd", "touch", "sed") and target:
            if name in ("cp", "mv") and not REWARD_FILE.search(args[-1]):
                self.read(command.line, command.column, state)
                return state, state
            # Moving one of its own files into place does not fail; the agent's may be missing.
            failed = state if _foreign(" ".join(args)) else _COMPUTED
            return self.written(command, "computed"), failed
        how = self.delegated(command)
        if how.writes != "no":
            self.note(command, how.value)
            written = frozenset({how.value})
            return written, written if how.writes == "always" else state
        if name in INTERPRETERS or name.endswith((".py", ".sh", ".mjs", ".js")):
            if any(re.search(r"/logs/verifier/?$", a) for a in args) or REWARD_NAME.search(" ".join(args)):
                return self.written(command, "computed"), state
        elif target and name not in HARMLESS and name not in ("ls", "stat", "wc"):
            return self.written(command, "computed"), state
        return state, state

    def literal(self, command: Command) -> str:
        if command.name in ("echo", "printf"):
            args = command.args
            if self.given and command.node is not None and any(UNKNOWN in a for a in args):
                known = {**self.script.constants, **self.given}
                nodes = [n for n in command.node.named_children if not n.type.endswith("_redirect")]
                args = tuple(self.script.word(n, known) for n in nodes[1:])
            words = [a for a in args if not re.fullmatch(r"-[neE]+", a)]
            if command.name == "printf" and words[:1] and "%" in words[0] and len(words) > 1:
                words = words[1:]
            return " ".join(words).replace("\\n", "").strip()
        if command.name == "cat":
            return "".join(r.body for r in command.redirects if r.operator == "<<").strip()
        return UNKNOWN

    def write_by_redirect(
        self, redirects: Iterable[Redirect], text: str, place: Command | Node, state: State, other: Value
    ) -> State:
        for redirect in redirects:
            if _writes(redirect):
                value = _weigh(text) if text else other
                return self.written(place, value)
            if redirect.operator.endswith("<") and REWARD_FILE.search(redirect.target):
                self.read(*self.at(place), state)
        return state

    def written(self, place: Command | Node, value: Value) -> State:
        self.note(place, value)
        return frozenset({value})

    def note(self, place: Command | Node, value: Value) -> None:
        line, column = self.at(place)
        self.outcome.writes.append(Write(value, line, column))

    def at(self, place: Command | Node) -> tuple[int, int]:
        return (place.line, place.column) if isinstance(place, Command) else self.script.place(place)

    def read(self, line: int, column: int, state: State) -> None:
        if not self.cleared and "unwritten" in state:
            self.outcome.reads.append((line, column))

    def test(self, text: str, node: Node | None, state: State) -> tuple[State, State]:
        """`[ -e reward ]` tells the written states from the unwritten."""
        literal = re.sub(r"\$\{?(\w+)\}?", lambda m: self.script.constants.get(m[1], m[0]), text)
        if re.search(r"-[efrs]\s+[\"']?[\w/.-]*reward\.(?:txt|json)", literal):
            line, column = self.script.place(node) if node is not None else (1, 1)
            self.read(line, column, state)
            written, unwritten = state - _START, state & _START
            if re.search(r"(?:^|[\[(\s])!\s+-[efrs]", literal):
                return unwritten, written
            return written, unwritten
        always = _constant_test(literal)
        if always is not None:
            return (state, _NOTHING) if always else (_NOTHING, state)
        if REWARD_NAME.search(literal):
            line, column = self.script.place(node) if node is not None else (1, 1)
            self.read(line, column, state)
        return state, state

    def inner_writes(self, node: Node, state: State) -> State:
        """Commands in a substitution may write the reward too, and `$(cat reward)` reads it."""
        stack = [node]
        while stack:
            current = stack.pop()
            if current.type == "command":
                command = self.script.command(current)
                if command.name == "cat" and any(REWARD_FILE.search(a) for a in command.args):
                    self.read(command.line, command.column, state)
                    continue
                good, bad = self.effect(command, state)
                state = good | bad
            else:
                stack.extend(current.named_children)
        return state

    def delegated(self, command: Command) -> Habit:
        inline = _inline_program(command)
        if inline is not None:
            return self.delegate(*inline) if REWARD_NAME.search(inline[1]) else NO_HABIT
        for word in command.argv:
            if re.search(r"(?:^|/)tests/|^[\w.-]+\.\w+$", word) or word == command.argv[0]:
                how = self.delegate(word, "")
                if how.writes != "no":
                    return how
        if command.name in INTERPRETERS or command.argv[0].startswith("/"):
            self.outcome.opaque = True
        return NO_HABIT

    def risky(self, node: Node) -> bool:
        """It can fail for what the agent did: a program runs, or it reads outside the judge's own folders."""
        if node.type in ("list", "if_statement", "while_statement", "for_statement", "case_statement"):
            return False
        if node.type == "test_command":
            return True
        first = bisect_left(self.starts, node.start_byte)
        for command in self.ordered[first : bisect_right(self.starts, node.end_byte)]:
            if command.name in INTERPRETERS or command.name in COMPARERS:
                return True
            if command.name not in HARMLESS and _foreign(" ".join(command.args)):
                return True
        return False

    def about_the_agent(self) -> bool:
        """One of the conditions that lead here looks at what the agent made."""
        return any(_foreign(condition) for condition in self.conditions)


_COMPUTED: State = frozenset({"computed"})


def _constant_test(text: str) -> bool | None:
    """What `[ 1 -eq 1 ]` comes to: a test of two literals is no question. None for any other test."""
    match = re.fullmatch(
        r"(?:test|\[\[?)\s+(['\"]?)([\w.-]+)\1\s+(-eq|==?|-ne|!=)\s+(['\"]?)([\w.-]+)\4\s*\]?\]?",
        text.strip(),
    )
    if match is None:
        return None
    return (match[2] == match[5]) == (match[3] in ("-eq", "=", "=="))


def _inline_program(command: Command) -> tuple[str, str] | None:
    """File name and text of the program in `python3 -c '...'` or `python3 - <<END`; None when there is none.

    What the shell fills in is called `SHELLS`.
    """
    suffix = next((s for names, s in _INLINE.items() if re.fullmatch(names, command.name)), None)
    if suffix is None:
        return None
    for flag, text in zip(command.args, command.args[1:], strict=False):
        if flag in ("-c", "-e", "--eval"):
            return "inline" + suffix, text.replace(UNKNOWN, SHELLS)
    bodies = [r.body for r in command.redirects if r.operator == "<<"]
    if bodies and all(word == "-" for word in command.operands):
        return "inline" + suffix, re.sub(r"\$\{?\w+\}?", SHELLS, bodies[0]) if suffix == ".py" else bodies[0]
    return None


_INLINE = {r"python[\d.]*": ".py", r"node|deno|bun": ".mjs"}


def _split_if(node: Node) -> tuple[list[Node], list[Node], list[Node]]:
    condition: list[Node] = []
    body: list[Node] = []
    others: list[Node] = []
    then = False
    for child in node.children:
        if child.type == "then":
            then = True
        elif child.type in ("elif_clause", "else_clause"):
            others.append(child)
        elif child.is_named:
            (body if then else condition).append(child)
    return condition, body, others


def _writes(redirect: Redirect) -> bool:
    return ">" in redirect.operator and REWARD_FILE.search(redirect.target) is not None


def _weigh(text: str) -> Value:
    if UNKNOWN in text:
        return "computed"
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    if not numbers:
        return "computed"
    return "positive" if any(float(number) > 0 for number in numbers) else "zero"


def _foreign(text: str) -> bool:
    """It names an absolute path that is neither the judge's nor the system's."""
    return any(match[1] not in OWN_PLACES for match in re.finditer(r"(?<![\w.])/(\w[\w.-]*)", text))
