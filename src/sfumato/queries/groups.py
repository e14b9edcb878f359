"""Rows by declared domains: which group a cell belongs to.

A cell outside its domain does not stop an answer, for a refusal would tell of the record that caused it: numbers are
clamped, strange categories become ``other`` where it is declared; they are left out else, as missing numbers are.
"""

from __future__ import annotations

from math import ceil, floor, log2

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.tables.schema import Domain, Numbers
from sfumato.tables.table import Codes, Table, plain_cells

MOST_BINS = 2**20
"""No domain and no product of domains may have more groups than this."""


def queryable(domain: Domain | None) -> Domain | None:
    """A domain that can be asked about; one of too many groups is refused."""
    if isinstance(domain, Numbers) and domain.grid is not None and (domain.high - domain.low) / domain.grid > MOST_BINS:
        raise ParameterError(f"grid must make at most {MOST_BINS} parts of the range, not {domain.grid:g}")
    return domain


def candidates(domain: Numbers) -> NDArray[np.float64]:
    """What a quantile can be: marks as fine as they are without a declared width of groups."""
    return Numbers(low=domain.low, high=domain.high).marks


def parted(domain: Numbers, bins: int) -> Numbers:
    """The same numbers in so many equal parts."""
    return Numbers(low=domain.low, high=domain.high, grid=(domain.high - domain.low) / bins)


def codes_in(domain: Domain, cells: pl.Series) -> Codes:
    """Each row's group; -1 where there is no number, or no declared text."""
    if isinstance(domain, Numbers):
        numbers = numbers_in(cells)
        inner = domain.marks[1:-1]
        place = np.searchsorted(inner, np.clip(np.nan_to_num(numbers), domain.low, domain.high), side="right")
        return np.where(np.isnan(numbers), -1, place).astype(np.int32)
    known = pl.Series(list(domain.values), dtype=pl.String)
    places = pl.Series(range(len(domain.values)), dtype=pl.Int32)
    rest = -1 if domain.other is None else domain.values.index(domain.other)
    return texts_in(cells).replace_strict(known, places, default=rest).fill_null(rest).to_numpy().astype(np.int32)


def present(table: Table, name: str) -> pl.Series:
    """The cells of a column, null where one means a missing value."""
    cells = plain_cells(table.frame[name])
    absent = cells.is_null()
    if cells.dtype == pl.String and table.missing:
        absent = absent | cells.is_in(list(table.missing)).fill_null(value=False)
    return cells.zip_with(~absent, pl.Series([None], dtype=cells.dtype))


def grouped(table: Table, name: str, domain: Domain) -> pl.Series:
    """The cells of a column that makes groups; a missing number has none, a missing text may be declared as a value."""
    return present(table, name) if isinstance(domain, Numbers) else table.frame[name]


def readable(dtype: pl.DataType) -> bool:
    """Whether cells of a type can be read as numbers and as texts."""
    return dtype.is_numeric() or dtype in _READABLE


_READABLE = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Categorical, pl.Enum, pl.Null)


def numbers_in(cells: pl.Series) -> NDArray[np.float64]:
    """Cells as numbers; NaN where a cell is none, or is infinite."""
    cells = plain_cells(cells)
    texts = cells.str.strip_chars() if cells.dtype == pl.String else cells
    numbers = texts.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy().astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def texts_in(cells: pl.Series) -> pl.Series:
    """Cells as texts, each by itself: one strange record must not change how the others are written.

    Whole numbers have no point even where the column holds reals, and days have no time of day.
    """
    texts = cells.cast(pl.String)
    if isinstance(cells.dtype, pl.Datetime):
        days = (cells.dt.truncate("1d") == cells).fill_null(value=False)
        return cells.dt.date().cast(pl.String).zip_with(days, texts)
    if cells.dtype.is_float():
        whole = ((cells == cells.round(0)) & (cells.abs() < 2.0**53)).fill_null(value=False)
        return cells.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole, texts)
    return texts


def group_codes(columns: list[tuple[Domain, pl.Series]], rows: int) -> tuple[NDArray[np.int64], int]:
    """Each row's place in the product of domains, the last one varying fastest; -1 outside of any of them."""
    place, many = np.zeros(rows, np.int64), 1
    for domain, cells in columns:
        codes, size = codes_in(domain, cells), len(domain.labels)
        place = np.where((place < 0) | (codes < 0), -1, place * size + codes)
        many *= size
    return place, many


def whole_units(
    numbers: NDArray[np.float64], low: float, high: float, centre: float
) -> tuple[NDArray[np.int64], float, int]:
    """Numbers as whole multiples of a unit above ``centre``, the unit, and how many units one number can be away.

    A sum of whole numbers is exact, in any order; one of floats is not, and its rounding can move further than the
    declared bounds say. The unit is a power of two, at most 2^-29 of the reach: rounding to it is far below the noise.
    """
    reach = max(abs(low - centre), abs(high - centre))
    unit = 2.0 ** (floor(log2(reach)) - 29)
    most = ceil(reach / unit)
    scaled = np.rint((np.clip(numbers, low, high) - centre) / unit)
    return np.clip(scaled, -most, most).astype(np.int64), unit, most
