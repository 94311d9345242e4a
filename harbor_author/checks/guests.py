"""What the programs under `tests/` do with the reward, judged from their text (Python, JavaScript, shell)."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import Literal

from harbor_author.checks.javascript import parse_javascript
from harbor_author.checks.reward import NO_HABIT, REWARD_NAME, SHELLS, Habit

PROGRAMS = (".py", ".mjs", ".js", ".cjs", ".ts")


@lru_cache(maxsize=1024)
def habit(name: str, text: str) -> Habit:
    """What a program does with the reward: whether it writes one, also when it fails midway, and which."""
    if not REWARD_NAME.search(text):
        return NO_HABIT
    if name.endswith(".py"):
        return _python(text)
    if name.endswith(PROGRAMS):
        return _javascript(text)
    return Habit("may")


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
        return Habit("may")
    line = _python_blind(module) if SHELLS not in text else None
    return Habit(_python_writes(module, text) if line is None else "always", line)


def _python_writes(module: ast.Module, text: str) -> Literal["may", "always"]:
    if re.search(r"\batexit\.register\b|\bsys\.excepthook\b", text):
        return "always"
    writers = _writers(module)
    for node in ast.walk(module):
        if not isinstance(node, ast.Try):
            continue
        wide = [h for h in node.handlers if _wide(h)]
        if not wide and node.handlers and _expected(node, module):
            wide = node.handlers
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


_READING = ("OSError", "FileNotFoundError", "IOError", "EnvironmentError")
_PARSING = re.compile(r"(?:^|\.)(?:loads?|int|float|literal_eval|fromstring|parse|decode|strptime)$")


def _expected(node: ast.Try, module: ast.Module) -> bool:
    """The handlers name what can go wrong where a file is read: that it is missing, and that it does not parse."""
    caught = {ast.unparse(n) for h in node.handlers if h.type is not None for n in ast.walk(h.type)}
    parses = sum(_parses(call) for part in node.body for call in ast.walk(part))
    outside = sum(_parses(call) for call in ast.walk(module)) - parses
    values = any(re.search(r"ValueError|Decode|ParseError|SyntaxError", name) for name in caught)
    return bool(caught & set(_READING)) and (values or not parses) and not outside


def _parses(node: ast.AST) -> bool:
    """A call that fails for a text of another shape; `float(a == b)` does not."""
    return (
        isinstance(node, ast.Call)
        and _PARSING.search(ast.unparse(node.func)) is not None
        and not any(isinstance(a, (ast.Compare, ast.BoolOp, ast.IfExp, ast.Constant)) for a in node.args)
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


#: Calls that look at nothing: a program of these alone ends with the same reward whatever the agent did.
_BLIND = re.compile(
    r"(?:.*\.)?(?:open|Path|write|write_text|dumps?|mkdir|makedirs|print|str|float|int|round|join|joinpath|close|flush|exit|"
    r"writeFile|writeFileSync|mkdirSync|stringify|String|Number|log|require|resolve|toString|toFixed|dirname)"
)
_ASKING = (
    ast.If,
    ast.IfExp,
    ast.Compare,
    ast.Try,
    ast.Assert,
    ast.While,
    ast.For,
    ast.Match,
    ast.comprehension,
)


def _python_blind(module: ast.Module) -> int | None:
    """The line on which a program writes a reward above zero, when nothing in it looks at anything."""
    functions = {n.name for n in ast.walk(module) if isinstance(n, ast.FunctionDef)}
    writers = _writers(module)
    values: dict[str, list[ast.expr]] = {}
    writes: list[ast.Call] = []
    for node in ast.walk(module):
        if isinstance(node, _ASKING) and not _is_main_guard(node, module):
            return None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name not in functions and not _BLIND.fullmatch(name):
                return None
            if re.search(r"(?:^|\.)(?:write|write_text|dump)$", name):
                writes.append(node)
    numbers: list[tuple[float, int]] = []
    for call in writes:
        parts: list[ast.AST] = [*call.args]
        for part in list(parts):
            parts += [v for n in ast.walk(part) if isinstance(n, ast.Name) for v in values.get(n.id, ())]
        found = [
            float(str(n.value))
            for part in parts
            for n in ast.walk(part)
            if isinstance(n, ast.Constant) and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", str(n.value))
        ]
        numbers += [(max(found), call.lineno)] if found else []
    if writers and not any(_mentions(n, writers) for n in ast.walk(module)):
        return None
    return next((line for value, line in numbers if value > 0), None)


def _is_main_guard(node: ast.AST, module: ast.Module) -> bool:
    """It is, or stands in, `if __name__ == "__main__"`."""
    guards = [
        s for s in module.body if isinstance(s, ast.If) and ast.unparse(s.test).startswith("__name__ ==")
    ]
    return any(node is guard or node is guard.test for guard in guards)


def _javascript(text: str) -> Habit:
    line = _javascript_blind(text) if SHELLS not in text else None
    if line is not None:
        return Habit("always", line)
    guarded = re.search(
        r"process\.on\(\s*['\"`](?:exit|uncaughtException)|\bfinally\s*\{|\.finally\(|\bcatch\b", text
    )
    return Habit("always" if guarded else "may")


_JS_ASKING = re.compile(
    r"\b(?:if|for|while|switch|try|catch|process\.argv|process\.env)\b|[=!]==?|\?|[<>]=?\s|&&|\|\|"
)


def _javascript_blind(text: str) -> int | None:
    """As `_python_blind`."""
    program = parse_javascript(text)
    calls = program.nodes("call_expression")
    names = [program.slice(call.child_by_field_name("function") or call) for call in calls]
    if not all(_BLIND.fullmatch(name) for name in names):
        return None
    code = re.sub(r"//[^\n]*|/\*.*?\*/|=>|[\"'`][^\"'`\n]*[\"'`]", "", text, flags=re.DOTALL)
    if _JS_ASKING.search(code):
        return None
    known = dict(re.findall(r"\b(?:const|let|var)\s+(\w+)\s*=\s*([^;\n]+)", text))
    for call, name in zip(calls, names, strict=True):
        if not re.search(r"writeFile(?:Sync)?$", name):
            continue
        given = program.slice(call)
        given += " ".join(known.get(word, "") for word in re.findall(r"\w+", given))
        given = REWARD_NAME.sub("", given)
        if any(float(number) > 0 for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", given)):
            return call.start_point[0] + 1
    return None
