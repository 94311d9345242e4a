"""The repair of each rule that has one. A repair that cannot be proved right is not made."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from harbor_author.checks.fixes import Draft, fixer
from harbor_author.checks.rules import cards as card_rules
from harbor_author.checks.rules import encoding, host, identity, image, schema, shell
from harbor_author.checks.schema_model import TABLES, declared_version, version_tuple
from harbor_author.suite import contract_block, contract_gaps, find_citations

_README_LINE = "Exam material only; not to be published."
_README_LINE_ZH = "仅供评测使用的考试材料，不得发布。"


@fixer("byte-order-mark")
def _byte_order_mark(draft: Draft) -> None:
    for problem in encoding.byte_order_mark(draft.files):
        data = draft.read(problem.path)
        if data.startswith(b"\xef\xbb\xbf") and not draft.files.truncated(problem.path):
            draft.write("byte-order-mark", problem.path, data[3:])
        elif not draft.files.truncated(problem.path):
            encoding_name = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2])
            text = _decoded(data[2:], encoding_name) if encoding_name else None
            if text is not None:
                draft.write("byte-order-mark", problem.path, text.encode())


def _decoded(data: bytes, name: str) -> str | None:
    """The text, when it says the same in UTF-8: it comes back byte for byte, and no NUL stands in it."""
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        return None
    return text if text.encode(name) == data and "\0" not in text else None


@fixer("crlf-line-ends")
def _crlf(draft: Draft) -> None:
    for problem in encoding.crlf_line_ends(draft.files):
        data = draft.read(problem.path)
        # A lone carriage return may be meant (in a string), so only the pair is replaced.
        if not draft.files.truncated(problem.path):
            draft.write("crlf-line-ends", problem.path, data.replace(b"\r\n", b"\n"))


@fixer("script-not-executable")
def _executable(draft: Draft) -> None:
    if draft.files.suite is not None:
        for problem in shell.script_not_executable(draft.files):
            draft.make_executable("script-not-executable", problem.path)


@fixer("run-not-executable")
def _run_executable(draft: Draft) -> None:
    for path in image.scripts_without_bit(draft.files):
        draft.make_executable("run-not-executable", path)


@fixer("deprecated-config-field")
def _deprecated(draft: Draft) -> None:
    text = draft.text("task.toml")
    document = _parsed(text)
    if text is None or document is None:
        return
    version = declared_version(document)
    for table in ("", "environment", "verifier.environment"):
        owner = _table(document, table)
        for key, value in list(owner.items()):
            known = TABLES["environment" if table else ""].keys.get(key)
            if known is None or known.deprecated is None or version < version_tuple(known.deprecated.since):
                continue
            line = schema.replacement(key, value)
            successor = known.deprecated.instead
            if line is None or successor in owner or (key == "allow_internet" and "allowed_hosts" in owner):
                continue
            new = _replace_key(draft, text, (*filter(None, table.split(".")), key), line)
            if new is None:
                continue
            expected = _parsed(text)
            assert expected is not None
            place = _table(expected, table)
            del place[key]
            place[successor] = tomllib.loads(line)[successor]
            if _parsed(new) == expected:
                text = new
    draft.write("deprecated-config-field", "task.toml", text)


def _replace_key(draft: Draft, text: str, keys: tuple[str, ...], line: str) -> str | None:
    """`text` with one `key = value` replaced, what follows on its line kept."""
    from harbor_author.checks.tomltext import locate

    place = locate(text).get(keys)
    if place is None:
        return None
    lines = text.split("\n")
    row = lines[place[0] - 1]
    match = re.match(
        r"(\s*)[\w\"'-]+\s*=\s*(?:\"[^\"\\]*\"|'[^']*'|true|false|[\w.+-]+)(\s*(?:#.*)?\r?)$", row
    )
    if match is None:
        return None
    lines[place[0] - 1] = f"{match[1]}{line}{match[2]}"
    return "\n".join(lines)


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def _table(document: dict[str, Any], path: str) -> dict[str, Any]:
    table: Any = document
    for key in filter(None, path.split(".")):
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


@fixer("task-name-mismatch")
def _task_name(draft: Draft) -> None:
    expected = identity.expected_name(draft.files)
    if expected is not None:
        _set(draft, "task-name-mismatch", ("task", "name"), expected)


@fixer("contract-not-declared")
def _contract_declared(draft: Draft) -> None:
    if draft.files.suite is not None:
        contract = draft.files.suite.settings.contract
        _set(draft, "contract-not-declared", ("metadata", "execution_contract"), contract)


def _set(draft: Draft, rule: str, keys: tuple[str, str], value: str) -> None:
    """Set a string in task.toml; comments and order stay."""
    text = draft.text("task.toml")
    document = _parsed(text)
    if text is None or document is None or _table(document, keys[0]).get(keys[1]) == value:
        return
    if not isinstance(document.get(keys[0], {}), dict):
        return
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        edited = tomlkit.parse(text)
        if keys[0] not in edited:
            edited[keys[0]] = tomlkit.table()
        edited[keys[0]][keys[1]] = value
        new = tomlkit.dumps(edited)
    except (TOMLKitError, ValueError, KeyError, TypeError, RecursionError):
        return
    document.setdefault(keys[0], {})[keys[1]] = value
    if _parsed(new) == document:
        draft.write(rule, "task.toml", new)


@fixer("contract-incomplete")
def _contract_block(draft: Draft) -> None:
    """Only where no part of the contract is there: half a contract needs its author's eyes."""
    files = draft.files
    if files.suite is None:
        return
    for path in files.instructions:
        text = draft.text(path)
        if text is None or not text.strip() or files.suite.settings.contract in text:
            continue
        chinese = len(re.findall(r"[\u4e00-\u9fff]", text)) * 4 > len(text.split())
        block = contract_block(files.mode, "zh" if chinese else "en")
        new = f"{text.rstrip()}\n\n{block}"
        if not contract_gaps(new, files.mode):
            draft.write("contract-incomplete", path, new)


@fixer("fixture-not-private")
def _private(draft: Draft) -> None:
    path = "environment/fixture/package.json"
    if draft.files.suite is None or not list(host.fixture_not_private(draft.files)):
        return
    text = draft.text(path)
    try:
        value = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return
    if text is None or not isinstance(value, dict):
        return
    if "private" in value:
        new = re.sub(r'("private"\s*:\s*)[^,}\s]+', r"\g<1>true", text, count=1)
    else:
        indent = re.search(r"\{\s*\n([ \t]+)\"", text)
        glue = f"\n{indent[1]}" if indent else " "
        new = re.sub(r"\{", '{%s"private": true%s' % (glue, "," if value else ""), text, count=1)  # noqa: UP031
    try:
        right = json.loads(new) == {**value, "private": True}
    except ValueError:
        right = False
    if right:
        draft.write("fixture-not-private", path, new)


@fixer("fixture-readme")
def _readme(draft: Draft) -> None:
    path = "environment/fixture/README.md"
    text = draft.text(path)
    if draft.files.suite is None or text is None or not list(host.fixture_readme(draft.files)):
        return
    chinese = len(re.findall(r"[\u4e00-\u9fff]", text)) * 4 > len(text.split())
    draft.write("fixture-readme", path, f"{_README_LINE_ZH if chinese else _README_LINE}\n\n{text}")


@fixer("card-citation-short")
def _citations(draft: Draft) -> None:
    files = draft.files
    if files.suite is None:
        return
    cards = files.suite.cards()
    for path in {problem.path for problem in card_rules.card_citation_short(files)}:
        text = draft.text(path)
        if text is None:
            continue
        lines = text.split("\n")
        for citation in reversed(find_citations(text)):
            full = card_rules.replacement(path, citation, cards)
            if not full:
                continue
            line = lines[citation.line - 1]
            start = citation.column - 1
            if line[start : start + len(citation.text)] != citation.text:
                continue
            lines[citation.line - 1] = line[:start] + ", ".join(full) + line[start + len(citation.text) :]
        draft.write("card-citation-short", path, "\n".join(lines))
