"""Making output fit to leave a working copy: no secrets, no paths of this machine, bounded, safe on a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

REDACTED = "[redacted]"

_SECRETS = (
    re.compile(
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|npm_|xox[abprs]-|hf_)[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{35}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,500}\.eyJ[A-Za-z0-9_-]{8,5000}\.[A-Za-z0-9_-]+"),
)
#: name=value, "name": "value", and headers; the name stays, the value goes. Runs are bounded: output may be hostile.
_NAMED = re.compile(
    r"(?i)((?:api[_-]?key|token|secret|password|passwd|credentials?|authorization)[\"']?\s{0,8}[:=]\s{0,8}"
    r"[\"']?(?:(?:bearer|basic)\s{1,8})?)([^\s\"',;]{6,})"
)
_URL_USER = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")
# Tabs and line ends stay; every other control or format character could drive a terminal.
_UNSAFE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.?)|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def redact(text: str, *, paths: Mapping[str | Path, str] | None = None) -> str:
    """`text` without secrets and control sequences; each of `paths` is replaced by its name, the longest first."""
    for path, name in sorted((paths or {}).items(), key=lambda item: -len(str(item[0]))):
        text = text.replace(str(path), name)
    text = _BIDI.sub("", _UNSAFE.sub("", text.replace("\r\n", "\n")))
    for pattern in _SECRETS:
        text = pattern.sub(REDACTED, text)
    text = _NAMED.sub(lambda match: match[1] + REDACTED, text)
    return _URL_USER.sub(REDACTED, text)


def truncate(text: str, max_chars: int) -> str:
    """`text` when it is short enough, else its beginning and end with a line that tells how much is missing."""
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"
