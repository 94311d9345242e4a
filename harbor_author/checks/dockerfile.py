"""A Dockerfile as instructions with their lines: enough grammar for the rules, no build."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from harbor_author.checks.programs import INSTRUCTIONS

_DIRECTIVE = re.compile(r"^#\s*(?P<key>\w+)\s*=\s*(?P<value>\S+)\s*$")
_INSTRUCTION = re.compile(r"^\s*(?P<op>[A-Za-z]+)(?:[ \t]+|$)(?P<rest>.*)$")
_FLAG = re.compile(r"--(?P<key>[a-z-]+)(?:=(?P<value>\S*))?(?:\s+|$)")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)(?P<word>[A-Za-z_][A-Za-z0-9_]*)\1")


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        op: upper case.
        flags: `--name=value` that precede the arguments; a flag without value holds "".
        text: the rest, with its line breaks, comment lines and continuation marks kept so that line `line + n`
            of the file is line `n` of the text. Here-documents follow after it.
        heredocs: bodies of its here-documents.
        line: 1-based line of the operation.
    """

    op: str
    text: str
    line: int
    column: int
    flags: dict[str, str] = field(default_factory=dict)
    heredocs: tuple[str, ...] = ()

    @cached_property
    def exec_form(self) -> list[str] | None:
        """The words of the JSON form `["a", "b"]`; None for the shell form."""
        text = self.text.replace("\\\n", " ").strip()
        if not text.startswith("["):
            return None
        try:
            words = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return words if isinstance(words, list) and all(isinstance(w, str) for w in words) else None

    @cached_property
    def words(self) -> list[str]:
        """Arguments split at blanks, quotes removed; for COPY, ADD, FROM, USER and the like."""
        form = self.exec_form
        if form is not None:
            return form
        text = re.sub(r"\\[ \t]*\n", " ", self.text)
        found = re.findall(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|((?:\\.|[^\s\"'])+)", text)
        return [double or single or plain for double, single, plain in found]


@dataclass(frozen=True)
class Dockerfile:
    """All instructions, and the faults of syntax that stop any builder.

    Attributes:
        faults: (line, message).
    """

    instructions: tuple[Instruction, ...]
    faults: tuple[tuple[int, str], ...]

    @cached_property
    def stages(self) -> list[list[Instruction]]:
        """Instructions by stage; what stands before the first FROM (ARG) belongs to none."""
        stages: list[list[Instruction]] = []
        for instruction in self.instructions:
            if instruction.op == "FROM":
                stages.append([instruction])
            elif stages:
                stages[-1].append(instruction)
        return stages

    @cached_property
    def stage_names(self) -> dict[str, int]:
        names = {}
        for index, stage in enumerate(self.stages):
            words = stage[0].words
            if len(words) >= 3 and words[1].upper() == "AS":
                names[words[2].lower()] = index
        return names

    @cached_property
    def final(self) -> list[Instruction]:
        """The instructions that shape the built image: the last stage and the stages that it starts from."""
        if not self.stages:
            return []
        chain = [self.stages[-1]]
        seen = {len(self.stages) - 1}
        while True:
            words = chain[0][0].words
            parent = self.stage_names.get(words[0].lower()) if words else None
            if parent is None or parent in seen:
                return [instruction for stage in chain for instruction in stage]
            seen.add(parent)
            chain.insert(0, self.stages[parent])

    @cached_property
    def args(self) -> dict[str, str]:
        """Defaults of ARG, for `${NAME}` in image names and versions."""
        found: dict[str, str] = {}
        for instruction in self.instructions:
            if instruction.op in ("ARG", "ENV"):
                for word in instruction.words:
                    key, sep, value = word.partition("=")
                    if sep:
                        found.setdefault(key, value.strip("\"'"))
        return found

    def expand(self, text: str) -> str:
        """`text` with `$NAME` and `${NAME}` of known defaults replaced."""

        def replace(match: re.Match[str]) -> str:
            name, default = match["braced"] or match["plain"], match["default"]
            return self.args.get(name, default if default is not None else match[0])

        return re.sub(r"\$(?:\{(?P<braced>\w+)(?::-(?P<default>[^}]*))?\}|(?P<plain>\w+))", replace, text)


@lru_cache(maxsize=2048)
def parse(text: str) -> Dockerfile:
    """Parse a Dockerfile of any content; what is no instruction is a fault."""
    lines = text.split("\n")
    escape = "\\"
    instructions: list[Instruction] = []
    faults: list[tuple[int, str]] = []
    index = 0
    while index < len(lines):
        directive = _DIRECTIVE.match(lines[index])
        if directive is None:
            break
        if directive["key"].lower() == "escape" and directive["value"] in ("\\", "`"):
            escape = directive["value"]
        index += 1
    while index < len(lines):
        line = lines[index]
        if not line.strip() or line.lstrip().startswith("#"):
            index += 1
            continue
        start = index
        match = _INSTRUCTION.match(line)
        if match is None or match["op"].upper() not in INSTRUCTIONS:
            word = line.split()[0][:40]
            faults.append((start + 1, f"'{word}' is no Dockerfile instruction"))
        logical = [line]
        while _continues(logical[-1], escape) and index + 1 < len(lines):
            index += 1
            following = lines[index]
            if not following.strip() or following.lstrip().startswith("#"):
                # Comment and blank lines inside an instruction are dropped by the builder.
                logical.append("\\")
            else:
                logical.append(following)
        index += 1
        if match is None or match["op"].upper() not in INSTRUCTIONS:
            continue
        op = match["op"].upper()
        heredocs: list[str] = []
        if op in ("RUN", "COPY", "ADD"):
            for here in _HEREDOC.finditer("\n".join(logical)):
                body: list[str] = []
                while index < len(lines) and lines[index].lstrip("\t") != here["word"]:
                    body.append(lines[index])
                    index += 1
                if index >= len(lines):
                    faults.append((start + 1, f"the here-document '{here['word']}' is never closed"))
                index += 1
                heredocs.append("\n".join(body))
        rest = "\n".join([match["rest"], *logical[1:]])
        if escape == "`":
            rest = re.sub(r"`(?=[ \t]*(?:\n|$))", r"\\", rest)
        flags: dict[str, str] = {}
        rest_text = rest
        while flag := _FLAG.match(rest_text):
            flags[flag["key"]] = flag["value"] or ""
            rest_text = rest_text[flag.end() :]
        column = len(line) - len(line.lstrip()) + 1
        instructions.append(Instruction(op, rest_text, start + 1, column, flags, tuple(heredocs)))
    return Dockerfile(tuple(instructions), tuple(faults))


def _continues(line: str, escape: str) -> bool:
    return line.rstrip().endswith(escape)
