"""What a static check can ask of a plugin, and its answer for a tree.

The generated judge asks the same questions in JavaScript (`templates/extract/tests/conditions.mjs`); a test holds the
two together. A condition is a kind and a value, so that it travels as JSON.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from harbor_author.mining import manifest as package_json
from harbor_author.mining.facts import injections, is_test
from harbor_author.mining.javascript import SOURCE_SUFFIXES, code_only
from harbor_author.mining.states import Tree

_DECLARATIONS: Final = re.compile(r"\.d\.[mc]?ts$")


@dataclass(frozen=True)
class Condition:
    """`holds` says whether the thing must be there or must be gone.

    Kinds and values: `file` a path; `manifest` a list of keys from the top of package.json; `injects` a service;
    `member` a service used on a context; `word` an identifier in code; `imports` a package; `line` a path and a line;
    `digest` a path and the SHA-256 of its bytes, for what has no text to ask for.
    """

    kind: str
    value: str | tuple[str, ...]
    holds: bool

    def as_json(self) -> dict[str, Any]:
        value: Any = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"kind": self.kind, "value": value, "holds": self.holds}

    def describe(self) -> str:
        """In words, for SOLUTION.md and the judge's reasons."""
        shown = ".".join(self.value) if self.kind == "manifest" else self.value
        if self.kind == "line":
            return (
                f"{self.value[0]} {'holds' if self.holds else 'no longer holds'} the line `{self.value[1]}`"
            )
        if self.kind == "digest":
            return f"{self.value[0]} has the bytes of the reference"
        words = {
            "file": ("there is a file {}", "there is no file {}"),
            "manifest": ("package.json has {}", "package.json has no {}"),
            "injects": ("the plugin injects {}", "the plugin does not inject {}"),
            "member": ("the code uses the service {}", "the code does not use the service {}"),
            "word": ("the code uses {}", "the code does not use {}"),
            "imports": ("the code imports {}", "the code does not import {}"),
        }
        return words[self.kind][0 if self.holds else 1].format(f"`{shown}`")


class Reading:
    """A tree as conditions see it. A file is only taken apart when it holds the name that is asked for."""

    def __init__(self, tree: Tree, contexts: tuple[str, ...]) -> None:
        self._tree = tree
        self._contexts = "|".join(re.escape(name) for name in contexts) or "(?!)"
        self._sources = [path for path in tree if _is_code(path)]
        self._code: dict[str, str] = {}
        root = tree.get("package.json")
        self._manifest = package_json.parse(root.data) if root is not None else None

    def meets(self, condition: Condition) -> bool:
        """Whether the condition is met."""
        return self._there(condition.kind, condition.value) == condition.holds

    def _there(self, kind: str, value: str | tuple[str, ...]) -> bool:
        if isinstance(value, tuple):
            if kind == "manifest":
                return self._has_key(value)
            path, wanted = value
            return self._has_digest(path, wanted) if kind == "digest" else self._has_line(path, wanted)
        if kind == "file":
            return value in self._tree
        if kind == "injects":
            return any(value in injections(code) for code in self._code_with(value))
        escaped, context = re.escape(value), f"(?:{self._contexts})"
        patterns = {
            "member": rf"""\b{context}\s*\??\.\s*{escaped}(?![\w$])|\b{context}\[["']{escaped}["']\]""",
            "word": rf"(?<![\w$]){escaped}(?![\w$])",
            "imports": rf"""\b(?:from|import|require)\s*\(?\s*["']{escaped}(?:/[^"'\n]*)?["']""",
        }
        pattern = re.compile(patterns[kind])
        return any(pattern.search(code) for code in self._code_with(value))

    def _code_with(self, name: str) -> Iterator[str]:
        """The code, without comments, of each source that holds `name` at all."""
        needle = name.encode()
        for path in self._sources:
            if needle in self._tree[path].data:
                if path not in self._code:
                    self._code[path] = code_only(self._tree[path].data.decode("utf-8", "replace"))
                yield self._code[path]

    def _has_key(self, keys: tuple[str, ...]) -> bool:
        value: Any = self._manifest
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                return False
            value = value[key]
        return True

    def _has_line(self, path: str, line: str) -> bool:
        file = self._tree.get(path)
        if file is None:
            return False
        return any(row.strip() == line for row in file.data.decode("utf-8", "replace").split("\n"))

    def _has_digest(self, path: str, digest: str) -> bool:
        file = self._tree.get(path)
        return file is not None and hashlib.sha256(file.data).hexdigest() == digest


def _is_code(path: str) -> bool:
    return path.endswith(SOURCE_SUFFIXES) and not is_test(path) and not _DECLARATIONS.search(path)
