"""Hierarchies for a draft that are fitted to the values of a column: intervals, cuts, calendar units, common values."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10
from typing import Any

import numpy as np

from sfumato.data.bundled import fitting_hierarchy
from sfumato.data.table import Column

Tree = Mapping[str, Any]
_WIDEST = 1e300
"""A quarter of a wider range cannot be divided into equal steps."""
_CROWDED = 0.5
"""Intervals of one width are not used where one of them holds a larger share of the rows."""
_SHARES = (0.02, 0.1, 0.25)
"""A value is common, at each level, if it has at least this share of the rows."""
_LEAST_ROWS = 10
"""A value with fewer rows is never named in a draft."""
_FLAT: Tree = {"kind": "flat"}
_MASK: Tree = {"kind": "mask", "from": "right"}
DATES: Tree = {"kind": "dates", "levels": ["month", "year", "decade"]}
"""Calendar units from the month up."""


def fitted(column: Column, kind: str, wish: Tree | str | None = None) -> Tree:
    """The hierarchy that a recogniser wishes for, or else one that fits the look of the values."""
    if isinstance(wish, Mapping):
        return wish
    if kind == "date" or wish == "dates":
        return DATES
    if kind in ("integer", "real") and len(column.present) > 2:
        return intervals(column)
    known = fitting_hierarchy(column.name, column.present)
    if known:
        return {"bundled": known}
    return _MASK if coded(column) else common(column)


def plain_tree(column: Column) -> Tree:
    """A hierarchy that follows no counts: equal intervals, calendar units, hidden characters, or values as they are."""
    if column.kind in ("integer", "real") and len(column.present) > 2:
        return _equal(column)
    if column.kind == "date":
        return DATES
    if coded(column):
        return _MASK
    known = fitting_hierarchy(column.name, column.present)
    return {"bundled": known} if known else _FLAT


def coded(column: Column) -> bool:
    """Whether the values are codes of one length, such as postal codes."""
    values = column.present
    lengths = {len(value) for value in values}
    return len(values) > 20 and len(lengths) == 1 and min(lengths) >= 3 and all(value.isalnum() for value in values)


def common(column: Column) -> Tree:
    """Levels that keep the common values; rare ones are not named.

    The values of a level stand in the order of the alphabet: the draft tells which are common, not which is commonest.
    """
    counts = column.counts[: len(column.present)]
    levels: list[list[str]] = []
    for share in _SHARES:
        least = max(share * int(counts.sum()), _LEAST_ROWS)
        kept = sorted(value for value, rows in zip(column.present, counts, strict=True) if rows >= least)
        fewer = len(kept) <= len(column.present) - 2 and (not levels or len(kept) < len(levels[-1]))
        if kept and fewer:
            levels.append(kept)
    return {"kind": "common", "keep": levels} if levels else _FLAT


def intervals(column: Column) -> Tree:
    """Equal intervals, or cuts near equal shares of the rows where one interval would hold most of them."""
    tree = _equal(column)
    if "widths" in tree and _fullest(column, float(tree["low"]), float(tree["widths"][0])) > _CROWDED:
        levels = _cuts(column)
        return {"kind": "intervals", "cuts": levels} if levels else tree
    return tree


def _equal(column: Column) -> Tree:
    """Three widths, about a twentieth, a tenth and a fifth of the range, in round numbers."""
    numbers = column.numbers[: len(column.present)]
    low, high = float(np.min(numbers)), float(np.max(numbers))
    if high / 4 - low / 4 > _WIDEST:
        return _FLAT
    unit = _round(max((high - low) / 20.0, 1.0 if column.kind == "integer" else 0.0))
    wide = 4 * unit
    start = floor(low / wide) * wide
    end = (floor(high / wide) + 1) * wide
    return {
        "kind": "intervals",
        "widths": [_tidy(unit), _tidy(2 * unit), _tidy(wide)],
        "low": _tidy(start),
        "high": _tidy(end),
    }


def _fullest(column: Column, start: float, unit: float) -> float:
    """The share of the rows in the fullest interval of a width, where there are more values than intervals."""
    numbers = column.numbers[: len(column.present)]
    if len(numbers) < 20:
        return 0.0
    counts = column.counts[: len(column.present)]
    places = np.floor((numbers - start) / unit).astype(np.int64)
    held = np.bincount(places - places.min(), weights=counts)
    return float(held.max() / max(counts.sum(), 1))


def _cuts(column: Column) -> list[list[float | int]]:
    """Round numbers near the eighths, the quarters and the half of the rows; fewer where they fall together."""
    numbers = column.numbers[: len(column.present)]
    counts = column.counts[: len(column.present)]
    ranks = np.cumsum(counts) / max(int(counts.sum()), 1)
    low = float(numbers.min())
    marks = [_two_digits(float(numbers[np.searchsorted(ranks, share)])) for share in np.arange(1, 8) / 8]
    levels: list[list[float | int]] = []
    for step in (1, 2, 4):
        level = [_tidy(mark) for mark in sorted({one for one in marks[step - 1 :: step] if one > low})]
        if level and (not levels or len(level) < len(levels[-1])):
            levels.append(level)
    return levels


def _two_digits(x: float) -> float:
    """A number rounded to its first two digits."""
    return float(f"{x:.1e}")


def _round(x: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if x <= 0:
        return 1.0
    power = 10.0 ** floor(log10(x))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= x * 0.999)


def _tidy(x: float) -> float | int:
    return int(x) if float(x).is_integer() else float(f"{x:.6g}")


def read_off(tree: Tree | None) -> bool:
    """Whether a suggested hierarchy declares a domain that was read off the rows.

    >>> read_off({"kind": "intervals", "widths": [5], "low": 20, "high": 80}), read_off({"kind": "flat"})
    (True, False)
    """
    return tree is not None and "low" in tree
