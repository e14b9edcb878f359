"""Readings by place and time, made ready for a picture: empty lines dropped, long axes binned, shades chosen."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from sfumato.report.base.figures import count, share
from sfumato.report.items.item_facts import GridCounts

MOST_PLACES = 70
"""More places than this share rows."""
MOST_TIMES = 60
"""More times than this share columns."""
SHADES = 7
"""How many shades tell numbers of readings apart."""
PARTS = 5
"""How many shades tell shares apart."""
_SQUARE = re.compile(r"r(\d{1,9})c(\d{1,9})")
_MOST_SQUARES = 40_000

Levels = tuple[tuple[int, ...], ...]
"""The shade of every cell: -1 for none, 0 for the palest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shades:
    """Numbers of readings as shades that about equally many cells have."""

    limits: tuple[int, ...]
    """The largest number of each shade, ascending."""

    @classmethod
    def of(cls, *grids: GridCounts) -> Shades:
        """Shades for all cells of some grids.

        >>> Shades.of(GridCounts(places=("a",), times=tuple("12345678"), counts=((0, 1, 1, 1, 2, 3, 9, 500),))).limits
        (1, 2, 3, 9, 500)
        """
        values = sorted(value for grid in grids for row in grid.counts for value in row if value > 0) or [1]
        return cls(limits=tuple(sorted({values[ceil(len(values) * n / SHADES) - 1] for n in range(1, SHADES + 1)})))

    def shade(self, value: int) -> int:
        """The shade of a number from 1 on; -1 where there are no readings."""
        return -1 if value <= 0 else bisect_left(self.limits, value) + 1

    def legend(self) -> list[tuple[int, str]]:
        """The shades with the largest number of each."""
        return [(n, count(limit)) for n, limit in enumerate(self.limits, 1)]


def shaded(grid: GridCounts, shades: Shades) -> Levels:
    """The shades of a grid's cells."""
    return tuple(tuple(map(shades.shade, row)) for row in grid.counts)


def gone(before: GridCounts, vanished: GridCounts) -> Levels:
    """The shades of vanished shares; cells that were empty before have none."""
    pairs = zip(before.counts, vanished.counts, strict=True)
    return tuple(tuple(_part(lost / old) if old else -1 for old, lost in zip(*rows, strict=True)) for rows in pairs)


def gone_legend() -> list[tuple[int, str]]:
    """The shades of shares with the largest share of each."""
    return [(n, share(n / PARTS)) for n in range(PARTS + 1)]


def _part(value: float) -> int:
    return min(PARTS, max(0, ceil(PARTS * value - 1e-9)))


def total(grid: GridCounts) -> int:
    """All readings."""
    return sum(map(sum, grid.counts))


def filled(grid: GridCounts) -> GridCounts:
    """The grid without places and times that have no readings."""
    rows = [i for i, row in enumerate(grid.counts) if any(row)]
    columns = [j for j in range(len(grid.times)) if any(row[j] for row in grid.counts)]
    return GridCounts(
        places=tuple(grid.places[i] for i in rows),
        times=tuple(grid.times[j] for j in columns),
        counts=tuple(tuple(grid.counts[i][j] for j in columns) for i in rows),
    )


def on_axes(grid: GridCounts, axes: GridCounts) -> GridCounts | None:
    """The grid on the places and times of another one, if that has all of them."""
    if not (set(grid.places) <= set(axes.places) and set(grid.times) <= set(axes.times)):
        return None
    found = {
        (place, time): value
        for place, row in zip(grid.places, grid.counts, strict=True)
        for time, value in zip(grid.times, row, strict=True)
    }
    counts = tuple(tuple(found.get((place, time), 0) for time in axes.times) for place in axes.places)
    return GridCounts(places=axes.places, times=axes.times, counts=counts)


def missing(before: GridCounts, after: GridCounts) -> GridCounts:
    """Before minus after, where nothing is shown coarser."""
    shown = on_axes(after, before) or GridCounts(
        places=before.places, times=before.times, counts=tuple((0,) * len(row) for row in before.counts)
    )
    pairs = zip(before.counts, shown.counts, strict=True)
    counts = tuple(tuple(max(0, old - new) for old, new in zip(*rows, strict=True)) for rows in pairs)
    return GridCounts(places=before.places, times=before.times, counts=counts)


def binned(grid: GridCounts) -> tuple[GridCounts, int, int]:
    """The grid with neighbours summed until it fits, and how many places and times share a line."""
    tall, wide = _step(len(grid.places), MOST_PLACES), _step(len(grid.times), MOST_TIMES)
    if tall == wide == 1:
        return grid, 1, 1
    rows = [[sum(row[j : j + wide]) for j in range(0, len(row), wide)] for row in grid.counts]
    counts = tuple(tuple(map(sum, zip(*rows[i : i + tall], strict=True))) for i in range(0, len(rows), tall))
    joined = GridCounts(places=_joined(grid.places, tall), times=_joined(grid.times, wide), counts=counts)
    return joined, tall, wide


def _step(many: int, most: int) -> int:
    return max(1, ceil(many / most))


def _joined(names: Sequence[str], step: int) -> tuple[str, ...]:
    parts = (names[i : i + step] for i in range(0, len(names), step))
    return tuple(part[0] if len(part) == 1 else _span(part[0], part[-1]) for part in parts)


def _span(first: str, last: str) -> str:
    """Both ends if they are short, or else the first one.

    >>> len(_span("7", "9")), len(_span("r01c01", "r01c09"))
    (3, 8)
    """
    return f"{first}\u2013{last}" if len(first) + len(last) < 9 else f"{first} \u2026"


def mapped(grid: GridCounts) -> GridCounts | None:
    """Readings by row and column of a map, the highest row first, if most places are its squares, such as r012c007."""
    found: dict[tuple[int, int], int] = {}
    for place, counts in zip(grid.places, grid.counts, strict=True):
        if square := _SQUARE.fullmatch(place):
            key = (int(square[1]), int(square[2]))
            found[key] = found.get(key, 0) + sum(counts)
    if len(found) < max(2, 0.5 * len(grid.places)):
        return None
    rows = range(max(r for r, _ in found), min(r for r, _ in found) - 1, -1)
    columns = range(min(c for _, c in found), max(c for _, c in found) + 1)
    if len(rows) * len(columns) > _MOST_SQUARES:
        return None
    return GridCounts(
        places=tuple(f"r{r}" for r in rows),
        times=tuple(f"c{c}" for c in columns),
        counts=tuple(tuple(found.get((r, c), 0) for c in columns) for r in rows),
    )
