"""Recoded rows as an engine gives them: all at once, or in files that are read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from sqlglot import exp

from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError
from sfumato.group.cell_source import CellMapping, MappedRows
from sfumato.group.tally import Counts

BATCH = 1_000_000
"""How many rows are in memory at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecodedRows(Brief):
    """A question for the rows under a mapping, and how its answer is read.

    The last two columns of the answer say whether a row is suppressed, and which cell it is in.
    """

    statement: exp.Select
    """The question."""
    types: Mapping[str, pl.DataType]
    """The columns of the rows, in order, with the types of their cells."""

    def read(self, answer: pl.DataFrame) -> MappedRows:
        """The rows of an answer."""
        rows = [self._cells(answer[f"c{n}"], name, dtype) for n, (name, dtype) in enumerate(self.types.items())]
        return MappedRows(frame=pl.DataFrame(rows), suppressed=answer[f"c{len(self.types)}"].to_numpy())

    def cells(self, answer: pl.DataFrame, count: int) -> Counts:
        """How many rows of an answer are in each of so many cells."""
        found = answer[f"c{len(self.types) + 1}"].to_numpy()
        return np.bincount(found, minlength=count).astype(np.int64)

    @staticmethod
    def _cells(cells: pl.Series, name: str, dtype: pl.DataType) -> pl.Series:
        if cells.dtype.is_float() and not dtype.is_float():
            raise DataError(
                f"column {name!r}: cells of type {dtype} lose digits in a Parquet file; turn them into another type in "
                "the table or in input.query"
            )
        return cells.cast(dtype).alias(name)


def batches(folder: Path, most: int = BATCH) -> Iterator[pl.DataFrame]:
    """The rows of all Parquet files of a folder, some at a time."""
    for file in sorted(folder.rglob("*.parquet")):
        rows = pl.scan_parquet(file, glob=False, hive_partitioning=False)
        height = rows.select(pl.len()).collect().item()
        for begin in range(0, height, most):
            yield rows.slice(begin, most).collect()


def refuse_changed(found: Counts, mapping: CellMapping, rows: int, source: str) -> None:
    """Refuse rows that are not those that were counted; ``found`` are those of each cell now."""
    many, whole = int(found.sum()), int(mapping.cells.sizes.sum()) == rows
    if many != rows or (whole and not np.array_equal(found, mapping.cells.sizes)):
        raise DataError(
            f"{source} changed while it was read: {rows:,} rows were counted, and {many:,} of them are there now in "
            "the same cells; release a table that nobody writes to, or a copy"
        )
