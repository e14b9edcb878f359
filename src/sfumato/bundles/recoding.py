"""Turning original rows into released rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundles.columns import count_column
from sfumato.bundles.pseudonyms import Pseudonyms
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import told_apart
from sfumato.counts.sources import CellMapping, MappedRows
from sfumato.tables.hierarchy import TOP
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import Column, Table, plain_cells

SuppressedRows = Literal["remove", "star"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Buckets(Brief):
    """Groups of rows whose sensitive values are published in a table of their own."""

    name: str
    """The published column that numbers them."""
    column: str
    """The sensitive column."""
    of_row: NDArray[np.int64]
    """The group of each row."""

    def table(self, cells: pl.Series, missing: Sequence[str] = ()) -> pl.DataFrame:
        """The values of each group, with their counts, sorted; ``missing`` are the texts that mean no value."""
        values = one_marker(plain_cells(cells), missing).alias(self.column)
        pairs = pl.DataFrame([pl.Series(self.name, self.of_row), values])
        counted = pairs.group_by(self.name, self.column).agg(pl.len().cast(pl.Int64).alias(count_column(self.column)))
        return counted.sort(self.name, self.column)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Recoding(Brief):
    """What every cell reads as, and what becomes of suppressed rows, identifiers and sensitive columns."""

    mapping: CellMapping
    """The labels of every cell, and the cells that are suppressed."""
    rows: SuppressedRows = "remove"
    """What becomes of a suppressed row."""
    pseudonyms: Mapping[str, Pseudonyms] = field(default_factory=dict)
    """The identifiers that are published as pseudonyms."""
    buckets: Buckets | None = None
    """The groups by which a sensitive column is published apart, if one is."""
    unit: str | None = None
    """The column that tells people apart, where they are counted."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""

    @property
    def suppressed_rows(self) -> int:
        """How many rows are suppressed."""
        return int(self.mapping.cells.sizes[self.mapping.suppressed].sum())

    def beside(self, schema: Schema) -> tuple[str, ...]:
        """The columns that are needed beside the quasi-identifiers."""
        kept = schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP)
        named = (*kept, *(name for name in self.pseudonyms if schema.roles.get(name) is Role.IDENTIFIER))
        return named if self.unit is None else (*named, self.unit)

    def released(self, mapped: MappedRows, schema: Schema, chance: Chance) -> pl.DataFrame:
        """The released rows, in random order; everything but identifiers and quasi-identifiers is unchanged."""
        published = [self._column(mapped, name, role) for name, role in schema.roles.items()]
        if self.buckets is not None:
            published.append(pl.Series(self.buckets.name, self.buckets.of_row))
        frame = pl.DataFrame([cells for cells in published if cells is not None])
        kept = np.flatnonzero(~mapped.suppressed) if self.rows == "remove" else np.arange(frame.height)
        draw = chance.generator()
        rows = frame[draw.permutation(kept)]
        if self.unit is None:
            return rows
        people = Table(frame=rows.select(self.unit), missing=self.missing).column(self.unit, "text")
        return numbered_people(rows, people, schema.quasi, draw)

    def _column(self, mapped: MappedRows, name: str, role: Role) -> pl.Series | None:
        if role is Role.QUASI:
            return self._generalized(mapped, name)
        if name == self.unit:
            return mapped.frame[name].cast(pl.String)
        if role is Role.DROP or (self.buckets is not None and name == self.buckets.column):
            return None
        if role is Role.IDENTIFIER:
            return self.pseudonyms[name].replace(mapped.frame[name]) if name in self.pseudonyms else None
        cells = plain_cells(mapped.frame[name])
        return cells if role is Role.KEEP else one_marker(cells, self.missing)

    def _generalized(self, mapped: MappedRows, name: str) -> pl.Series:
        """A quasi-identifier as it is shown; suppressed rows that stay read ``*``."""
        cells = mapped.frame[name]
        if self.rows == "remove" or not mapped.suppressed.any():
            return cells
        return cells.zip_with(~pl.Series(mapped.suppressed), pl.Series([TOP]).cast(cells.dtype))


def numbered_people(
    rows: pl.DataFrame, unit: Column, quasi: tuple[str, ...], draw: np.random.Generator
) -> pl.DataFrame:
    """The rows with a random number in place of each person, another one in every group.

    Rows of one person in one group share a number, so that people can be counted; across groups nothing links them.
    """
    person = pl.Series("\0person", told_apart(unit)[0])
    pairs = rows.select(pl.struct(*quasi, person).rank("dense")).to_series().to_numpy().astype(np.int64)
    numbers = draw.permutation(int(pairs.max(initial=0))) + 1
    return rows.with_columns(pl.Series(unit.name, numbers[pairs - 1].astype(np.int64)))


def one_marker(cells: pl.Series, missing: Sequence[str]) -> pl.Series:
    """The cells of a column that claims count, every missing one written alike: a reader tells ``?`` from ``NA``.

    >>> one_marker(pl.Series(["flu", "NA", None, "?"]), ("?", "NA")).to_list()
    ['flu', '?', '?', '?']
    """
    if cells.dtype != pl.String or not missing:
        return cells
    marked = cells.is_in(list(missing)).fill_null(value=False)
    if not marked.any():
        return cells
    return cells.zip_with(~(marked | cells.is_null()), pl.Series([missing[0]], dtype=pl.String))
