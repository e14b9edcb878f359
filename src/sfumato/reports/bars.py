"""Bar charts and histograms: long lists binned into rows that a picture can show."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import floor, isfinite, log10

from sfumato.reports.language import count, label, number, share, translated
from sfumato.reports.svg import (
    AFTER,
    ALARM,
    BARS,
    BEFORE,
    FIGURE,
    INK,
    LABELS,
    MUTED,
    SIZE,
    STEP,
    TALL,
    blocks,
    broken,
    dashed,
    drawing,
    leading,
    line,
    stacked,
    words,
)

# Rows of bars and histograms as static SVG, in the page's colours and fonts.


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
    rectangles = [
        (place * each, top + TALL * (1 - many / most), 0.86 * each, TALL * many / most)
        for place, many in enumerate(counts)
        if many
    ]
    below = top + TALL + 6 + 0.8 * SIZE
    parts = [
        blocks(rectangles, BEFORE),
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


# Long lists of figures cut to the few rows that a picture can show.


Distribution = Sequence[tuple[str, int]]
"""Labels with how often they occur, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBin:
    """Classes of about the same size."""

    label: str
    """The sizes, from and to."""
    low: int
    """The smallest size."""
    classes: int
    """How many classes have such a size."""
    rows: int
    """How many rows are in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Numbers counted in steps of equal width."""

    start: float
    """Where the first step begins."""
    step: float
    """The width of a step."""
    counts: tuple[int, ...]
    """How many rows each step has."""
    apart: int
    """Rows whose value is not a number."""


def size_bins(sizes: Sequence[tuple[int, int]], limit: int | None) -> list[SizeBin]:
    """Class sizes in steps of 1, 2, 5, 10, 20 ...; a step begins at the limit, and the sizes below it are always there.

    >>> [(each.low, each.classes) for each in size_bins([(7, 3), (12, 1)], 4)]
    [(1, 0), (4, 0), (5, 3), (10, 1)]
    """
    if not sizes:
        return []
    low, high = sizes[0][0], sizes[-1][0]
    edges = sorted({*_steps(max(high, limit or 1)), limit or 1})
    if limit and low >= limit > 1:
        edges = [1, *(edge for edge in edges if edge >= limit)]
    first = 0 if limit else bisect_right(edges, low) - 1
    last = bisect_right(edges, max(high, limit or 1))
    return [_bin(sizes, start, stop) for start, stop in pairwise(edges[first : last + 1])]


def top(parts: Sequence[tuple[str, int, int]], most: int = 12) -> list[tuple[str, int, int]]:
    """The most frequent labels in their own order, and the others summed up in one row at the end.

    >>> top([("a", 1, 0), ("b", 5, 5), ("c", 1, 1)], most=1)
    [('b', 5, 5), ('2 others', 2, 1)]
    """
    if len(parts) <= most + 1:
        return [(label(name), before, after) for name, before, after in parts]
    order = sorted(range(len(parts)), key=lambda i: (-parts[i][1] - parts[i][2], i))
    kept, rest = sorted(order[:most]), order[most:]
    rows = [(label(parts[i][0]), *parts[i][1:]) for i in kept]
    other = translated("{n} others", n=count(len(rest)))
    return [*rows, (other, sum(parts[i][1] for i in rest), sum(parts[i][2] for i in rest))]


def joined(before: Distribution, after: Distribution) -> list[tuple[str, int, int]]:
    """Both distributions over all labels of either, in the order given."""
    old, new = dict(before), dict(after)
    return [(name, old.get(name, 0), new.get(name, 0)) for name in dict.fromkeys([*old, *new])]


def histogram(parts: Distribution, most: int = 24) -> Histogram | None:
    """The distribution in at most so many equal steps, if it has many labels and nearly all of them are numbers."""
    pairs = [(_real(name), rows) for name, rows in parts]
    real = [(value, rows) for value, rows in pairs if value is not None]
    if len(real) <= most // 2 or len(real) < 0.8 * len(pairs):
        return None
    low, high = min(real)[0], max(real)[0]
    step = _step((high - low) / (most - 1))
    start = floor(low / step) * step
    counts = [0] * (int((high - start) / step) + 1)
    for value, rows in real:
        counts[min(int((value - start) / step), len(counts) - 1)] += rows
    return Histogram(
        start=start, step=step, counts=tuple(counts), apart=sum(rows for value, rows in pairs if value is None)
    )


def _bin(sizes: Sequence[tuple[int, int]], start: int, stop: int) -> SizeBin:
    inside = [(size, many) for size, many in sizes if start <= size < stop]
    name = number(start) if stop == start + 1 else f"{number(start)}\u2013{number(stop - 1)}"
    return SizeBin(
        label=name,
        low=start,
        classes=sum(many for _, many in inside),
        rows=sum(size * many for size, many in inside),
    )


def _steps(high: int) -> list[int]:
    digits = len(str(max(high, 1))) + 1
    return [1, 2, 3, 4] + [lead * 10**power for power in range(digits) for lead in (1, 2, 5) if lead * 10**power >= 5]


def _step(width: float) -> float:
    """The next width of 1, 2 or 5 times a power of ten."""
    if width <= 0 or not isfinite(width):
        return 1.0
    unit = 10.0 ** floor(log10(width))
    return next(lead * unit for lead in (1, 2, 5, 10) if lead * unit >= width * (1 - 1e-9))


def _real(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


# How often values occur, as bars with rows and shares, and in words.


def value_bars(distribution: Distribution, whole: int, head: str) -> tuple[str, str]:
    """The most frequent of some values, of ``whole`` in all, as a drawing and in words; ``head`` is what is counted."""
    parts = [(words, each) for words, each, _ in top([(words, each, 0) for words, each in distribution])]
    most = max([1, *(each for _, each in parts)])
    rows = [
        Row(label=words, front=each / most, figures=(count(each), share(each / max(whole, 1)))) for words, each in parts
    ]
    return bars(rows, heads=(head, translated("share"))), "; ".join(f"{words} {count(each)}" for words, each in parts)


def heads(alone: str, *, inside: bool) -> tuple[str, ...]:
    """The heads of bars of a release: before and after where the original may be shown, else one."""
    return (translated("before"), translated("after")) if inside else (alone,)


def changed(name: str, old: str, new: str) -> str:
    """What a pair of bars shows, in words."""
    return translated("{name} {old} before, {new} after", name=name, old=old, new=new)
