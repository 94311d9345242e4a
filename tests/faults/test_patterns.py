"""No pattern of ours takes time out of proportion on hostile text."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import harbor_author

#: Short of this, a pattern is quick enough; beyond it, twice the text must not take three times as long.
_QUICK_S = 0.05
_SIZE = 4000
_UNITS = [
    "a", " ", "\n", "\t", "a ", "a\n", "-", "_", "/", "\\", '"', "'", "`", "(", "[", "{", "<", "$", "#", "*", "=", ":",
    ".", ",", "1", "1,", "a.", "a-", "a/", "../", "a=", "a: ", "--a ", "$(", "${", "\r\n", "| ", "|", "&&", "; ", "# ",
    "<!--", "é", "\x1b[", "//", "/*", "@", "%", "!", "(a", "[ ",
]  # fmt: skip


#: Name -> why no hostile text of any length gets there.
BOUNDED = {
    "harbor_author.checks.rules.reward._ELSEWHERE": "looked for in the first 500 characters of a line",
    "harbor_author.mining.dependencies._STATEMENT": "each of its parts takes 600 characters at most",
    "harbor_author.mining.private._MAILBOX_HEAD": "looked for in the 64 bytes before an @",
    "harbor_author.suite.toml_source._HEADER": "held against lines of 300 characters at most",
    "harbor_author.suite.toml_source._KEY_PART": "looked for in such a line only, else held against a place",
    "harbor_author.scoring.parsers.critic._NUMBERED": "held against the beginning of a line only",
    "harbor_author.scoring.parsers.critic._BULLET": "held against the beginning of a line only",
}


def patterns() -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """(name, pattern, source of its module) of every compiled pattern that a module keeps."""
    seen = set()
    for module in pkgutil.walk_packages(harbor_author.__path__, "harbor_author."):
        if module.name.endswith(("__main__", "pytest_plugin")):
            continue
        loaded = importlib.import_module(module.name)
        source = Path(str(loaded.__file__)).read_text(encoding="utf-8")
        for name, value in vars(loaded).items():
            for found in _within(value):
                if found not in seen:
                    seen.add(found)
                    yield f"{module.name}.{name}", found, source


def _within(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict):
        for inner in list(value.values()):
            yield from _within(inner, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset):
        for inner in list(value):
            yield from _within(inner, depth + 1)


def uses(name: str, pattern: re.Pattern[Any], source: str) -> list[Callable[[Any], object]]:
    """How a pattern is used where it stands: looked for, or held against the beginning or the whole of a text."""
    words = set(
        re.findall(
            rf"\b{name.rpartition('.')[2]}\.(match|fullmatch|search|finditer|findall|sub|subn|split)", source
        )
    )
    found: list[Callable[[Any], object]] = []
    if "match" in words:
        found.append(pattern.match)
    if "fullmatch" in words:
        found.append(pattern.fullmatch)
    if not words or words - {"match", "fullmatch"}:
        found.append(lambda text: sum(1 for _ in pattern.finditer(text)))
    return found


def cost(use: Callable[[Any], object], text: str | bytes) -> float:
    def stop(*_: FrameType | int | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 3)
    try:
        use(text)
    except TimeoutError:
        return 3.0
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - started


def make(pattern: re.Pattern[Any], head: str, unit: str, size: int) -> str | bytes:
    text = head + unit * (size // len(unit)) + "\0"
    return text if isinstance(pattern.pattern, str) else text.encode()


def literals(pattern: re.Pattern[Any]) -> list[str]:
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    plain = re.sub(r"\\[A-Za-z]", " ", text)
    return [*dict.fromkeys(word for word in re.findall(r"[A-Za-z/<>#=:_.@\[{-]{1,20}", plain))][:8]


def slow_patterns() -> list[str]:
    """What grows out of proportion, and on which text."""
    slow = []
    for name, pattern, source in patterns():
        words = literals(pattern)
        shapes = [("", unit) for unit in (*_UNITS, *words, *(word + " " for word in words))]
        shapes += [(word, unit) for word in words[:3] for unit in ("a", " ", "\n", "1", "/", "a ")]
        for use in () if name in BOUNDED else uses(name, pattern, source):
            for head, unit in shapes:
                measure = partial(make, pattern, head, unit)
                if cost(use, measure(_SIZE)) < _QUICK_S:
                    continue
                once, twice = (min(cost(use, measure(size)) for _ in range(2)) for size in (_SIZE, 2 * _SIZE))
                if once >= _QUICK_S and (twice > 3 * once or once > 1):
                    slow.append(f"{name} on {head + unit!r}: {once:.2f} s, twice as much {twice:.2f} s")
                    break
    return slow


@pytest.mark.slow
def test_no_pattern_takes_time_out_of_proportion() -> None:
    assert slow_patterns() == []
