"""Turning original rows into released rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundle.pseudonyms import Pseudonyms
from sfumato.bundle.published import count_column
from sfumato.data.table import Column, Table
from sfumato.describe.hierarchy import TOP
from sfumato.describe.roles import Role, Schema
from sfumato.ground.chance import Chance

SuppressedRows = Literal["remove", "star"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Buckets:
    """Groups of rows whose sensitive values are published in a table of their own."""

    name: str
    """The published column that numbers them."""
    column: str
    """The sensitive column."""
    of_row: NDArray[np.int64]
    """The group of each row."""

    def table(self, cells: pl.Series) -> pl.DataFrame:
        """The values of each group, with their counts, sorted."""
        pairs = pl.DataFrame([pl.Series(self.name, self.of_row), plain_cells(cells).alias(self.column)])
        counted = pairs.group_by(self.name, self.column).agg(pl.len().cast(pl.Int64).alias(count_column(self.column)))
        return counted.sort(self.name, self.column)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recoding:
    """A label for every row and quasi-identifier, and the rows that are suppressed."""

    labels: Mapping[str, tuple[str, ...]]
    """The labels of each quasi-identifier."""
    codes: Mapping[str, NDArray[np.int32]]
    """For each quasi-identifier, the label of each cell."""
    row_cell: NDArray[np.int64]
    """The cell of each row."""
    unchanged: frozenset[str] = frozenset()
    """The quasi-identifiers whose labels are the original values."""
    suppressed: NDArray[np.bool_]
    """Which rows are suppressed."""
    rows: SuppressedRows = "remove"
    """What becomes of a suppressed row."""
    pseudonyms: Mapping[str, Pseudonyms] = field(default_factory=dict)
    """The identifiers that are published as pseudonyms."""
    buckets: Buckets | None = None
    """The groups by which a sensitive column is published apart, if one is."""

    def apply(self, table: Table, quasi: Mapping[str, Column], schema: Schema, chance: Chance) -> pl.DataFrame:
        """The released rows, in random order; everything but identifiers and quasi-identifiers is unchanged."""
        published = [self._column(table, quasi, name, role) for name, role in schema.roles.items()]
        if self.buckets is not None:
            published.append(pl.Series(self.buckets.name, self.buckets.of_row))
        frame = pl.DataFrame([cells for cells in published if cells is not None])
        kept = np.flatnonzero(~self.suppressed) if self.rows == "remove" else np.arange(table.rows)
        return frame[chance.generator().permutation(kept)]

    def _column(self, table: Table, quasi: Mapping[str, Column], name: str, role: Role) -> pl.Series | None:
        if role is Role.QUASI:
            return self._generalized(table, quasi[name])
        if self.buckets is not None and name == self.buckets.column:
            return None
        if role is Role.IDENTIFIER:
            return self.pseudonyms[name].replace(table.frame[name]) if name in self.pseudonyms else None
        return None if role is Role.DROP else plain_cells(table.frame[name])

    def _generalized(self, table: Table, column: Column) -> pl.Series:
        stars = self.rows == "star" and bool(self.suppressed.any())
        cells = table.frame[column.name]
        if column.name in self.unchanged and not stars and cells.dtype != pl.String:
            return cells
        labels = self.labels[column.name]
        places = self.codes[column.name][self.row_cell]
        if stars:
            places = np.where(self.suppressed, len(labels), places)
        return pl.Series(column.name, [*labels, TOP], dtype=pl.String).gather(places)


def plain_cells(cells: pl.Series) -> pl.Series:
    """The cells as they are; categories become text, because a list of categories may name values of removed rows."""
    return cells.cast(pl.String) if cells.dtype in (pl.Enum, pl.Categorical) else cells
