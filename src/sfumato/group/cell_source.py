"""Where cells come from: the seam between searches over the whole joint and whatever holds the table.

A source tells the domain of a column, counts the cells of some columns with their tallies, and applies the mapping that
a search found. Searches see ``Classes`` and never a row; a local table is the first source, SQL engines are others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Kind
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.brief import Brief
from sfumato.group.classes import Classes
from sfumato.group.needs import Need


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CellMapping(Brief):
    """What every cell reads as: a label in each column; and which cells are suppressed."""

    cells: Classes
    """The cells, by the codes of their original values."""
    labels: tuple[tuple[str, ...], ...]
    """For each column, the labels that are shown."""
    shown: NDArray[np.int32]
    """Columns x cells: the label of each cell."""
    suppressed: NDArray[np.bool_]
    """Which cells are suppressed."""
    unchanged: frozenset[str] = frozenset()
    """The columns whose labels are the original values: a source gives their cells as they are."""
    singly: bool = False
    """Whether every row is a cell of its own, in the order of the rows."""

    def by_value(self, column: int) -> dict[str, str] | None:
        """The label of each value that occurs, where equal values always read alike; None where they do not."""
        pairs = np.unique(np.stack([self.cells.keys[column], self.shown[column]]), axis=1)
        if len(np.unique(pairs[0])) < pairs.shape[1]:
            return None
        values, labels = self.cells.labels[column], self.labels[column]
        return {values[value]: labels[label] for value, label in pairs.T.tolist()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MappedRows(Brief):
    """Rows under a mapping, in no particular order."""

    frame: pl.DataFrame
    """The mapped columns and those that were asked for beside them."""
    suppressed: NDArray[np.bool_]
    """Which rows are suppressed; they still have their labels."""


class CellSource(Protocol):
    """A table that can be counted."""

    @property
    def source(self) -> str:
        """What messages call it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""

    @property
    def rows(self) -> int:
        """How many rows it has."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts that mean a missing value; the first one stands for it in a release."""

    @property
    def gives(self) -> frozenset[Need]:
        """What searches can have of it: the full joint, whole numbers, single rows, people."""

    def dtype(self, name: str) -> pl.DataType:
        """The type of a column's cells."""

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        """The values of a column with their counts; the kind is inferred when not declared."""

    def complete(self, names: Sequence[str]) -> Self:
        """The rows that have a value in each of these columns."""

    def coarser(self, labels: Mapping[str, Mapping[str, str]]) -> Self:
        """The same rows with a label in place of each value of some columns; a missing value stays missing."""

    def cells(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """The cells of some columns, by the codes of the given domains, with tallies of others.

        With a unit, the column that tells people apart, they know whose rows they are, where people are offered.
        """

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """The same with one cell per row, where single rows are offered."""

    def apply(self, mapping: CellMapping, beside: Sequence[str] = ()) -> MappedRows:
        """Every row under a mapping, with other columns as they are."""

    def texts(self, names: Sequence[str], shown: CellMapping | None = None) -> pl.DataFrame:
        """Some columns, every cell as text: the people behind a release, for attacks on it.

        With a mapping, only the rows that it does not suppress.
        """
