"""Charts as SVG text. Colours are classes of the page's style sheet; every chart has a title and a description.

Charts of trials are as wide as the page: lengths are per cent of it and text keeps its size, so that it is legible on a
phone and not huge on a desk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

from harbor_author.output.text import printable
from harbor_author.report.model import Bar, HeatMap

_LINE = 18
_BAR = 12
_GAP = 14
#: A trial's name takes so many pixels a line, beside its score on a phone, and so many lines.
_NAME_PX = 215
_NAME_LINES = 3
_CELL = 26
_SQUARE = f"h{_CELL - 3}v{_CELL - 3}h{3 - _CELL}z"
_CHANGE_PX = 280
_CHECK_PX = 150
#: Characters that are wider than others, in pixels at the size of a name; there is no font to ask.
_BROAD = frozenset("MWmw@%—…")
_BROAD_PX, _WIDE_PX, _CAPITAL_PX, _PX = 13.5, 13.2, 10.0, 8.2
#: A tick's size against a name's.
_TICK = 12 / 13
#: Where a name is best broken.
_BREAKS = frozenset(" -/:_.")
_STATE_WORDS = {"killed": "", "blind": "not noticed", "declared": "not graded", "error": "no score"}


def separation(bars: Sequence[Bar], *, ident: str) -> str:
    """Each trial as a bar from 0 to 100 over the band that it may end in, with a mark at a cap or floor.

    Args:
        ident: makes the IDs in the drawing unique on its page.
    """
    tops, height = _rows(bars)
    flat = _Flat(height)
    flat.add("grid", "".join(f"M{share} 0v{height}" for share in (0, 25, 50, 75, 100)))
    ticks, rows, dashed, dots = [], [], [], dict.fromkeys(("pass", "fail", "error"), "")
    for share, anchor in ((0, "start"), (25, "middle"), (50, "middle"), (75, "middle"), (100, "end")):
        ticks.append(
            f'<text class="tick" x="{share}%" y="{height + 15}" text-anchor="{anchor}">{share}</text>'
        )
    for bar, (top, names) in zip(bars, tops, strict=True):
        y = top + _LINE * len(names) + 2
        low, high, kind = _within(bar.low), _within(bar.high), _class(bar.verdict)
        rows.append(_row(names, top, _bar_words(bar), _score_words(bar), kind))
        flat.box("track", y, 0, 1)
        if high > low and (low, high) != (0, 1):
            flat.box("band", y, low, high - low)
        if bar.reward is None or bar.verdict == "error":
            dashed.append(f'<rect class="bar none" y="{y}" width="100%" height="{_BAR}"/>')
        elif _within(bar.reward) > 0:
            flat.box(f"bar {kind}", y, 0, _within(bar.reward))
        else:
            dots[kind] += f"M0 {y}h3v{_BAR}H0z"
        for limit in {low, high} - {0.0, 1.0}:
            flat.add("cap", f"M{_hundredths(limit)} {y - 1}v{_BAR + 5}")
    drawn = [f'<path class="bar {kind}" d="{path}"/>' for kind, path in dots.items() if path]
    head = _open(ident, height + 20, "Separation: score of each trial", _separation_words(bars))
    return "".join((head, flat.drawn(), *ticks, *drawn, *dashed, *rows, "</svg>"))


def timeline(bars: Sequence[Bar], *, ident: str) -> str:
    """Each trial's time: container and files, the submission, the judge. Rows stand as those of `separation` do."""
    longest = max((bar.duration_s for bar in bars), default=0) or 1
    slowest = max(bars, key=lambda bar: bar.duration_s, default=None)
    words = f"{len(bars)} trials" + (
        f"; the longest {slowest.name}, {_parts_words(slowest)}" if slowest else ""
    )
    tops, height = _rows(bars)
    flat = _Flat(height)
    rows = []
    for bar, (top, names) in zip(bars, tops, strict=True):
        y = top + _LINE * len(names) + 2
        rows.append(_row(names, top, _parts_words(bar), f"{bar.duration_s:.1f} s"))
        x = 0.0
        for kind, seconds in _steps(bar):
            if seconds > 0:
                flat.box(kind, y, x / longest, seconds / longest)
            x += seconds
    head = _open(ident, height + 20, "Time of each trial, step by step", words)
    return "".join((head, flat.drawn(), *rows, "</svg>"))


def heat_map(data: HeatMap, *, ident: str) -> str:
    """Changes against checks: a filled cell is a check that noticed that the change was left out."""
    # Changes of one file differ in their last characters.
    rows = {name: _clip(printable(name)[::-1], _CHANGE_PX)[::-1] for name in data.noticed}
    columns = [_clip(printable(column), _CHECK_PX) for column in data.columns]
    left = 14 + round(max(map(_px, rows.values()), default=0))
    longest = _TICK * max(map(_px, columns), default=0)
    top = 20 + round(longest * 0.87)  # the sine of their slope; its cosine is what they reach to the right
    scores = left + _CELL * len(columns)
    width = max(scores + 150, scores + 10 + round(longest * 0.5))
    killed = sum(1 for state in data.states.values() if state == "killed")
    missed = [row for row, state in data.states.items() if state == "blind"]
    words = f"{killed} of {len(data.noticed)} changes are noticed by a check"
    words += f"; not noticed: {', '.join(missed)}" if missed else ""
    height = top + _CELL * len(rows) + 4
    parts = [_open(ident, height, "Ablation: change against check", words, width=width)]
    if rows and columns:
        # The empty cells are one tile, repeated; what is noticed lies over it.
        parts.append(
            f'<pattern id="{ident}-p" x="{left}" y="{top}" width="{_CELL}" height="{_CELL}" '
            f'patternUnits="userSpaceOnUse"><path class="cell" d="M.5 .5{_SQUARE}"/></pattern>'
            f'<rect class="cells" x="{left}" y="{top}" width="{_CELL * len(columns)}" '
            f'height="{_CELL * len(rows)}" fill="url(#{ident}-p)"/>'
        )
    for number, column in enumerate(columns):
        x = left + _CELL * number + _CELL / 2 + 3
        parts.append(
            f'<text class="tick" transform="translate({x:g} {top - 6}) rotate(-60)">{_text(column)}</text>'
        )
    for index, (row, by) in enumerate(data.noticed.items()):
        y = top + _CELL * index
        state, reward = data.states.get(row, "error"), data.rewards.get(row)
        kind = "seen" if state == "killed" else "blind" if state == "blind" else "other-state"
        parts.append(f'<g class="{kind}"><title>{_text(_change_words(data, row))}</title>')
        parts.append(f'<text class="name" y="{y + 17}">{_text(rows[row])}</text>')
        for seen in (False, True):
            cells = "".join(
                f"M{left + _CELL * number + 0.5} {y + 0.5}{_SQUARE}"
                for number, column in enumerate(data.columns)
                if (column in by) == seen
            )
            if cells and (seen or state == "blind"):
                parts.append(f'<path class="cell{" on" if seen else ""}" d="{cells}"/>')
        said = " ".join(
            part
            for part in ("-" if reward is None else f"{reward * 100:g}", _STATE_WORDS.get(state, state))
            if part
        )
        parts.append(f'<text class="said" x="{scores + 8}" y="{y + 17}">{_text(_clip(said, 140))}</text></g>')
    return "".join((*parts, "</svg>"))


def states(counts: Mapping[str, int], *, ident: str, words: str) -> str:
    """One stacked bar of counts; the keys are classes."""
    total = sum(counts.values()) or 1
    parts = [_open(ident, 12, "Proofs by state", words)]
    x = 0.0
    for kind, count in counts.items():
        if count:
            place = f'x="{_share(x / total)}" y="0" width="{_share(count / total)}" height="12"'
            parts.append(f'<rect class="state-{kind}" {place}/>')
        x += count
    return "".join((*parts, "</svg>"))


def _rows(bars: Sequence[Bar]) -> tuple[list[tuple[int, Sequence[str]]], int]:
    """(top, lines of the name) of each row, and the height of all."""
    rows: list[tuple[int, Sequence[str]]] = []
    y = 0
    for bar in bars:
        name = printable(bar.name) + (f" ×{bar.count}" if bar.count > 1 else "")
        lines = _broken(name, _NAME_PX)
        if len(lines) > _NAME_LINES:
            lines = (*lines[: _NAME_LINES - 1], _clip(lines[_NAME_LINES - 1] + "……", _NAME_PX))
        rows.append((y, lines))
        y += _LINE * len(lines) + _BAR + _GAP
    return rows, y


def _px(text: str) -> float:
    """About how wide a text is drawn, rather too much than too little."""
    return sum(map(_width, text))


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    if character in _BROAD:
        return _BROAD_PX
    if ord(character) > 0x2E7F:
        return _WIDE_PX
    return _CAPITAL_PX if character.isupper() else _PX


@lru_cache(maxsize=4096)
def _clip(text: str, room: float) -> str:
    """Text that fits, with an ellipsis when it had more."""
    if _px(text) <= room:
        return text
    used, kept = _BROAD_PX, 0
    for character in text:
        used += _width(character)
        if used > room:
            break
        kept += 1
    return text[:kept].rstrip("…") + "…"


@lru_cache(maxsize=4096)
def _broken(text: str, room: float) -> tuple[str, ...]:
    """Text in lines that fit, broken behind a blank or a mark where there is one in their second half."""
    lines = []
    while _px(text) > room:
        used, length = 0.0, 0
        while used + _width(text[length]) <= room:
            used += _width(text[length])
            length += 1
        good = next((end for end in range(length, length // 2, -1) if text[end - 1] in _BREAKS), length)
        lines.append(text[:good].rstrip())
        text = text[good:]
    return (*lines, text)


class _Flat:
    """Boxes whose lengths are shares of the chart's width: one path a class, in a drawing stretched to the width.

    An element a box, each with four lengths to be read, made a page of many tasks slow to open.
    """

    def __init__(self, height: int) -> None:
        self._height = height
        self._paths: dict[str, list[str]] = {}

    def add(self, kind: str, path: str) -> None:
        self._paths.setdefault(kind, []).append(path)

    def box(self, kind: str, y: int, start: float, share: float) -> None:
        self.add(kind, f"M{_hundredths(start)} {y}h{_hundredths(share)}v{_BAR}h-{_hundredths(share)}z")

    def drawn(self) -> str:
        # In the order in which they lie on each other.
        kinds = sorted(self._paths, key=_LAYERS.index)
        paths = [f'<path class="{kind}" d="{"".join(self._paths[kind])}"/>' for kind in kinds]
        size = f'viewBox="0 0 100 {self._height}" height="{self._height}"'
        return "".join((f'<svg class="flat" {size} preserveAspectRatio="none">', *paths, "</svg>"))


_LAYERS = ("grid", "track", "band", "bar pass", "bar fail", "bar error", "cap", "other", "solve", "judge")


def _row(lines: Sequence[str], top: int, words: str, value: str, kind: str = "") -> str:
    """Name and value of a bar, with words for whoever points at it; the bar is below them, as wide as the chart."""
    y = top + _LINE * len(lines) + 2
    names = "".join(
        f'<text class="name" y="{top + _LINE * number + 14}">{_text(line)}</text>'
        for number, line in enumerate(lines)
    )
    group = f'<g class="{kind}">' if kind else "<g>"
    return (
        f'{group}<title>{_text(words)}</title>{names}<text class="value" x="100%" y="{top + 14}">{_text(value)}</text>'
        f'<rect class="hit" y="{y}"/></g>'
    )


def _open(ident: str, height: float, title: str, words: str, *, width: float | None = None) -> str:
    size = f'width="{width:g}"' if width is not None else 'width="100%"'
    return (
        f'<svg {size} height="{height:g}" role="img" aria-labelledby="{ident}-t {ident}-d">'
        f'<title id="{ident}-t">{_text(title)}</title><desc id="{ident}-d">{_text(words)}</desc>'
    )


def _separation_words(bars: Sequence[Bar]) -> str:
    right = sum(1 for bar in bars if bar.verdict == "pass")
    wrong = [_bar_words(bar) for bar in bars if bar.verdict != "pass"]
    return "; ".join([f"{right} of {len(bars)} trials are as expected", *wrong])


def _bar_words(bar: Bar) -> str:
    score = (
        f"error {bar.cause}"
        if bar.verdict == "error" or bar.reward is None
        else f"{bar.reward * 100:g} of 100"
    )
    again = f", {bar.count} times" if bar.count > 1 else ""
    return f"{bar.name}: {score}{again}, expected {bar.expected}, {bar.verdict}"


def _score_words(bar: Bar) -> str:
    if bar.verdict == "error" or bar.reward is None:
        return "no score"
    score = f"{bar.reward * 100:g}"
    if bar.expected == "any" or (bar.verdict == "pass" and bar.low == bar.high):
        return score
    return f"{score}, {bar.expected if bar.low != bar.high else 'must be ' + bar.expected}"


def _steps(bar: Bar) -> list[tuple[str, float]]:
    solve, judge = bar.solve_s or 0.0, bar.judge_s or 0.0
    return [("other", max(bar.duration_s - solve - judge, 0.0)), ("solve", solve), ("judge", judge)]


def _parts_words(bar: Bar) -> str:
    words = f"{bar.duration_s:.1f} s"
    if bar.judge_s is None and bar.solve_s is None:
        return words
    return words + f", of it submission {bar.solve_s or 0:.1f} s, judge {bar.judge_s or 0:.1f} s"


def _change_words(data: HeatMap, row: str) -> str:
    by = data.noticed.get(row) or ()
    state = data.states.get(row, "error")
    noticed = (
        f"noticed by {', '.join(by)}"
        if by
        else _STATE_WORDS.get(state, state) or "noticed by the score alone"
    )
    return f"without {row}: {noticed}"


def _class(verdict: str) -> str:
    return verdict if verdict in ("pass", "fail", "error") else "error"


def _share(share: float) -> str:
    return f"{_hundredths(share)}%"


def _hundredths(share: float) -> str:
    return f"{round(share * 100, 2):g}"


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


@lru_cache(maxsize=1 << 14)
def _text(text: str) -> str:
    return escape(printable(text), quote=True)
