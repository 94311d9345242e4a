"""Secrets and personal data: found, and never carried into a task.

Secrets by the detectors of the detect-secrets package whose finds are certain (keys with a form of their own); its
guessing ones (entropy, words such as "password") would break code that is none. E-mail addresses by form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from harbor_author.mining.states import Tree, TreeFile

#: Detector module of detect-secrets -> strings of which a file holds one when the detector can fire.
#: They keep a large tree cheap: a pattern runs only on a file that may match.
_DETECTORS: Final = {
    "aws": (b"AKIA", b"ASIA", b"ABIA", b"ACCA", b"A3T"),
    "azure_storage_key": (b"AccountKey",),
    "github_token": (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
    "gitlab_token": (b"gl", b"GR1348941"),
    "jwt": (b"eyJ",),
    "mailchimp": (b"-us",),
    "npm": (b"_authToken",),
    "openai": (b"sk-",),
    "private_key": (b"-----BEGIN", b"PuTTY-User-Key-File"),
    "pypi_token": (b"pypi-",),
    "sendgrid": (b"SG.",),
    "slack": (b"xox", b"hooks.slack.com"),
    "square_oauth": (b"sq0csp",),
    "stripe": (b"k_live_",),
    "telegram_token": (b":AA",),
    "twilio": (b"AC", b"SK"),
}
_KEY_BLOCK: Final = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_MAILBOX_HEAD: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._%+-]*$")
_MAILBOX_TAIL: Final = re.compile(rb"@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}(?![\w.-]*[/:])")
_LOCKS: Final = (".lock", "-lock.json", "-lock.yaml")
_NO_PERSON: Final = re.compile(
    rb"(?i)^(noreply|no-reply|git)@|@[\w.-]*\b(example|invalid|localhost|test)\b|\.(js|ts|png|svg|json)$"
)
#: The package's own pattern for this backtracks for ever on minified code.
_BASIC_AUTH: Final = re.compile(rb"://[^\s:/@'\"`${}]{1,100}:([^\s:/@'\"`${}]{3,200})@[A-Za-z0-9]")
_MAILBOX: Final = b"redacted@example.invalid"
_SECRET: Final = b"REDACTED"
_WEB_TOKEN: Final = "json web token"  # noqa: S105 - the kind, by the name that its detector gives
_WEB_TOKEN_REST: Final = re.compile(rb"[A-Za-z0-9_.+/=-]*")
#: A token and what its pattern wants before it; the longest are web tokens, whose rest is read without a pattern.
_WINDOW_BEFORE: Final = 100
_WINDOW_AFTER: Final = 600
_SHORTEST_TOKEN: Final = 16


@dataclass(frozen=True)
class Find:
    """Something private, by kind and place; never the thing itself."""

    path: str
    line: int
    kind: str


class Redactor:
    """Replaces every secret and e-mail address, on any number of trees; the same bytes are looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, bool], tuple[bytes, tuple[tuple[int, str], ...]]] = {}

    def redact(self, tree: Tree) -> tuple[Tree, list[Find]]:
        """The clean tree, and what was where."""
        finds: list[Find] = []
        clean: Tree = {}
        for path, file in tree.items():
            key = (file.data, path.endswith(_LOCKS))
            if key not in self._known:
                self._known[key] = _redact_file(*key)
            data, found = self._known[key]
            finds += [Find(path=path, line=line, kind=kind) for line, kind in found]
            clean[path] = file if data is file.data else TreeFile(data=data, executable=file.executable)
        return clean, finds


def _redact_file(data: bytes, lock: bool) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    """The clean bytes, and line and kind of each find."""
    if b"\0" in data[:8192]:
        return data, ()
    spans = sorted(_spans(data, lock=lock))
    if not spans:
        return data, ()
    parts, finds, end = [], [], 0
    for start, stop, kind, replacement in spans:
        if start < end:
            continue
        finds.append((data.count(b"\n", 0, start) + 1, kind))
        # Line breaks inside a block stay, so that line numbers do.
        parts += [data[end:start], replacement, b"\n" * data.count(b"\n", start, stop)]
        end = stop
    return b"".join([*parts, data[end:]]), tuple(finds)


def _spans(data: bytes, *, lock: bool) -> Iterator[tuple[int, int, str, bytes]]:
    if b"PRIVATE KEY-----" in data:
        for match in _KEY_BLOCK.finditer(data):
            yield match.start(), match.end(), "private key", _SECRET
    for kind, anchors, patterns in _patterns():
        for low, high in _windows(data, anchors):
            for pattern in patterns:
                for match in pattern.finditer(data, low, high):
                    start, end = match.span()
                    if kind == _WEB_TOKEN:  # its pattern stops at the first character of the signature
                        rest = _WEB_TOKEN_REST.match(data, end)
                        end = rest.end() if rest is not None else end
                    if end - start >= _SHORTEST_TOKEN and _stands_alone(data, start, end):
                        yield start, end, kind, _SECRET
    if b"://" in data:
        for match in _BASIC_AUTH.finditer(data):
            yield match.start(1), match.end(1), "password in an address", _SECRET
    if b"@" in data and not lock:
        yield from _addresses(data)


def _windows(data: bytes, anchors: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """The surroundings of each anchor. The detectors' patterns take time by the square of a text without blanks, so
    that a hostile file of 1 MB would keep them busy for days; in a window they cannot."""
    for anchor in anchors:
        position = data.find(anchor)
        while position >= 0:
            low, high = max(0, position - _WINDOW_BEFORE), position + _WINDOW_AFTER
            yield low, high
            position = data.find(anchor, high - _WINDOW_BEFORE)


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Whether a token is no part of something longer, such as a digest."""
    return not data[max(0, start - 1) : start].isalnum() and not data[end : end + 1].isalnum()


def _addresses(data: bytes) -> Iterator[tuple[int, int, str, bytes]]:
    """E-mail addresses, looked for around each `@`: a pattern over the whole text would try every word."""
    position = data.find(b"@")
    while position >= 0:
        tail = _MAILBOX_TAIL.match(data, position)
        head = _MAILBOX_HEAD.search(data, max(0, position - 64), position) if tail is not None else None
        if head is not None and tail is not None:
            address = data[head.start() : tail.end()]
            if not _NO_PERSON.search(address):
                yield head.start(), tail.end(), "e-mail address", _MAILBOX
        position = data.find(b"@", position + 1)


@cache
def _patterns() -> Sequence[tuple[str, tuple[bytes, ...], tuple[re.Pattern[bytes], ...]]]:
    """The detectors' own patterns, for bytes."""
    from importlib import import_module

    from detect_secrets.plugins.base import RegexBasedDetector

    found = []
    for name, anchors in _DETECTORS.items():
        module = import_module(f"detect_secrets.plugins.{name}")
        for detector in vars(module).values():
            if not isinstance(detector, type) or not issubclass(detector, RegexBasedDetector):
                continue
            if detector is RegexBasedDetector or detector.__module__ != module.__name__:
                continue
            denylist: Sequence[re.Pattern[str]] = vars(detector)["denylist"]
            patterns = tuple(
                re.compile(pattern.pattern.encode(), pattern.flags & ~re.UNICODE) for pattern in denylist
            )
            found.append((str(detector.secret_type).lower(), anchors, patterns))
    return tuple(found)
