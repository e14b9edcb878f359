"""Local sources of counts under a cut: encoded columns, weighted cells and single rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, numbered, ranges, representatives, total
from sfumato.counts.sources import ROWS, Divided, Division, Figure, Groups, Need, Numbers
from sfumato.counts.tally import Counts
from sfumato.tables.table import Codes

# One dictionary-encoded column: a value for each record, or a set of values.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedColumn:
    """The values of records by code, over a public domain."""

    codes: Codes
    """One per record; of sets: all values of the first record, then those of the second, and so on."""
    size: int
    """How many values the domain has."""
    starts: Ids | None = None
    """For sets: record ``r`` has ``codes[starts[r]:starts[r + 1]]``, each value once."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.codes) if self.starts is None else len(self.starts) - 1

    def take(self, records: Ids) -> CodedColumn:
        """The values of some records."""
        if self.starts is None:
            return CodedColumn(codes=self.codes[records], size=self.size)
        starts, places = ragged(self.starts, records)
        return CodedColumn(codes=self.codes[places], size=self.size, starts=starts)

    def masks(self, bit_of: Codes, records: Ids) -> NDArray[np.int64]:
        """For each of some records with sets, the bits of its values in one number; ``bit_of`` is -1 for none."""
        if self.starts is None:
            raise TypeError("a column of single values has no masks")
        bits = np.where(bit_of >= 0, np.int64(1) << np.maximum(bit_of, 0).astype(np.int64), 0)
        starts, places = ragged(self.starts, records)
        items = np.append(bits[self.codes[places]], 0)
        if not len(records):
            return np.zeros(0, np.int64)
        masks = np.bitwise_or.reduceat(items, starts[:-1])
        return np.asarray(np.where(np.diff(starts) > 0, masks, 0))


def ragged(starts: Ids, records: Ids) -> tuple[Ids, Ids]:
    """Where the values of some records start when these alone are there, and the places where they are now."""
    lengths = np.diff(starts)[records]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return ends, np.arange(ends[-1]) + np.repeat(starts[:-1][records] - ends[:-1], lengths)


# Cells in the order of their leaf partitions: those of one partition lie together.


class LeafOrder:
    """Where the cells of every leaf partition are; dividing one moves its own cells only."""

    def __init__(self, cells: int) -> None:
        """One partition, number 0, of all cells."""
        self.cells: Codes = np.arange(cells, dtype=np.int32)
        """All cells, one partition after the other."""
        self.starts: Ids = np.zeros(1, np.int64)
        """Where each partition begins."""
        self.lengths: Ids = np.full(1, cells, np.int64)
        """How many cells it has; 0 if there is none of this number."""

    def listed(self, parts: Ids | None) -> Codes:
        """The cells of some partitions, one partition after the other; all cells as they were at first without any."""
        if parts is None:
            return np.arange(len(self.cells), dtype=np.int32)
        return np.asarray(self.cells[self._places(parts)])

    def _places(self, parts: Ids) -> Ids:
        return ranges(self.starts[parts], self.starts[parts] + self.lengths[parts])[1]

    def owners(self, parts: Ids | None) -> Ids:
        """The place of the partition of each of the cells listed."""
        if parts is None:
            return np.zeros(len(self.cells), np.int64)
        return np.repeat(np.arange(len(parts)), self.lengths[parts])

    def divide(self, parts: Ids, group: Codes, held: Ids, goes: Ids) -> None:
        """Divide partitions into pieces: the piece of each cell, how many cells each piece has, and where it goes.

        Pieces that go to -1 are in no partition any more.
        """
        begins = self._moved(parts, group, held)
        self.lengths[parts] = 0
        kept = goes >= 0
        self.starts[goes[kept]], self.lengths[goes[kept]] = begins[kept], held[kept]

    def _moved(self, parts: Ids, group: Codes, held: Ids) -> Ids:
        """Put the cells of partitions in the order of their pieces; tells where each piece begins."""
        places = self._places(parts)
        self.cells[places] = self.cells[places][np.argsort(group, kind="stable")]
        return np.asarray(places[np.cumsum(held) - held])

    def reserve(self, count: int) -> None:
        """Make room for so many partitions, twice as much as is needed where it must be made."""
        more = 2 * count - len(self.starts)
        if count > len(self.starts):
            self.starts = np.concatenate([self.starts, np.zeros(more, np.int64)])
            self.lengths = np.concatenate([self.lengths, np.zeros(more, np.int64)])

    def of_cells(self) -> Ids:
        """The partition of each cell; -1 for none."""
        partition_of = np.full(len(self.cells), -1, np.int64)
        held = np.flatnonzero(self.lengths)
        partition_of[self.listed(held)] = np.repeat(held, self.lengths[held])
        return partition_of


# A walk over cells that are held here: each leaf partition's cells lie together and are moved when it is divided.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Members:
    """The cells of a division's partitions."""

    divided: Divided
    """The pairs."""
    group: Codes
    """For each cell, one partition after the other, its pair."""
    held: Ids
    """For each pair, how many cells it has."""


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
    """The cells of some partitions, one partition after the other: their weights, and their codes as far as asked."""

    parts: Ids
    cells: Codes
    weights: list[Numbers]
    codes: dict[int, Codes]


class CellCuts:
    """Cells in the order of their leaf partitions; a step touches only those of the partitions that it divides."""

    def __init__(self, columns: Sequence[CodedColumn], weights: Numbers) -> None:
        """One partition of all cells; ``weights`` (cells x figures) are what is counted."""
        self.columns, self.weights = columns, weights
        self._counts = np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64)
        self._order = LeafOrder(len(weights))
        self._last: _Members | None = None
        self._listed: _Listed | None = None

    def total(self) -> Numbers:
        """The figures of all cells."""
        return np.asarray(self.weights.sum(axis=0, dtype=self._counts))

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        into = groups or Groups(of=np.arange(division.count, dtype=np.int32), count=division.count)
        counts = np.zeros((into.count, division.children, self.weights.shape[1]), self._counts)
        if self.columns[division.column].starts is not None:
            pairs = self.refine(division)
            np.add.at(counts, (into.of[pairs.owner], pairs.child), pairs.counts)
            return counts
        lengths, codes, weights = self._laid_out(division)
        keys = np.repeat(into.of.astype(np.int64) * division.children, lengths) + division.child_of[codes]
        for figure, figure_weights in enumerate(weights):
            counts[:, :, figure] = np.bincount(keys, figure_weights, into.count * division.children).reshape(
                counts.shape[:2]
            )
        return counts

    def refine(self, division: Division) -> Divided:
        """The pairs that have cells."""
        return self._remembered(division).divided

    def apply(self, divided: Divided, places: Ids) -> None:
        """Move the cells of every pair to its leaf partition."""
        parts = divided.division.parts
        if parts is None:
            raise TypeError("all records together are no leaf partition")
        mine = self._remembered(divided.division)
        pairs = mine.divided
        goes = places if pairs is divided else _places_of(pairs.keys, divided.keys, places)
        self._order.reserve(int(places.max(initial=-1)) + 1)
        self._order.divide(parts, mine.group, mine.held, goes)
        self._last = self._listed = None

    def members(self, division: Division) -> tuple[Codes, Codes]:
        """The cells of the partitions, one partition after the other, and the pair of each."""
        return self._order.listed(division.parts), self._remembered(division).group

    def cell_parts(self) -> Ids:
        """The leaf partition of each cell; -1 if it is no longer followed."""
        return self._order.of_cells()

    def _remembered(self, division: Division) -> _Members:
        """What the last question found, or the same anew."""
        if self._last is None or self._last.divided.division is not division:
            self._last = self._members(division)
        return self._last

    def _members(self, division: Division) -> _Members:
        """Number the pairs that have cells. A child may be a set of bits: nobody can list all of them."""
        cells, owners = self._order.listed(division.parts).astype(np.int64), self._order.owners(division.parts)
        column = self.columns[division.column]
        sets = column.starts is not None
        child = (
            column.masks(division.child_of, cells) if sets else division.child_of[column.codes[cells]].astype(np.int64)
        )
        group, count = numbered(owners * np.int64(division.children) + child, division.count * division.children)
        place = representatives(group, count)
        divided = Divided(
            division=division,
            owner=owners[place],
            child=child[place],
            counts=_summed(group, self.weights[cells], count, self._counts),
        )
        return _Members(divided=divided, group=group.astype(np.int32), held=np.bincount(group, minlength=count))

    def _laid_out(self, division: Division) -> tuple[Ids, Codes, list[Numbers]]:
        """How many cells each partition has; codes and weights of the cells, one partition after the other.

        Where most cells are asked about, this order is kept until a partition is divided: they may be asked again.
        """
        codes, order, parts = self.columns[division.column].codes, self._order, division.parts
        if parts is None:
            return np.full(1, len(codes)), codes, list(self.weights.T)
        lengths = order.lengths[parts]
        if 2 * int(lengths.sum()) < len(order.cells):
            cells = order.listed(parts)
            return lengths, codes[cells], list(self.weights[cells].T)
        if self._listed is None or not np.array_equal(self._listed.parts, parts):
            cells = order.listed(parts)
            self._listed = _Listed(parts, cells, list(np.ascontiguousarray(self.weights[cells].T, np.float64)), {})
        if division.column not in self._listed.codes:
            self._listed.codes[division.column] = codes[self._listed.cells]
        return lengths, self._listed.codes[division.column], self._listed.weights


def _places_of(mine: Ids, named: Ids, places: Ids) -> Ids:
    """The places of some pairs among those that are named; -1 for the others."""
    at = np.minimum(np.searchsorted(named, mine), max(len(named) - 1, 0))
    if not len(named):
        return np.full(len(mine), -1, np.int64)
    return np.where(named[at] == mine, places[at], -1)


def _summed(ids: NDArray[np.int64], weights: Numbers, count: int, dtype: Any) -> Numbers:
    """The sums of the weights of each number's members, figure by figure."""
    sums = [np.bincount(ids, weights=figure_weights, minlength=count) for figure_weights in weights.T]
    return np.stack(sums, axis=1).astype(dtype) if sums else np.zeros((count, 0), dtype)


# Local sources of counts under a cut: the cells of a table, and cells with weights of any kind.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCells:
    """The cells of a table: whole numbers, and a search may look at the cells themselves."""

    gives: ClassVar[frozenset[Need]] = frozenset({"integers", "joint"})
    """Everything but single rows."""

    cells: Classes
    """The distinct combinations, with sizes and histograms."""

    def root(self, figures: Sequence[Figure]) -> CellCuts:
        """A walk over the cells."""
        weights = np.empty((self.cells.count, len(figures)), np.int64)
        for place, figure in enumerate(figures):
            weights[:, place] = self._weights(figure)
        labels = zip(self.cells.keys, self.cells.labels, strict=True)
        return CellCuts([CodedColumn(codes=codes, size=len(names)) for codes, names in labels], weights)

    def _weights(self, figure: Figure) -> Numbers:
        """How many rows of each cell are counted."""
        if figure == ROWS:
            return self.cells.sizes
        tally = self.cells.tally(figure[0])
        held = np.isin(tally.codes, figure[1])
        return np.bincount(tally.owners[held], weights=tally.counts[held], minlength=self.cells.count)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedCells:
    """Cells with weights: whole numbers, or real ones as estimated distributions have them."""

    columns: tuple[CodedColumn, ...]
    """The value of every cell in every column, or its set of values."""
    weights: Mapping[Figure, Numbers]
    """How much each cell counts: ``ROWS``, and the single values of counted columns."""

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers, if all weights are."""
        whole = all(np.issubdtype(weights.dtype, np.integer) for weights in self.weights.values())
        return frozenset({"integers"} if whole else ())

    def root(self, figures: Sequence[Figure]) -> CellCuts:
        """A walk over the cells."""
        return CellCuts(self.columns, np.stack([self._weights(figure) for figure in figures], axis=1))

    def _weights(self, figure: Figure) -> Numbers:
        if figure == ROWS:
            return self.weights[ROWS]
        column, codes = figure
        for code in codes:
            if (column, (code,)) not in self.weights:
                raise ParameterError(f"weights must have value {code} of {column!r}; they do not")
        return np.asarray(sum(self.weights[column, (code,)] for code in codes))


# Single rows over public domains: a local source of counts that can also give rows.


_SEEN = 2**14
"""So many rows tell whether there are enough equal ones for it to be worth while to count them together."""
_ENOUGH = 0.95


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodedRows(Brief):
    """The value of every row in every column, and in the columns that are counted. Equal rows are counted together."""

    columns: tuple[CodedColumn, ...]
    """The columns by which leaf partitions are divided."""
    counted: Mapping[str, Codes]
    """The code of every row in the columns whose values are counted; at least one."""
    times: Counts | None = None
    """How often each row is there, where equal ones were counted together before; None: once."""

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers, and rows where these were not counted together."""
        return frozenset({"integers", "rows"} if self.times is None else {"integers"})

    @property
    def rows(self) -> int:
        """How many rows there are, equal ones that were counted together as one."""
        return len(next(iter(self.counted.values())))

    def take(self, rows: Ids) -> CodedRows:
        """Some of the rows."""
        return CodedRows(
            columns=tuple(column.take(rows) for column in self.columns),
            counted={name: codes[rows] for name, codes in self.counted.items()},
            times=None if self.times is None else self.times[rows],
        )

    def root(self, figures: Sequence[Figure]) -> CellCuts:
        """A walk over the distinct rows."""
        cell, columns = self.cells
        count = columns[0].records if columns else self.rows
        weights = np.empty((count, len(figures)), np.int32 if self.times is None else np.int64)
        for place, figure in enumerate(figures):
            held = self._held(figure)
            if self.times is not None:
                weights[:, place] = total(cell, np.where(held, self.times, 0), count)
                continue
            weights[:, place] = held if columns is self.columns else np.bincount(cell[held], minlength=count)
        return CellCuts(columns, weights)

    def _held(self, figure: Figure) -> NDArray[np.bool_]:
        """Which rows are counted."""
        held = np.full(self.rows, figure == ROWS)
        for code in figure[1]:
            held |= self.counted[figure[0]] == code
        return held

    @cached_property
    def cells(self) -> tuple[Ids, tuple[CodedColumn, ...]]:
        """The cell of every row, and the columns of the cells; every row is one where hardly any two are equal."""
        if not self.columns or any(column.starts is not None for column in self.columns) or not self._repeats():
            return np.arange(self.rows), self.columns
        cell, count = self._distinct(slice(None))
        place = representatives(cell, count)
        return cell, tuple(column.take(place) for column in self.columns)

    def _repeats(self) -> bool:
        """Whether some rows, taken from all over the table, have equal ones among them."""
        some = slice(None, None, max(self.rows // _SEEN, 1))
        ids, count = self._distinct(some)
        return count < _ENOUGH * len(ids)

    def _distinct(self, some: slice) -> tuple[Ids, int]:
        codes = [column.codes[some] for column in self.columns]
        return distinct(codes, [column.size for column in self.columns], len(codes[0]))
