"""What the programs under `tests/` do with the reward, judged from their text (Python, JavaScript, shell)."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import Literal

from harbor_author.checks.reward import REWARD_NAME

Habit = Literal["no", "may", "always"]


@lru_cache(maxsize=1024)
def habit(name: str, text: str) -> Habit:
    """Whether a program writes the reward, and whether it does so also when it fails midway."""
    if not REWARD_NAME.search(text):
        return "no"
    if name.endswith(".py"):
        return _python(text)
    if name.endswith((".mjs", ".js", ".cjs", ".ts")):
        return _javascript(text)
    if name.endswith((".sh", ".bash")):
        return "may"
    return "may"


def parse_python(text: str) -> ast.Module | None:
    """The module, or None when it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python(text: str) -> Habit:
    module = parse_python(text)
    if module is None:
        return "may"
    if re.search(r"\batexit\.register\b|\bsys\.excepthook\b", text):
        return "always"
    writers = _writers(module)
    for node in ast.walk(module):
        if not isinstance(node, ast.Try):
            continue
        wide = [h for h in node.handlers if _wide(h)]
        if any(_mentions(part, writers) for part in node.finalbody):
            return "always"
        after = any(_mentions(part, writers) for part in _following(module, node))
        if wide and (after or all(any(_mentions(p, writers) for p in h.body) for h in wide)):
            return "always"
    # A default written before anything can fail also leaves a reward behind.
    for statement in module.body:
        if _inert(statement):
            continue
        if _mentions(statement, writers) and isinstance(statement, (ast.Expr, ast.With)):
            return "always" if not _reads_first(statement) else "may"
        if isinstance(statement, ast.Expr) and "mkdir" in ast.dump(statement):
            continue
        break
    return "may"


def _inert(statement: ast.stmt) -> bool:
    """A statement that looks at nothing and cannot fail: imports, definitions, texts, constants and paths."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if not isinstance(statement, ast.Assign):
        return False
    calls = [ast.unparse(n.func) for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
    return all(re.fullmatch(r"(?:pathlib\.)?Path|os\.path\.join", name) for name in calls)


def _writers(module: ast.Module) -> set[str]:
    """Names that lead to the reward file: constants that hold its path, functions that mention those."""
    names: set[str] = set()
    for _ in range(3):
        for node in ast.walk(module):
            if isinstance(node, ast.Assign) and _mentions(node.value, names):
                names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            elif (
                isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                and node.name != "main"
                and any(_mentions(part, names) for part in node.body)
            ):
                names.add(node.name)
    return names


def _mentions(node: ast.AST, names: set[str]) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in names:
            return True
        if (
            isinstance(inner, ast.Constant)
            and isinstance(inner.value, str)
            and REWARD_NAME.search(inner.value)
        ):
            return True
    return False


def _wide(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(
        isinstance(n, ast.Name) and n.id in ("Exception", "BaseException") for n in ast.walk(handler.type)
    )


def _following(module: ast.Module, node: ast.AST) -> list[ast.stmt]:
    for parent in ast.walk(module):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and node in block:
                return list(block[block.index(node) + 1 :])
    return []


def _reads_first(node: ast.AST) -> bool:
    """The statement calls something besides the writing itself."""
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr.startswith("read")
        for n in ast.walk(node)
    )


def _javascript(text: str) -> Habit:
    if re.search(r"process\.on\(\s*['\"`](?:exit|uncaughtException)", text):
        return "always"
    if re.search(r"\bfinally\s*\{|\.finally\(", text):
        return "always"
    if re.search(r"\bcatch\b", text):
        return "always"
    return "may"


def writes_unconditionally(name: str, text: str) -> int | None:
    """The line on which a Python program writes a literal reward above zero before it has looked at anything."""
    if not name.endswith(".py") or not REWARD_NAME.search(text):
        return None
    module = parse_python(text)
    if module is None:
        return None
    writers = _writers(module)
    for statement in module.body:
        if _inert(statement):
            continue
        if not isinstance(statement, (ast.Expr, ast.With)):
            return None
        if _mentions(statement, writers) and re.search(r"\bwrite", ast.unparse(statement)):
            literals = [
                n.value
                for n in ast.walk(statement)
                if isinstance(n, ast.Constant) and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", str(n.value))
            ]
            positive = [v for v in literals if float(str(v)) > 0]
            return statement.lineno if positive else None
        if "mkdir" not in ast.unparse(statement):
            return None
    return None
