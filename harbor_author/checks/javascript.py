"""JavaScript by its syntax tree: faults, exits inside try, and the tables that a judge declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from harbor_author.checks.parsing import parse_bounded

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query, Tree


#: A node's parent is found from the root down, so a deep one is costly.
_MAX_CLIMB = 100


@dataclass(frozen=True)
class JavaScript:
    """A parsed module or script."""

    source: str

    @cached_property
    def data(self) -> bytes:
        return self.source.encode("utf-8", "surrogatepass")

    @cached_property
    def tree(self) -> Tree:
        return parse_bounded(_parser(), self.data)

    def slice(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def nodes(self, kind: str, start: Node | None = None) -> list[Node]:
        """All nodes of a kind below `start`, in order of the text."""
        from tree_sitter import QueryCursor

        found = QueryCursor(_query(kind)).captures(start if start is not None else self.tree.root_node)
        return found.get("found", [])

    @cached_property
    def fault(self) -> tuple[int, int] | None:
        """Line and column of the first syntax error that the grammar sees."""
        if not self.tree.root_node.has_error:
            return None
        for node in [*self.nodes("ERROR"), *self.nodes("MISSING")]:
            return node.start_point[0] + 1, node.start_point[1] + 1
        return 1, 1

    @cached_property
    def exits_in_try(self) -> list[tuple[int, int]]:
        """`process.exit(...)` in the body or handler of a `try` that has a `finally`, not in an inner function."""
        return list(self._exits_in_try()) if "process.exit(" in self.source else []

    def _exits_in_try(self) -> Iterator[tuple[int, int]]:
        for node in self.nodes("call_expression"):
            if not self.slice(node).startswith("process.exit("):
                continue
            child, parent = node, node.parent
            for _ in range(_MAX_CLIMB):
                if parent is None or _is_function(parent):
                    break
                if parent.type == "try_statement":
                    final = parent.child_by_field_name("finalizer")
                    if final is not None and child != final:
                        yield node.start_point[0] + 1, node.start_point[1] + 1
                        break
                child, parent = parent, parent.parent

    @cached_property
    def declared_points(self) -> list[tuple[int, float]]:
        """(line, sum) of each literal array `checks: [{..., points: N}, ...]` whose items are all literal."""
        return list(self._declared_points()) if "points" in self.source else []

    def _declared_points(self) -> Iterator[tuple[int, float]]:
        for line, items in self._tables("checks"):
            points = [item.get("points") for item in items]
            if items and all(isinstance(value, float) for value in points):
                yield line, sum(value for value in points if value is not None)

    @cached_property
    def budgets(self) -> tuple[int, float, float | None] | None:
        """Line, worst case in seconds of `steps: [{budget_s, times?}]`, and `time_limit_s`; None without steps."""
        if "steps" not in self.source or "checks" not in self.source:
            return None
        for node in self.nodes("object"):
            keys = {self._key(pair): pair for pair in node.named_children if pair.type == "pair"}
            if not {"steps", "checks"} <= keys.keys():
                continue
            for line, items in self._tables("steps", keys["steps"]):
                total = sum((item.get("budget_s") or 0.0) * (item.get("times") or 1.0) for item in items)
                limit = keys.get("time_limit_s")
                own = self._number(limit.child_by_field_name("value")) if limit is not None else None
                return line, total, own
        return None

    def _tables(
        self, name: str, start: Node | None = None
    ) -> Iterator[tuple[int, list[dict[str, float | None]]]]:
        for node in self.nodes("pair", start):
            if self._key(node) != name:
                continue
            value = node.child_by_field_name("value")
            if value is None or value.type != "array":
                continue
            items: list[dict[str, float | None]] = []
            for element in value.named_children:
                if element.type == "object":
                    pairs = [pair for pair in element.named_children if pair.type == "pair"]
                    items.append({self._key(p): self._number(p.child_by_field_name("value")) for p in pairs})
                elif element.type != "comment":
                    # A spread or a variable: the table is not known whole.
                    items.append({})
            yield node.start_point[0] + 1, items

    def _key(self, pair: Node) -> str:
        key = pair.child_by_field_name("key")
        return self.slice(key).strip("\"'") if key is not None else ""

    def _number(self, node: Node | None) -> float | None:
        if node is None or node.type != "number":
            return None
        try:
            return float(self.slice(node).replace("_", ""))
        except ValueError:
            return None


def _is_function(node: Node) -> bool:
    return node.type in (
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "generator_function",
    )


@lru_cache(maxsize=512)
def parse_javascript(source: str) -> JavaScript:
    """The program of a text; equal texts are parsed once in a process."""
    return JavaScript(source)


@lru_cache(maxsize=1)
def _language() -> Language:
    import tree_sitter_javascript
    from tree_sitter import Language

    return Language(tree_sitter_javascript.language())


@lru_cache(maxsize=1)
def _parser() -> Parser:
    from tree_sitter import Parser

    return Parser(_language())


@lru_cache(maxsize=32)
def _query(kind: str) -> Query:
    from tree_sitter import Query

    return Query(_language(), f"({kind}) @found")
