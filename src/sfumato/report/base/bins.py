"""Long lists of figures cut to the few rows that a picture can show."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, log10

from sfumato.report.base.figures import count, label, number
from sfumato.report.base.language import said

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
    shown = [(label(parts[i][0]), *parts[i][1:]) for i in kept]
    other = said("{n} others", n=count(len(rest)))
    return [*shown, (other, sum(parts[i][1] for i in rest), sum(parts[i][2] for i in rest))]


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
