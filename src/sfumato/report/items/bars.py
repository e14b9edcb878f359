"""Rows of bars whose labels may be long: a label stands above its bar."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.report.base.drawing import Row, bars
from sfumato.report.base.shapes import FIGURE, SIZE
from sfumato.report.base.svg import NARROW, drawing, fitted, plain, room, words

_STEP = 38
_TOP = 18
_SHORT = 16
"""Labels of up to so many letters stand beside their bars."""


def listed(rows: Sequence[Row], heads: tuple[str, ...]) -> str:
    """The rows as bars, with labels beside or above them, as long as they are."""
    if all(len(row.label) <= _SHORT for row in rows):
        return bars(rows, heads=heads)
    return drawing([*_heads(heads), *(_row(i, row) for i, row in enumerate(rows))], NARROW, _TOP + _STEP * len(rows))


def _heads(heads: tuple[str, ...]) -> list[str]:
    return [words(head, _figure(n, len(heads)), 11, anchor="end", size=SIZE - 1) for n, head in enumerate(heads)]


def _figure(n: int, many: int) -> float:
    return NARROW - 4 - (many - 1 - n) * FIGURE


def _row(i: int, row: Row) -> str:
    y, many = _TOP + i * _STEP, len(row.figures)
    wide, taken = NARROW - 4, max(room(row.figures[0], SIZE), 30) + 12 + (many - 1) * FIGURE
    name = words(fitted(row.label, wide - taken, SIZE), 0, y + 13, tone="muted" if row.quiet else "ink", size=SIZE)
    figures = [
        words(text, _figure(n, many), y + 13, anchor="end", tone="ink" if n == many - 1 else "muted", size=SIZE)
        for n, text in enumerate(row.figures)
    ]
    back = _bar(y + 19, 11, row.back * wide, "before")
    return "".join([name, *figures, back, _bar(y + 21.5, 6, row.front * wide, row.tone)])


def _bar(y: float, tall: float, wide: float, tone: str) -> str:
    if wide <= 0:
        return ""
    size = f'width="{plain(max(wide, 2))}" height="{plain(tall)}"'
    return f'<rect x="0" y="{plain(y)}" {size} fill="var(--{tone})"/>'
