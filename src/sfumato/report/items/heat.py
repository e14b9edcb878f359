"""Tables of shaded cells: places by times, and maps of squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from sfumato.report.base.svg import LETTERS, NARROW, blocks, drawing, fitted, named, room, words
from sfumato.report.items.place_time import Levels

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
        for level, found in groupby(row):
            stop = start + len(list(found))
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
