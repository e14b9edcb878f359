"""What labels and values say as numbers: the ends of a label, and the number of a value."""

from __future__ import annotations

import re
from math import inf, isnan, nan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.subject import Coverage, Mask
from sfumato.data.kinds import is_readable
from sfumato.describe.spans import read_interval

Floats = NDArray[np.float64]

_PLAIN = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""A number as it is, which stands for itself: read for all labels at once."""
_BOX = re.compile(r"\[(.*) - (.*)\]")


def numbers(cells: pl.Series) -> Floats:
    """The numbers of some cells; NaN for what is none."""
    return cells.cast(pl.String).cast(pl.Float64, strict=False).fill_null(nan).to_numpy().astype(np.float64)


def ends(coverage: Coverage) -> tuple[Floats, Floats]:
    """The smallest and the largest number that each label may stand for; NaN where it names none.

    A number stands for itself, an interval for what its spelling says, a star for every number; other labels, such as
    the names of a tree, for the values that they cover.

    >>> low, high = ends(Coverage(labels=("*", "7"), values=("1", "9"), covers=np.array([[1, 1], [0, 0]], np.bool_)))
    >>> low.tolist(), high.tolist()
    ([-inf, 7.0], [inf, 7.0])
    """
    cells = pl.Series(coverage.labels, dtype=pl.String)
    low = numbers(pl.select(pl.when(cells.str.contains(_PLAIN)).then(cells)).to_series())
    high, others = low.copy(), np.flatnonzero(np.isnan(low)).tolist()
    values = np.array([_number(value) for value in coverage.values] if others else [], np.float64)
    for place in others:
        low[place], high[place] = _ends(coverage.labels[place], values, coverage.covers[place])
    return low, high


def _number(text: str) -> float:
    return float(text) if is_readable(text, "real") else nan


def _ends(label: str, values: Floats, covered: Mask) -> tuple[float, float]:
    if label == "*":
        return -inf, inf
    interval = read_interval(label)
    if interval is not None:
        return interval.low, interval.high if interval.closed else float(np.nextafter(interval.high, -inf))
    if (box := _BOX.fullmatch(label)) and not isnan(_number(box[1]) + _number(box[2])):
        return _number(box[1]), _number(box[2])
    known = values[covered]
    known = known[~np.isnan(known)]
    return (float(known.min()), float(known.max())) if len(known) else (nan, nan)
