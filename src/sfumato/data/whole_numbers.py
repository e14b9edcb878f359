"""Cells of programs that know one kind of number only: whole numbers and days are shown as what they are."""

from __future__ import annotations

import polars as pl

from sfumato.data.table import has_times

_EXACT = 2**53
"""Whole numbers up to here are exact in 64 bits of floating point."""


def plain_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of whole numbers become integers, times at midnight dates, columns without any value texts.

    >>> plain_types(pl.DataFrame({"age": [31.0, None], "pay": [1.5, 2.0], "x": [None, None]})).dtypes
    [Int64, Float64, String]
    """
    return frame.with_columns(_plain(frame[name]) for name in frame.columns)


def _plain(cells: pl.Series) -> pl.Series:
    if cells.dtype == pl.Null:
        return cells.cast(pl.String)
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
        whole = bool(((cells == cells.round()) & (cells.abs() <= _EXACT)).all())
        return cells.cast(pl.Int64) if whole else cells
    return cells.dt.date() if isinstance(cells.dtype, pl.Datetime) and not has_times(cells) else cells
