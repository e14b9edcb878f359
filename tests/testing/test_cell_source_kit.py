"""Every source of cells passes the kit; sources that are known to be bad do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.counts.classes import Classes
from sfumato.counts.local_table import LocalTable
from sfumato.counts.sources import CellMapping, CellSource, MappedRows
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from sfumato.testing.sources import BrokenCells, check_added_cells, check_cell_source, mixed_table
from tests.tables.engines.engine_tables import in_duckdb, typed

TABLES = [
    mixed_table(),
    replace(mixed_table(1), frame=typed(mixed_table(1).frame)),
    mixed_table(200, seed=1),
    replace(mixed_table(40, seed=3), missing=()),
    Table(frame=mixed_table(30).frame.drop_nulls().filter(pl.col("zip") != "?", pl.col("ill") != "?")),
]


@pytest.mark.parametrize("make", [LocalTable, in_duckdb])
@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_every_source_passes(make: Callable[[Table], CellSource], table: Table):
    check_cell_source(make(table), table)
    check_added_cells(make, table)


@dataclass(slots=True, eq=False)
class Losing(LocalTable):
    """Loses missing values: a row without a value is no row."""

    def domain(self, name: str, kind: Any = None) -> ObservedDomain:
        found = super(Losing, self).domain(name, kind)
        return replace(found, missing=None, absent=0)


@dataclass(slots=True, eq=False)
class Untallied(LocalTable):
    """Counts the missing value of a tally as one of the others."""

    def cells(self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = ()) -> Classes:
        found = super(Untallied, self).cells(quasi, counted)
        return replace(found, tallies={n: replace(t, codes=t.codes % 2) for n, t in found.tallies.items()})


@dataclass(slots=True, eq=False)
class Known(LocalTable):
    """Does not tell which value is the missing one."""

    def cells(self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = ()) -> Classes:
        return replace(super(Known, self).cells(quasi, counted), wild=None)


@dataclass(slots=True, eq=False)
class Careless(LocalTable):
    """Keeps rows that are not complete."""

    def complete(self, names: Sequence[str]) -> Careless:
        return self


@dataclass(slots=True, eq=False)
class Shuffled(LocalTable):
    """Gives the labels of a row to another one."""

    def apply(self, mapping: CellMapping, beside: Sequence[str] = ()) -> MappedRows:
        found = super(Shuffled, self).apply(mapping, beside)
        first = found.frame.to_series(0)
        moved = pl.Series(first.name, np.roll(first.to_numpy(), 1).tolist())
        return replace(found, frame=found.frame.with_columns(moved))


@dataclass(slots=True, eq=False)
class Unsuppressed(LocalTable):
    """Forgets which rows are suppressed."""

    def apply(self, mapping: CellMapping, beside: Sequence[str] = ()) -> MappedRows:
        found = super(Unsuppressed, self).apply(mapping, beside)
        return replace(found, suppressed=np.zeros_like(found.suppressed))


@dataclass(slots=True, eq=False)
class Secretive(LocalTable):
    """Gives single rows that it does not offer."""

    gives: frozenset[Any] = frozenset(("joint", "integers"))


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (Losing, "rows have no value, not 0"),
        (Untallied, "the tally is that of a recount"),
        (Known, "marked as unknown"),
        (Careless, "rows are complete in"),
        (Shuffled, "mapped rows are those of a recount"),
        (Unsuppressed, "mapped rows are those of a recount"),
        (Secretive, "single rows that are not offered are refused"),
    ],
)
def test_what_is_known_to_be_bad_is_caught(make: Any, law: str):
    table = mixed_table()
    with pytest.raises(BrokenCells, match=law):
        check_cell_source(make(table), table)
