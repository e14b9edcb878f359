"""Rows of bars whose labels may be long: a label stands above its bar."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from sfumato.report.base.drawing import Row, bars
from sfumato.report.base.shapes import FIGURE, SIZE
from sfumato.report.base.svg import NARROW, broken, drawing, leading, plain, room, stacked, words

_STEP = 38
_TOP = 18
_SHORT = 16
"""Labels of up to so many letters stand beside their bars."""


def listed(rows: Sequence[Row], heads: tuple[str, ...]) -> str:
    """The rows as bars, with labels beside or above them, as long as they are."""
    if all(len(row.label) <= _SHORT for row in rows):
        return bars(rows, heads=heads)
    labels = [broken(row.label, NARROW - 4 - _taken(row), SIZE) for row in rows]
    heights = [_STEP + (len(lines) - 1) * leading(SIZE) for lines in labels]
    places = accumulate(heights, initial=_TOP)
    drawn = [_row(y, row, lines) for y, row, lines in zip(places, rows, labels, strict=False)]
    return drawing([*_heads(heads), *drawn], NARROW, _TOP + sum(heights))


def _heads(heads: tuple[str, ...]) -> list[str]:
    return [words(head, _figure(n, len(heads)), 11, anchor="end", size=SIZE - 1) for n, head in enumerate(heads)]


def _figure(n: int, many: int) -> float:
    return NARROW - 4 - (many - 1 - n) * FIGURE


def _taken(row: Row) -> float:
    """The room of the figures."""
    return max(room(row.figures[0], SIZE), 30) + 12 + (len(row.figures) - 1) * FIGURE


def _row(y: float, row: Row, lines: Sequence[str]) -> str:
    wide, many, more = NARROW - 4, len(row.figures), (len(lines) - 1) * leading(SIZE)
    name = "".join(stacked(lines, 0, y + 13 + more / 2 - 0.34 * SIZE, tone="muted" if row.quiet else "ink", size=SIZE))
    figures = [
        words(text, _figure(n, many), y + 13, anchor="end", tone="ink" if n == many - 1 else "muted", size=SIZE)
        for n, text in enumerate(row.figures)
    ]
    back = _bar(y + more + 19, 11, row.back * wide, "before")
    return "".join([name, *figures, back, _bar(y + more + 21.5, 6, row.front * wide, row.tone)])


def _bar(y: float, tall: float, wide: float, tone: str) -> str:
    if wide <= 0:
        return ""
    size = f'width="{plain(max(wide, 2))}" height="{plain(tall)}"'
    return f'<rect x="0" y="{plain(y)}" {size} fill="var(--{tone})"/>'
