"""Rows of bars and histograms as static SVG, in the page's colours and fonts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sfumato.report.base.shapes import AFTER, ALARM, BARS, BEFORE, FIGURE, INK, LABELS, MUTED, SIZE, STEP, TALL
from sfumato.report.base.svg import blocks, broken, dashed, drawing, leading, line, stacked, words

_ABOVE, _BELOW = 22, 4
"""The room above the first row, for heads, and below the last one."""
_WIDE, _NARROW = 13, 7
"""The heights of the pale and of the strong bar."""
_MIDDLE = 0.34 * SIZE
"""How far below the middle of its line a text stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a picture: a label, up to two bars on each other, and up to two figures."""

    label: str
    """What it is about."""
    back: float = 0.0
    """The length of the wide pale bar, between 0 and 1."""
    front: float = 0.0
    """The length of the narrow strong bar, between 0 and 1."""
    figures: tuple[str, ...] = ()
    """As many as the picture has heads."""
    tone: str = AFTER
    """The colour of the strong bar."""
    rule: bool = False
    """Whether it is a dashed line instead: a limit."""
    quiet: bool = False
    """Whether its label is muted."""


def bars(rows: Sequence[Row], *, heads: tuple[str, ...], back: str = BEFORE) -> str:
    """An SVG with a line per row, under one head per figure; the figures under the last head are strong."""
    wide = BARS + (2 - len(heads)) * FIGURE
    ends = [LABELS + wide + (n + 1) * FIGURE for n in range(len(heads))]
    parts = [
        words(head, end, _ABOVE - 9 + _MIDDLE, anchor="end", size=SIZE - 1)
        for head, end in zip(heads, ends, strict=True)
    ]
    labels = [broken(row.label, LABELS - 4, SIZE) for row in rows]
    heights = [STEP + (len(lines) - 1) * leading(SIZE) for lines in labels]
    for row, lines, tall, below in zip(rows, labels, heights, accumulate(heights), strict=True):
        middle = _ABOVE + below - tall / 2
        ink = ALARM if row.rule else MUTED if row.quiet else INK
        parts += stacked(lines, 0, middle, tone=ink, size=SIZE)
        parts.append(_bar(row.back, wide, middle, _WIDE, back))
        parts.append(_bar(row.front, wide, middle, _NARROW, row.tone))
        for text, end in zip(row.figures, ends, strict=False):
            tone = INK if end == ends[-1] else MUTED
            parts.append(words(text, end, middle + _MIDDLE, anchor="end", tone=tone, size=SIZE))
        if row.rule:
            parts.append(dashed(LABELS, middle, LABELS + wide + len(heads) * FIGURE, middle, ALARM))
    return drawing(parts, LABELS + wide + len(heads) * FIGURE + 4, _ABOVE + sum(heights) + _BELOW)


def columns(counts: Sequence[int], *, low: str, high: str) -> str:
    """An SVG with a column per count, and what its two ends stand for."""
    wide, top = LABELS + BARS + 2 * FIGURE, 6
    most, each = max([*counts, 1]), wide / max(len(counts), 1)
    found = [
        (place * each, top + TALL * (1 - many / most), 0.86 * each, TALL * many / most)
        for place, many in enumerate(counts)
        if many
    ]
    below = top + TALL + 6 + 0.8 * SIZE
    parts = [
        blocks(found, BEFORE),
        line(0, top + TALL, wide, top + TALL, MUTED, width=0.5),
        words(low, 0, below, tone=INK, size=SIZE),
        words(high, wide, below, anchor="end", tone=INK, size=SIZE),
    ]
    return drawing(parts, wide + 4, top + TALL + 24)


def _bar(length: float, wide: float, middle: float, height: float, tone: str) -> str:
    """A bar; what is above 0 stays visible."""
    if length <= 0:
        return ""
    return blocks([(LABELS, middle - height / 2, wide * min(max(length, 0.01), 1.0), height)], tone)
