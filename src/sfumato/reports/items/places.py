"""Pictures of path columns: heat maps of places by time, and maps of grid squares."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from math import ceil

from sfumato.reports.items.facts import GridCounts, ItemColumnFacts
from sfumato.reports.language import count, label, share, translated
from sfumato.reports.svg import LETTERS, NARROW, WIDE, Picture, blocks, drawing, fitted, named, room, words

# Readings by place and time, made ready for a picture: empty lines dropped, long axes binned, shades chosen.


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
    values = {
        (place, time): value
        for place, row in zip(grid.places, grid.counts, strict=True)
        for time, value in zip(grid.times, row, strict=True)
    }
    counts = tuple(tuple(values.get((place, time), 0) for time in axes.times) for place in axes.places)
    return GridCounts(places=axes.places, times=axes.times, counts=counts)


def missing(before: GridCounts, after: GridCounts) -> GridCounts:
    """Before minus after, where nothing is shown coarser."""
    after_grid = on_axes(after, before) or GridCounts(
        places=before.places, times=before.times, counts=tuple((0,) * len(row) for row in before.counts)
    )
    pairs = zip(before.counts, after_grid.counts, strict=True)
    counts = tuple(tuple(max(0, old - new) for old, new in zip(*rows, strict=True)) for rows in pairs)
    return GridCounts(places=before.places, times=before.times, counts=counts)


def binned(grid: GridCounts) -> tuple[GridCounts, int, int]:
    """The grid with neighbours summed until it fits, and how many places and times share a line."""
    tall, wide = _step(len(grid.places), MOST_PLACES), _step(len(grid.times), MOST_TIMES)
    if tall == wide == 1:
        return grid, 1, 1
    rows = [[sum(row[j : j + wide]) for j in range(0, len(row), wide)] for row in grid.counts]
    counts = tuple(tuple(map(sum, zip(*rows[i : i + tall], strict=True))) for i in range(0, len(rows), tall))
    joined = GridCounts(places=_joined_names(grid.places, tall), times=_joined_names(grid.times, wide), counts=counts)
    return joined, tall, wide


def _step(many: int, most: int) -> int:
    return max(1, ceil(many / most))


def _joined_names(names: Sequence[str], step: int) -> tuple[str, ...]:
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
    readings: dict[tuple[int, int], int] = {}
    for place, counts in zip(grid.places, grid.counts, strict=True):
        if square := _SQUARE.fullmatch(place):
            key = (int(square[1]), int(square[2]))
            readings[key] = readings.get(key, 0) + sum(counts)
    if len(readings) < max(2, 0.5 * len(grid.places)):
        return None
    rows = range(max(r for r, _ in readings), min(r for r, _ in readings) - 1, -1)
    columns = range(min(c for _, c in readings), max(c for _, c in readings) + 1)
    if len(rows) * len(columns) > _MOST_SQUARES:
        return None
    return GridCounts(
        places=tuple(f"r{r}" for r in rows),
        times=tuple(f"c{c}" for c in columns),
        counts=tuple(tuple(readings.get((r, c), 0) for c in columns) for r in rows),
    )


# Tables of shaded cells: places by times, and maps of squares.


_TOP = 18
_LEGEND = 42


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table of shades with the names of its lines."""

    rows: tuple[str, ...]
    """The names of the rows, from above."""
    columns: tuple[str, ...]
    """The names of the columns, from the left."""
    levels: Levels
    """The shades."""
    names: tuple[str, str]
    """What rows and columns are."""
    legend: Sequence[tuple[int, str]]
    """Shades with the largest figure of each, the palest first."""
    measure: str
    """What the shades tell."""
    tone: str = "after"
    """The colour of the shades."""
    square: bool = False
    """Whether cells are as high as wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where the cells are."""

    left: float
    wide: float
    """Of a cell."""
    tall: float
    """Of a cell."""


def heat(sheet: Sheet, width: int = NARROW) -> str:
    """The table drawn in this width, with its axes and the meaning of its shades."""
    frame = _framed(sheet, width)
    bottom = _TOP + frame.tall * len(sheet.rows)
    parts = [
        words(sheet.names[0], frame.left - 6, _TOP - 7, anchor="end"),
        blocks([(frame.left, _TOP, frame.wide * len(sheet.columns), bottom - _TOP)], "track", 0.4),
        *_cells(sheet, frame),
        *_row_names(sheet, frame),
        *_column_names(sheet, frame, bottom, width),
        *_legend(sheet, bottom + 46),
    ]
    return drawing(parts, width, bottom + 46 + _LEGEND)


def _framed(sheet: Sheet, width: int) -> _Frame:
    longest = max([room(name) for name in (*sheet.rows, *sheet.names)])
    left = min(longest, 0.26 * width if width <= NARROW else 170) + 10
    wide = min((width - left - 12) / len(sheet.columns), 40)
    tall = _height(len(sheet.rows), width)
    if sheet.square:
        wide = tall = min(wide, 22, 520 / len(sheet.rows))
    return _Frame(left=left, wide=wide, tall=tall)


def _height(rows: int, width: int) -> float:
    large = width > NARROW
    steps = ((12, 22), (30, 17 if large else 15), (45, 13 if large else 11))
    return next((tall for most, tall in steps if rows <= most), 10 if large else 8)


def _cells(sheet: Sheet, frame: _Frame) -> list[str]:
    """One path per shade; neighbours of one shade are one box where cells are small."""
    gap = 1.0 if min(frame.wide, frame.tall) >= 8 else 0.0
    xs = [round(frame.left + j * frame.wide, 1) for j in range(len(sheet.columns) + 1)]
    ys = [round(_TOP + i * frame.tall, 1) for i in range(len(sheet.rows) + 1)]
    boxes: dict[int, list[tuple[float, float, float, float]]] = {}
    for row, top, bottom in zip(sheet.levels, ys, ys[1:], strict=False):
        start = 0
        for level, run in groupby(row):
            stop = start + len(list(run))
            step = 1 if gap else stop - start
            boxes.setdefault(level, []).extend(
                (xs[j], top, xs[j + step] - xs[j] - gap, bottom - top - gap) for j in range(start, stop, step)
            )
            start = stop
    boxes.pop(-1, None)
    most = sheet.legend[-1][0]
    return [_shade(sheet, level, most, boxes[level]) for level in sorted(boxes)]


def _shade(sheet: Sheet, level: int, most: int, boxes: Sequence[tuple[float, float, float, float]]) -> str:
    return blocks(boxes, sheet.tone, 0.16 + 0.84 * level / most) if level else blocks(boxes, "before", 0.3)


def _row_names(sheet: Sheet, frame: _Frame) -> list[str]:
    every = max(1, ceil((LETTERS + 1.5) / frame.tall))
    return [
        words(
            fitted(name, frame.left - 10), frame.left - 6, _TOP + (i + 0.5) * frame.tall + 4, anchor="end", tone="ink"
        )
        for i, name in enumerate(sheet.rows)
        if i % every == 0
    ]


def _column_names(sheet: Sheet, frame: _Frame, bottom: float, width: int) -> list[str]:
    """Names under the columns that fit, and what they are below."""
    spots = [(name, frame.left + (j + 0.5) * frame.wide) for j, name in enumerate(sheet.columns)]
    return [*named(spots, bottom + 14, width=width), words(sheet.names[1], frame.left - 6, bottom + 27, anchor="end")]


def _legend(sheet: Sheet, top: float) -> list[str]:
    step = min(50.0, (NARROW - 8) / len(sheet.legend))
    most = sheet.legend[-1][0]
    parts = [words(sheet.measure, 0, top + 8)]
    for n, (level, text) in enumerate(sheet.legend):
        parts.append(_shade(sheet, level, most, [(n * step, top + 14, step - 1, 9)]))
        parts.append(words(text, (n + 1) * step - 2, top + 35, anchor="end", size=LETTERS - 0.5))
    return parts


# The pictures of a path column: places by times, and the map where places are its squares.


_TABLE = ("place", "time")
_MAP = ("row", "column")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacePictures:
    """What a path column looks like."""

    wide: Picture | None = None
    """Public: places by times, for a page."""
    narrow: Picture | None = None
    """Public: the same for a phone."""
    panels: tuple[Picture, ...] = ()
    """Inside: places by times before, after, and what vanished."""
    maps: tuple[Picture, ...] = ()
    """The map; inside before, after, and what vanished."""
    joined: str = ""
    """How places and times share rows and columns, in a sentence; empty if they do not."""
    off_map: int = 0
    """Readings of the release at places that are no squares."""


def place_pictures(column: ItemColumnFacts, *, inside: bool) -> PlacePictures | None:
    """The pictures of a column; outside only of what the release has. None where there is nothing to draw."""
    after = None if column.after is None else filled(column.after)
    if inside and column.before is not None and total(column.before):
        return _inside(column, filled(column.before), after)
    if after is None or not after.places:
        return None
    grid, tall, wide = binned(after)
    shades = Shades.of(grid)
    pictures = [_table(grid, shades, translated("Readings in the release"), width) for width in (WIDE, NARROW)]
    map_grid = mapped(after)
    maps = () if map_grid is None else (_map(map_grid, Shades.of(map_grid), translated("readings in the release")),)
    return PlacePictures(
        wide=pictures[0], narrow=pictures[1], maps=maps, joined=_joined(tall, wide), off_map=_off(after, map_grid)
    )


def _inside(column: ItemColumnFacts, before: GridCounts, after: GridCounts | None) -> PlacePictures:
    new = after or GridCounts(places=(), times=(), counts=())
    lost = on_axes(column.vanished, before) if column.vanished is not None else None
    lost = lost or missing(before, new)
    same = on_axes(new, before)
    old, tall, wide = binned(before)
    new_grid, rows, columns = binned(same or new)
    shades = Shades.of(old, new_grid)
    panels = [
        _table(old, shades, translated("Readings before"), NARROW, caption=translated("before")),
        *(
            [_table(new_grid, shades, translated("Readings after"), NARROW, caption=translated("after"))]
            if new_grid.places
            else []
        ),
        _share(old, binned(lost)[0], _TABLE),
    ]
    return PlacePictures(
        panels=tuple(panels),
        maps=_inside_maps(before, same or new, lost),
        joined=_joined(max(tall, rows), max(wide, columns)),
        off_map=_off(new, mapped(new)),
    )


def _inside_maps(before: GridCounts, after: GridCounts, lost: GridCounts) -> tuple[Picture, ...]:
    old = mapped(before)
    if old is None:
        return ()
    new_map, gone_from = mapped(after), mapped(lost)
    new_map = None if new_map is None else on_axes(new_map, old)
    shades = Shades.of(old, *([new_map] if new_map else []))
    maps = [_map(old, shades, translated("before"))]
    if new_map is not None:
        maps.append(_map(new_map, shades, translated("after")))
    if gone_from is not None and (aligned := on_axes(gone_from, old)) is not None:
        maps.append(_share(old, aligned, _MAP, square=True))
    return tuple(maps)


def _table(grid: GridCounts, shades: Shades, what: str, width: int, caption: str = "") -> Picture:
    sheet = _sheet(grid, shaded(grid, shades), _TABLE, shades)
    size = {"places": len(grid.places), "times": len(grid.times)}
    words = translated(
        "{what} by place and time: {places} places, {times} times. {told}", what=what, **size, told=_words(grid)
    )
    return Picture(svg=heat(sheet, width), words=words, caption=caption)


def _map(grid: GridCounts, shades: Shades, what: str) -> Picture:
    sheet = _sheet(grid, shaded(grid, shades), _MAP, shades, square=True)
    size = {"rows": len(grid.places), "columns": len(grid.times)}
    words = translated("Map of {rows} by {columns} squares, {what}. {told}", **size, what=what, told=_words(grid))
    return Picture(svg=heat(sheet), words=words, caption=what)


def _sheet(grid: GridCounts, levels: Levels, names: tuple[str, str], shades: Shades, *, square: bool = False) -> Sheet:
    measure = translated("readings in a square, up to" if square else "readings in a cell, up to")
    return Sheet(
        rows=grid.places,
        columns=grid.times,
        levels=levels,
        names=(translated(names[0]), translated(names[1])),
        legend=shades.legend(),
        measure=measure,
        square=square,
    )


def _share(before: GridCounts, lost: GridCounts, names: tuple[str, str], *, square: bool = False) -> Picture:
    sheet = Sheet(
        rows=before.places,
        columns=before.times,
        levels=gone(before, lost),
        names=(translated(names[0]), translated(names[1])),
        legend=gone_legend(),
        measure=translated("share of the readings that is left out, up to"),
        tone="alarm",
        square=square,
    )
    old, new = total(before), total(lost)
    pairs = [pair for rows in zip(before.counts, lost.counts, strict=True) for pair in zip(*rows, strict=True)]
    empty = sum(1 for was, went in pairs if was and went >= was)
    words = translated(
        "What vanished: {new} of {old} readings ({part}); {empty} cells lost all of theirs.",
        new=count(new),
        old=count(old),
        part=share(new / old if old else 0.0),
        empty=count(empty),
    )
    return Picture(svg=heat(sheet), words=words, caption=translated("what vanished"))


def _words(grid: GridCounts) -> str:
    """All readings, and where most of them are."""
    cells = (
        (-value, place, time)
        for place, row in zip(grid.places, grid.counts, strict=True)
        for time, value in zip(grid.times, row, strict=True)
        if value
    )
    most = islice(sorted(cells), 3)
    named = "; ".join(
        translated("{place} at {time}: {n}", place=label(place), time=label(time), n=count(-value))
        for value, place, time in most
    )
    if not named:
        return translated("No readings.")
    return translated("{n} readings in all. Most: {named}.", n=count(total(grid)), named=named)


def _joined(tall: int, wide: int) -> str:
    parts = [
        translated(words, n=n)
        for n, words in ((tall, "{n} neighbouring places share a row"), (wide, "{n} neighbouring times share a column"))
        if n > 1
    ]
    return translated("To fit, {parts}.", parts=translated(" and ").join(parts)) if parts else ""


def _off(grid: GridCounts, map_grid: GridCounts | None) -> int:
    return 0 if map_grid is None else total(grid) - total(map_grid)
