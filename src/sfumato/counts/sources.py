"""The two seams between searches and data: cells of columns, and counts under a cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import PlanError
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Codes, Kind

# What a search may need of a source of counts, and the refusal of a source that cannot give it.


Need = Literal["integers", "joint", "rows", "people"]
"""Whole numbers; the cells of all columns together; single rows; whose rows they are."""
_LACKING: dict[Need, str] = {
    "integers": "whole counts, and the counts of this source are estimates",
    "joint": "the cells of all columns together, and this source only counts under a cut",
    "rows": "single rows, and this source only counts",
    "people": "to know whose rows they are, and this source only counts rows",
}


class Giving(Protocol):
    """A source of counts."""

    @property
    def gives(self) -> frozenset[Need]:
        """What it can give beside counts."""


def refuse_lacking(source: Giving, needs: Iterable[Need], who: str, instead: str = "") -> None:
    """Refuse a source that cannot give what a search declares that it needs, with the reason and what would do."""
    for need in needs:
        if need not in source.gives:
            raise PlanError(f"{who} needs {_LACKING[need]}{instead and '; '}{instead}")


# Where cells come from: the seam between searches over the whole joint and whatever holds the table.
#
# A source tells the domain of a column, counts the cells of some columns with their tallies, and applies the mapping
# that a search found. Searches see ``Classes`` and never a row; a local table is the first source, SQL engines are
# others.


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

    def apply(self, mapping: CellMapping, other_columns: Sequence[str] = ()) -> MappedRows:
        """Every row under a mapping, with other columns as they are."""

    def texts(self, names: Sequence[str], mapping: CellMapping | None = None) -> pl.DataFrame:
        """Some columns, every cell as text: the people behind a release, for attacks on it.

        With a mapping, only the rows that it does not suppress.
        """


# Counts under a cut, asked step by step: all that a search from the top downwards needs of a table.
#
# The search keeps what is public or counted: the labels of every leaf partition, and its counts. The source alone
# knows which record is in which partition. So a table of one's own, an engine, several parties that add up their
# counts, and estimated distributions can all be searched alike.
#
# A *source* has no state: ``root`` begins a walk, as often as one likes, and is told what to count. A *walk* starts
# with one leaf partition, number 0, that has all records, and follows them downwards.


Numbers = NDArray[Any]
"""Counts, none negative: whole numbers, or real ones where they are estimates."""
Figure = tuple[str, tuple[int, ...]]
"""Something that is counted: the records with one of some values (by code) in a column."""
ROWS: Figure = ("", ())
"""All records."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Division:
    """Leaf partitions, and the public children among which the values of one column divide them."""

    column: int
    """The column, by its place."""
    parts: Ids | None
    """The leaf partitions, by number; None: all records as one, also those that are no longer followed."""
    child_of: Codes
    """For each value of the column (by code), which child. Of sets: which bit of the child's number, -1 for none."""
    children: int
    """How many children there are; of sets, two to the number of bits."""

    @property
    def count(self) -> int:
        """How many partitions are divided."""
        return 1 if self.parts is None else len(self.parts)


def by_value(column: int, size: int, parts: Ids | None = None) -> Division:
    """The division by the values of a column themselves."""
    return Division(column=column, parts=parts, child_of=np.arange(size, dtype=np.int32), children=size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Partitions that are counted together."""

    of: Codes
    """For each partition of a division, its group."""
    count: int
    """How many groups there are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Divided:
    """The counts of (partition, child) pairs. Pairs without a record may be left out: sets have 2^m children."""

    division: Division
    """Of what."""
    owner: Ids
    """For each pair, the place of its partition among those divided, ascending."""
    child: Ids
    """For each pair, which child; ascending within a partition."""
    counts: Numbers
    """Pairs x figures."""

    @property
    def keys(self) -> Ids:
        """One number per pair, ascending."""
        return self.owner * np.int64(self.division.children) + self.child

    def dense(self) -> Numbers:
        """Partitions x children x figures."""
        count, children = self.division.count, self.division.children
        counts = np.zeros((count * children, self.counts.shape[1]), self.counts.dtype)
        counts[self.keys] = self.counts
        return counts.reshape(count, children, self.counts.shape[1])

    def occupied(self) -> Divided:
        """Only the pairs in which anything was counted."""
        return self.kept(self.counts.any(axis=1))

    def kept(self, some: NDArray[np.bool_]) -> Divided:
        """Only some of the pairs."""
        if some.all():
            return self
        return Divided(division=self.division, owner=self.owner[some], child=self.child[some], counts=self.counts[some])

    def places(self, count: int) -> Ids:
        """New partition numbers where there are ``count``: the first pair of each keeps its own, the rest are new."""
        first = np.diff(self.owner, prepend=-1) > 0
        parts = np.zeros(1, np.int64) if self.division.parts is None else self.division.parts
        return np.where(first, parts[self.owner], count - 1 + np.cumsum(~first))


class CutCounts(Protocol):
    """One walk: the records, each in one of the leaf partitions or no longer followed."""

    def total(self) -> Numbers:
        """The figures of all records."""

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures: what is asked for where few children are public."""

    def refine(self, division: Division) -> Divided:
        """The partitions as they would be divided; nothing changes yet."""

    def apply(self, divided: Divided, places: Ids) -> None:
        """Divide the partitions: a pair becomes the leaf partition of the number at its place.

        -1: its records are no longer followed; nor are those in pairs that are not named.
        """


class JointCuts(CutCounts, Protocol):
    """A walk of a source that gives the joint: a search may look at its cells."""

    def members(self, division: Division) -> tuple[Codes, Codes]:
        """The cells of the partitions, one partition after the other, and the (partition, child) pair of each."""

    def cell_parts(self) -> Ids:
        """The leaf partition of each cell; -1 if it is no longer followed."""


class CutSource(Protocol):
    """Where walks come from."""

    @property
    def gives(self) -> frozenset[Need]:
        """What it can give beside counts."""

    def root(self, figures: Sequence[Figure]) -> CutCounts:
        """A new walk that counts these figures, with all records in leaf partition 0."""
