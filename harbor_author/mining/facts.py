"""What a file says to its host, as a bag of facts. Two states of a plugin differ *for the host* where their facts do.

A fact is a string: `inject:jobs`, `use:jobs` (a member of the context), `word:onJobDone`, `import:@deepseek-ai/x`,
`manifest:dsh.bundle.patch="cordis.patch.yml"`, `range:peerDependencies:@deepseek-ai/x=^0.1.0`, `file:cordis.patch.yml`,
`rows:<a host file's significant lines>`. Counting them over all files of a commit makes code that merely moves vanish.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harbor_author.mining.hostdata import Host
from harbor_author.mining.javascript import SOURCE_SUFFIXES, code_only

Facts = Counter[str]

_SKIPPED = re.compile(
    r"(^|/)(node_modules|vendor|third_party|dist|build|out|coverage)/|\.min\.[a-z]+$|\.d\.[mc]?ts$"
)
_TEST = re.compile(r"(^|/)(tests?|__tests__|spec|e2e|cypress)/|\.(test|spec)\.[a-z]+$")
_IMPORT = re.compile(r"""\b(?:from|import|require)\s*+\(?\s*+(["'])([^"'\n]+)\1""")
_LIST = r"\[[^\]]{0,4000}\]"
_OBJECT = r"\{[^{}]{0,4000}(?:\{[^{}]{0,1000}\}[^{}]{0,1000}){0,50}\}"
#: Patterns that begin with literal text are found at the speed of a substring search; `_starts_word` does the rest.
_INJECT = re.compile(rf"inject\b\s*(?::\s*(?=[\[{{])|:[^=\n]{{0,80}}=|=|\()\s*({_LIST}|{_OBJECT})")
_INJECT_DECORATOR = re.compile(r"""@Inject\(\s*(["'])([\w$.-]+)\1""")
_STRING = re.compile(r"""(["'`])([\w$.:/@-]+)\1""")
_KEY = re.compile(r"""(?:^|[,\s])["']?([\w$]+)["']?\s*:""")
_NESTED = re.compile(r"\{[^{}]*\}")
_MOST_INJECTIONS = 500
#: `{ required: ["a"], optional: ["b"] }`, where the keys are no services.
_BY_NEED = re.compile(r"\b(?:required|optional)\s*:\s*\[")
_SECTIONS = ("dependencies", "peerDependencies", "optionalDependencies", "devDependencies")


def is_test(path: str) -> bool:
    """Whether the path is one of the repository's own tests."""
    return _TEST.search(path) is not None


def is_manifest(path: str) -> bool:
    return path == "package.json" or path.endswith("/package.json")


def is_source(path: str) -> bool:
    """Whether the path is code that a host may load: not a test, not built, not somebody else's."""
    return path.endswith(SOURCE_SUFFIXES) and not _SKIPPED.search(path) and not is_test(path)


def speaks_to_host(path: str, host: Host) -> bool:
    """Whether a file of this name can hold facts at all."""
    if "node_modules/" in path:
        return False
    return is_source(path) or is_manifest(path) or host.host_file(path) is not None


def facts_of(path: str, content: bytes, host: Host, *, strict: bool) -> Facts:
    """The facts of one file.

    Args:
        strict: take comments out first. Slower; a first pass over many thousand files goes without.
    """
    facts: Facts = Counter()
    glob = host.host_file(path)
    if glob is not None:
        facts[f"file:{glob}"] += 1
    if is_manifest(path):
        facts.update(_manifest_facts(content, host))
    elif is_source(path):
        facts.update(_source_facts(content, host, strict=strict))
    elif glob is not None:
        facts[f"rows:{_rows(content)}"] += 1
    return facts


def _rows(content: bytes) -> str:
    lines = [line.strip() for line in content.splitlines()]
    kept = b"\n".join(line for line in lines if line and not line.startswith(b"#"))
    return hashlib.sha256(kept).hexdigest()[:12]


def _manifest_facts(content: bytes, host: Host) -> Facts:
    facts: Facts = Counter()
    try:
        manifest = json.loads(content)
    except ValueError:
        return facts
    if not isinstance(manifest, dict):
        return facts
    for section in _SECTIONS:
        ranges = manifest.get(section)
        for name, value in ranges.items() if isinstance(ranges, dict) else ():
            if host.is_host_package(name):
                facts[f"range:{section}:{name}={value}"] += 1
    own = [key for key in host.manifest if key not in ("main", "exports")]
    if facts or any(key in manifest for key in own):
        for key in host.manifest:
            if key in manifest:
                facts.update(f"manifest:{path}={value}" for path, value in flatten(manifest[key], key))
    return facts


def flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The leaves of a JSON value as dotted path and JSON text; an empty object or a list is a leaf."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flatten(inner, f"{path}.{key}" if not _needs_brackets(key) else f'{path}["{key}"]')
    else:
        yield path, json.dumps(value, ensure_ascii=False, sort_keys=True)


def _needs_brackets(key: str) -> bool:
    return re.fullmatch(r"[\w$@/-]+", key) is None


def _source_facts(content: bytes, host: Host, *, strict: bool) -> Facts:
    facts: Facts = Counter()
    if not host.is_addressed_by(content):
        return facts
    text = content.decode("utf-8", "replace")
    if strict:
        text = code_only(text)
    injected = list(injections(text))
    facts.update(f"inject:{service}" for service in injected)
    if any(package in text for package in host.packages):
        facts.update(f"import:{name}" for _, name in _IMPORT.findall(text) if host.is_host_package(name))
    for word in host.words:
        if word in text and (count := len(re.findall(rf"(?<![\w$]){re.escape(word)}(?![\w$])", text))):
            facts[f"word:{word}"] += count
    known = host.services.union(injected)
    facts.update(f"use:{service}" for service in _context_members(text, host) if service in known)
    return facts


def _starts_word(text: str, position: int) -> bool:
    """Whether a name begins here, and not in the middle of a longer one."""
    return position == 0 or not (text[position - 1].isalnum() or text[position - 1] in "_$")


def injections(text: str) -> Iterator[str]:
    """The services that a plugin's source asks for: `inject = [...]`, `inject: {...}`, `ctx.inject([...])`."""
    if text.count("inject") > _MOST_INJECTIONS:
        return  # no plugin: generated, or made to keep the pattern busy
    for match in _INJECT.finditer(text):
        if not _starts_word(text, match.start()):
            continue
        body = match.group(1)
        names = [name for _, name in _STRING.findall(body)]
        if body.startswith("{") and not _BY_NEED.search(body):
            names = _KEY.findall(_NESTED.sub("", body[1:-1]))
        yield from (name for name in names if re.fullmatch(r"[\w$.-]+", name))
    yield from (name for _, name in _INJECT_DECORATOR.findall(text))


def _context_members(text: str, host: Host) -> Iterator[str]:
    """Members of the context that code asks for: `ctx.jobs`, `ctx["jobs"]`, `const { jobs } = ctx`."""
    for member, unpacked in host.context_patterns:
        for match in member.finditer(text):
            if _starts_word(text, match.start()):
                yield match.group(1) or match.group(2)
        for match in unpacked.finditer(text):
            brace = text.rfind("{", max(0, match.start() - 400), match.start())
            if brace >= 0:
                yield from re.findall(r"(?:^|,)\s*([A-Za-z_$][\w$]*)", text[brace + 1 : match.start()])


def split_fact(fact: str) -> tuple[str, str]:
    """Kind and rest of a fact."""
    kind, _, rest = fact.partition(":")
    return kind, rest


def cards_hit(removed: Mapping[str, int], added: Mapping[str, int], host: Host) -> dict[str, bool]:
    """Cards whose patterns a difference touches -> whether something that the card *takes away* went.

    Another value under the same name (a range, a manifest's field) is no coming or going.
    """
    gone, come = _names(removed), _names(added)
    gone, come = gone - come, come - gone
    hits: dict[str, bool] = {}
    for card in host.cards:
        taken = _any_named(gone, card.old)
        if taken or _any_named(come, card.new):
            hits[card.id] = taken
    return hits


#: Kind of fact -> kind of a card's pattern.
_PATTERN_OF = {
    "inject": "services",
    "use": "services",
    "word": "words",
    "manifest": "manifest",
    "file": "files",
    "import": "packages",
    "range": "packages",
}


def _names(facts: Iterable[str]) -> set[tuple[str, str, str]]:
    """Kind of pattern, kind of fact and name of each fact, without its value."""
    names = set()
    for fact in facts:
        kind, rest = split_fact(fact)
        if kind in ("manifest", "range"):
            rest = rest.partition("=")[0]
        if kind == "range":
            rest = rest.partition(":")[2]
        if kind in _PATTERN_OF:
            names.add((_PATTERN_OF[kind], kind, rest))
    return names


def _any_named(names: Iterable[tuple[str, str, str]], side: Mapping[str, tuple[str, ...]]) -> bool:
    below = {"manifest": (".", "["), "packages": ("/",)}
    return any(
        name == value or name.startswith(tuple(value + mark for mark in below.get(pattern, ("\0",))))
        for pattern, _, name in names
        for value in side.get(pattern, ())
    )
