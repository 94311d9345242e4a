"""Trials drawn as bars in a terminal: how far each one came between 0 and 100, and how far it was allowed to come."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from harbor_author.output.tables import cut, display_width, terminal_width
from harbor_author.output.text import printable

_EXPECTED = re.compile(r"(?:at most (?P<most>[\d.]+)|(?P<low>[\d.]+) to (?P<high>[\d.]+)|(?P<one>[\d.]+))$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COLOURS = {"pass": "32", "fail": "31", "error": "33"}
_LEAST_BAR = 10
_MOST_BAR = 50
_LEAST_NAME = 8
#: Where a text may be broken: not in the parenthesis at its end.
_BREAK = re.compile(r" +(?![^()]*\)$)")


@dataclass(frozen=True)
class Bar:
    """One trial as it is drawn. Shares of full marks, 0 to 1; `share` is None where there is no reward.

    Attributes:
        low, high: what the trial may give, both ends included.
        value: its score in words.
        verdict: `pass`, `fail` or `error`.
        tail: what is said behind the bar.
    """

    name: str
    share: float | None
    low: float
    high: float
    value: str
    verdict: str
    tail: str


@dataclass(frozen=True)
class Style:
    """How bars may look: columns of the terminal, whether it shows more than ASCII, and colours."""

    width: int
    unicode: bool = True
    colour: bool = False


def style_for(stream: IO[str], environ: Mapping[str, str]) -> Style | None:
    """How bars look on a stream; None when it is no terminal, where text for programs and logs is better."""
    width = terminal_width(stream)
    if width is None:
        return None
    try:
        "▕█▒░│▏".encode(getattr(stream, "encoding", None) or "ascii")
        unicode = True
    except (UnicodeEncodeError, LookupError):
        unicode = False
    colour = "NO_COLOR" not in environ and environ.get("TERM") != "dumb"
    return Style(width, unicode, colour)


@dataclass(frozen=True)
class _Glyphs:
    left: str
    right: str
    full: str
    beyond: str
    room: str
    mark: str


_UNICODE = _Glyphs("▕", "▏", "█", "▒", "░", "│")
_ASCII = _Glyphs("[", "]", "#", "!", "-", "|")


def band(expected: str) -> tuple[float, float]:
    """The rewards that a trial's expectation allows, such as `at most 0.4`, `0.2 to 0.8` or `1`."""
    match = _EXPECTED.fullmatch(expected)
    if match is None:
        return 0.0, 1.0
    try:
        if match["most"]:
            return 0.0, float(match["most"])
        if match["low"]:
            return float(match["low"]), float(match["high"])
        return float(match["one"]), float(match["one"])
    except ValueError:  # such as `1.2.3`, from a receipt that somebody wrote by hand
        return 0.0, 1.0


def as_scores(expected: str) -> str:
    """The same expectation by scores out of 100, such as `at most 40`."""
    return _NUMBER.sub(lambda match: f"{round(float(match[0]) * 100, 1):g}", expected)


def draw(bars: Sequence[Bar], style: Style) -> list[str]:
    """One text a trial: name, score, bar and what is said of it, in a line that fits the terminal, or more than one.

    Full cells are what was earned, hatched ones what was earned beyond the cap, light ones what was allowed besides; a
    mark stands at a cap or floor. Each is told by its glyph, so that no colour is needed.
    """
    names = [printable(bar.name) for bar in bars]
    values = max((len(bar.value) for bar in bars), default=0)
    tails = [printable(bar.tail) for bar in bars]
    longest = max((display_width(name) for name in names), default=0)
    # Name, score, bar and the first word behind it come first; the rest gets lines of its own when it does not fit.
    mark_width = max((display_width(tail.split(" ")[0]) for tail in tails), default=0)
    spare = style.width - values - mark_width - 8
    bar_width = max(min(spare // 3, _MOST_BAR), _LEAST_BAR)
    name_width = max(min(longest, spare - bar_width), min(longest, _LEAST_NAME))
    bar_width = max(min(spare - name_width, bar_width), 1)
    glyphs = _UNICODE if style.unicode else _ASCII
    texts = []
    for bar, name, tail in zip(bars, names, tails, strict=True):
        shown = cut(name, name_width)
        shown += " " * (name_width - display_width(shown))
        drawn = _drawn(bar, bar_width, glyphs)
        head = f"  {shown}  {bar.value.rjust(values)} "
        room = style.width - display_width(head) - display_width(drawn) - 1
        mark, _, rest = tail.partition(" ")
        behind, below = (tail, "") if display_width(tail) <= room else (mark, rest.strip())
        lines = [f"{head}{_paint(drawn, bar.verdict, style)} {behind}".rstrip()]
        lines += [f"      {part}" for part in wrap(below, style.width - 6)]
        texts.append("\n".join(lines))
    return texts


def _drawn(bar: Bar, width: int, glyphs: _Glyphs) -> str:
    if bar.share is None:
        return glyphs.left + cut("no score", width).ljust(width) + glyphs.right
    share, low, high = (min(max(value, 0.0), 1.0) for value in (bar.share, bar.low, bar.high))
    filled = round(share * width)
    if share > 0:
        filled = max(filled, 1)
    if share < 1:
        filled = min(filled, width - 1)
    first, last = round(low * width), round(high * width)
    cells = []
    for cell in range(width):
        if cell < filled:
            cells.append(glyphs.full if cell < last or share <= high else glyphs.beyond)
        else:
            cells.append(glyphs.room if first <= cell < last else " ")
    # The ends of the scale mark themselves.
    if 0 < high < 1:
        cells[min(last, width - 1)] = glyphs.mark
    if 0 < low < 1 and low != high:
        cells[min(first, width - 1)] = glyphs.mark
    return glyphs.left + "".join(cells) + glyphs.right


def _paint(text: str, verdict: str, style: Style) -> str:
    code = _COLOURS.get(verdict)
    return f"\x1b[{code}m{text}\x1b[0m" if style.colour and code else text


def wrap(text: str, width: int) -> list[str]:
    """Text in lines of at most `width` columns, broken between words where there are any."""
    width = max(width, 8)
    lines = [""]
    for word in _BREAK.split(text):
        if lines[-1] and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += f" {word}"
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if display_width(lines[-1] + character) > width:
                lines.append("")
            lines[-1] += character
    return [line for line in lines if line]
