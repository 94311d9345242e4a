"""Charts as SVG text. Colours are classes of the page's style sheet; every chart has a title and a description."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from harbor_author.output.tables import cut
from harbor_author.report.model import Bar, HeatMap

#: Units of the drawings; the page scales them to its width, so that text stays legible on a phone.
_WIDTH = 460
_ROW = 46
_CELL = 26


def separation(bars: Sequence[Bar], *, ident: str) -> str:
    """Each trial as a bar from 0 to 100 over the band that it may end in.

    Args:
        ident: makes the IDs in the drawing unique on its page.
    """
    height = _ROW * len(bars) + 22
    parts = [_open(ident, _WIDTH, height, "Separation of the trials", _separation_words(bars))]
    for share, anchor in ((0.0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1.0, "end")):
        x = _x(share)
        parts.append(f'<line class="grid" x1="{x}" y1="0" x2="{x}" y2="{height - 18}"/>')
        parts.append(
            f'<text class="tick" x="{x}" y="{height - 4}" text-anchor="{anchor}">{share * 100:g}</text>'
        )
    for index, bar in enumerate(bars):
        top = index * _ROW
        low, high = _x(_within(bar.low)), _x(_within(bar.high))
        parts.append(f'<g class="{_class(bar.verdict)}"><title>{_text(_bar_words(bar))}</title>')
        parts.append(
            f'<rect class="band" x="{low - 2}" y="{top + 20}" width="{high - low + 4}" height="20" rx="2"/>'
        )
        if bar.reward is None:
            parts.append(f'<rect class="bar" x="0" y="{top + 23}" width="{_WIDTH}" height="14" rx="2"/>')
        else:
            width = max(_x(_within(bar.reward)), 2)
            parts.append(f'<rect class="bar" x="0" y="{top + 23}" width="{width}" height="14" rx="2"/>')
        score = "ERROR" if bar.reward is None else f"{bar.reward * 100:g}"
        parts.append(f'<text class="name" x="0" y="{top + 15}">{_text(cut(bar.name, 40))}</text>')
        tail = f"{score}, expected {bar.expected}"
        parts.append(
            f'<text class="value" x="{_WIDTH}" y="{top + 15}" text-anchor="end">{_text(tail)}</text></g>'
        )
    parts.append("</svg>")
    return "".join(parts)


def timeline(bars: Sequence[Bar], *, ident: str) -> str:
    """Each trial's time: container and files, the submission, the judge."""
    longest = max((bar.duration_s for bar in bars), default=0) or 1
    words = "; ".join(f"{bar.name}: {bar.duration_s:.1f} s" for bar in bars)
    height = _ROW * len(bars)
    parts = [_open(ident, _WIDTH, height, "Time of the trials", words)]
    for index, bar in enumerate(bars):
        top = index * _ROW
        solve, judge = bar.solve_s or 0.0, bar.judge_s or 0.0
        pieces = [("other", max(bar.duration_s - solve - judge, 0.0)), ("solve", solve), ("judge", judge)]
        label = f"{bar.duration_s:.1f} s" + (f", judge {judge:.1f} s" if bar.judge_s is not None else "")
        parts.append(f'<text class="name" x="0" y="{top + 15}">{_text(cut(bar.name, 40))}</text>')
        parts.append(f'<text class="value" x="{_WIDTH}" y="{top + 15}" text-anchor="end">{label}</text>')
        x = 0.0
        for kind, seconds in pieces:
            width = seconds / longest * _WIDTH
            if width > 0:
                parts.append(
                    f'<rect class="{kind}" x="{x:.1f}" y="{top + 23}" width="{width:.1f}" height="14"/>'
                )
            x += width
    parts.append("</svg>")
    return "".join(parts)


_STATE_WORDS = {"killed": "", "blind": "blind spot", "declared": "not graded", "error": "error"}


def heat_map(data: HeatMap, *, ident: str) -> str:
    """Changes against checks: a filled cell is a check that noticed that the change was left out."""
    left = 12 + 7 * max((len(cut(row, 44)) for row in data.noticed), default=0)
    top = 14 + 6 * max((len(cut(column, 24)) for column in data.columns), default=0)
    width = left + _CELL * len(data.columns) + 90
    height = top + _CELL * len(data.noticed) + 4
    killed = sum(1 for state in data.states.values() if state == "killed")
    missed = [row for row, state in data.states.items() if state == "blind"]
    words = f"{killed} of {len(data.noticed)} changes are noticed by a check"
    words += f"; not noticed: {', '.join(missed)}" if missed else ""
    parts = [_open(ident, width, height, "Ablation: change against check", words, fixed=True)]
    for number, column in enumerate(data.columns):
        x = left + _CELL * number + _CELL / 2
        place = f'transform="translate({x + 4} {top - 6}) rotate(-60)"'
        parts.append(f'<text class="tick" {place}>{_text(cut(column, 24))}</text>')
    for index, (row, by) in enumerate(data.noticed.items()):
        y = top + _CELL * index
        state = data.states.get(row, "error")
        kind = "seen" if state == "killed" else "blind"
        parts.append(f'<g class="{kind}"><text class="name" x="0" y="{y + 17}">{_text(cut(row, 44))}</text>')
        for number, column in enumerate(data.columns):
            x = left + _CELL * number
            seen = column in by
            words = f"without {row}, {column} " + ("gives less" if seen else "gives the same")
            parts.append(
                f'<rect class="cell" x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}" '
                f'fill-opacity="{0.85 if seen else 0}"><title>{_text(words)}</title></rect>'
            )
        if _STATE_WORDS.get(state, state):
            x = left + _CELL * len(data.columns) + 6
            parts.append(
                f'<text class="value" x="{x}" y="{y + 17}">{_text(_STATE_WORDS.get(state, state))}</text>'
            )
        parts.append("</g>")
    parts.append("</svg>")
    return "".join(parts)


def _open(ident: str, width: float, height: float, title: str, words: str, *, fixed: bool = False) -> str:
    size = f'width="{width:g}" height="{height:g}" ' if fixed else ""
    return (
        f'<svg {size}viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="{ident}-t {ident}-d">'
        f'<title id="{ident}-t">{_text(title)}</title><desc id="{ident}-d">{_text(words)}</desc>'
    )


def _separation_words(bars: Sequence[Bar]) -> str:
    right = sum(1 for bar in bars if bar.verdict == "pass")
    return f"{right} of {len(bars)} trials are as expected; each bar says its own score"


def _bar_words(bar: Bar) -> str:
    score = f"error {bar.cause}" if bar.reward is None else f"{bar.reward * 100:g} of 100"
    return f"{bar.name}: {score}, expected {bar.expected}, {bar.verdict}" + (
        f" ({bar.why})" if bar.why else ""
    )


def _class(verdict: str) -> str:
    return verdict if verdict in ("pass", "fail", "error") else "error"


def _x(share: float) -> float:
    return round(share * _WIDTH, 1)


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _text(text: str) -> str:
    return escape(text, quote=True)
