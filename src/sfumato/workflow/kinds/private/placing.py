"""Where the values of a column lie in its declared domain; every value has a place, or its record is left out.

Whether a release appears must not depend on one record, so nothing is refused for a cell unless the plan says
``outside = "refuse"``. What becomes of a record depends on the record alone: one more record is at most one more row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Codes, Table
from sfumato.describe.domains import Categories, Numbers
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.spans import Ends
from sfumato.ground.errors import DataError, PlanError, listed
from sfumato.group.coded_column import CodedColumn
from sfumato.publish.noisy_table import Attribute, grid_cells
from sfumato.queries.queryable import codes_in, numbers_in, present, readable
from sfumato.workflow.plan.column_plan import ColumnPlan

MOST_CELLS = 1_000_000
"""More cells than this have no use: no count of them would be above its noise."""
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """A declared domain, and every row's place in it."""

    attribute: Attribute
    """The domain."""
    rows: CodedColumn
    """The places; that of a row that is left out means nothing."""
    kept: Rows
    """Which rows have a place."""
    moved: int = 0
    """How many cells were clamped, became ``other`` or, of sets, were left out: private."""


def classes_of(table: Table, name: str, values: tuple[str, ...], column: ColumnPlan) -> tuple[Codes, Rows, int]:
    """The class of every row, which rows have one, and how many were told as another one."""
    return _texts(table, name, _cells(table, name), values, column)


def leaf_of(table: Table, name: str, hierarchy: Hierarchy, column: ColumnPlan, missing: str | None) -> Placed:
    """Every row's leaf; a declared missing marker is one even if it never occurs."""
    values = hierarchy.levels[0].labels
    cells = _cells(table, name)
    absent = None if missing is None else np.asarray(table.is_missing(name).to_numpy(), np.bool_)
    codes, kept, moved = _texts(table, name, cells, values, column, absent)
    if missing is not None and absent is not None:
        codes = np.where(absent, values.index(missing), codes).astype(np.int32)
    made = Attribute(name=name, kind="tree", values=values, tree=hierarchy.tree())
    return Placed(attribute=made, rows=CodedColumn(codes=codes, size=len(values)), kept=kept, moved=moved)


def number_of(table: Table, name: str, declared: Numbers, column: ColumnPlan) -> Placed:
    """Every row's cell of the grid: beyond an end it is the last one there, and a row without a number has none."""
    grid = declared.grid or 1.0
    cells = grid_cells(declared.low, declared.high, grid)
    if cells > MOST_CELLS:
        at = f"columns.{name}.hierarchy"
        raise PlanError(f"{at}: a grid of {grid:g} has {cells:,} cells; at most {MOST_CELLS:,} can be told apart")
    _cells(table, name)
    numbers = numbers_in(present(table, name))
    absent = np.isnan(numbers)
    beyond = ~absent & ~((numbers >= declared.low) & (numbers <= declared.high))
    if column.outside == "refuse" and (absent | beyond).any():
        raise DataError(
            f"{table.source}, column {name!r}: {int((absent | beyond).sum())} cells lie outside the declared range "
            f"{declared.low:g} to {declared.high:g}, or are missing; widen the range, clean the table first, or leave "
            'outside = "refuse" out'
        )
    within = np.clip(np.nan_to_num(numbers, nan=declared.low), declared.low, declared.high)
    codes = np.minimum(((within - declared.low) / grid).astype(np.int64), cells - 1).astype(np.int32)
    ends = Ends(low=declared.low, high=declared.high, low_known=True, high_known=True)
    bounds = [min(declared.low + place * grid, declared.high) for place in range(cells)] + [declared.high]
    labels = [ends.named((a, b), first=not n, last=n == cells - 1) for n, (a, b) in enumerate(pairwise(bounds))]
    found = Attribute(name=name, kind="number", values=tuple(labels), low=declared.low, high=declared.high, grid=grid)
    dropped = absent | beyond if column.outside == "drop" else absent
    moved = 0 if column.outside == "drop" else int(beyond.sum())
    return Placed(attribute=found, rows=CodedColumn(codes=codes, size=cells), kept=~dropped, moved=moved)


def set_of(table: Table, name: str, hierarchy: Hierarchy, column: ColumnPlan) -> Placed:
    """Every row's items; a row without items has an empty set, and items that are not declared are left out of it."""
    cells = table.frame[name]
    lists = cells if cells.dtype == pl.List else cells.cast(pl.String).str.split(column.separator)
    pairs = pl.DataFrame([pl.Series("row", np.arange(table.rows)), lists.alias("item")]).explode("item")
    pairs = pairs.with_columns(pl.col("item").cast(pl.String).str.strip_chars())
    pairs = pairs.filter(pl.col("item").is_not_null() & (pl.col("item") != ""))
    values = hierarchy.levels[0].labels
    codes, kept, moved = _texts(table, name, pairs["item"], values, column)
    known = pl.DataFrame([pairs["row"], pl.Series("code", codes)]).filter(pl.Series(kept)).unique(maintain_order=True)
    lengths = np.bincount(known["row"].to_numpy(), minlength=table.rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    found = Attribute(name=name, kind="set", values=values, tree=hierarchy.tree())
    rows = CodedColumn(codes=known["code"].to_numpy().astype(np.int32), size=len(values), starts=starts)
    left_out = len(kept) - int(kept.sum())
    return Placed(attribute=found, rows=rows, kept=np.ones(table.rows, np.bool_), moved=moved + left_out)


def _cells(table: Table, name: str) -> pl.Series:
    """The cells of a column; a type that cannot be read is refused: types are public."""
    cells = table.frame[name]
    if not readable(cells.dtype):
        raise DataError(
            f"{table.source}, column {name!r}: cells of type {cells.dtype} are not supported; turn them into texts, "
            "numbers or dates, or leave the column out"
        )
    return cells


def _texts(
    table: Table, name: str, cells: pl.Series, values: tuple[str, ...], column: ColumnPlan, absent: Rows | None = None
) -> tuple[Codes, Rows, int]:
    """The code of every text, which rows have one, and how many became ``other``; ``absent`` ones are not strange."""
    domain = Categories(values=values)
    found = codes_in(domain, cells)
    if cells.dtype != pl.String:
        found = np.where(found < 0, codes_in(domain, cells.cast(pl.String)), found)
    strange = (found < 0) if absent is None else (found < 0) & ~absent
    if column.outside == "refuse" and strange.any():
        some = cells.filter(pl.Series(strange)).cast(pl.String).unique(maintain_order=True).to_list()[:5]
        raise DataError(
            f"{table.source}, column {name!r}: {int(strange.sum())} cells are outside the declared domain: "
            f"{listed([str(one) for one in some])}; declare these values, clean the table first, or leave "
            'outside = "refuse" out'
        )
    rest = -1 if column.other is None else values.index(column.other)
    codes = np.where(strange, rest, found)
    kept = np.ones(len(codes), np.bool_) if column.other is not None else ~strange
    return np.maximum(codes, 0).astype(np.int32), kept, int(strange.sum()) if column.other is not None else 0


def left_out(placed: Mapping[str, tuple[Rows, int]], rows: int) -> tuple[str, ...]:
    """For the steward alone: what lies outside the domains. It is read off the rows and must not be published."""
    found = []
    for name, (kept, moved) in placed.items():
        without = rows - int(kept.sum())
        if without:
            found.append(f"{name}: {without:,} of {rows:,} records have no value in its domain and are left out")
        if moved:
            found.append(f"{name}: {moved:,} cells lie outside its domain and count as its end, as other, or not")
    return tuple(f"{one} (for you alone: this is read off the rows)" for one in found)
