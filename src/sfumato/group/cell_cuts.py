"""A walk over cells that are held here: each leaf partition's cells lie together and are moved when it is divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.ground.kernels import worth_compiling
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import Divided, Division, Groups, Numbers
from sfumato.group.keys import Ids, numbered, representatives
from sfumato.group.leaf_order import LeafOrder

_WEIGHTS = -1
"""Where weights are kept that lie in the order of the partitions, beside columns."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Members:
    """The cells of a division's partitions."""

    divided: Divided
    """The pairs."""
    group: Codes
    """For each cell, one partition after the other, its pair."""
    held: Ids
    """For each pair, how many cells it has."""


class CellCuts:
    """Cells in the order of their leaf partitions; a step touches only those of the partitions that it divides."""

    def __init__(self, columns: Sequence[CodedColumn], weights: Numbers) -> None:
        """One partition of all cells; ``weights`` (cells x figures) are what is counted."""
        self.columns, self.weights = columns, weights
        self._counts = np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64)
        self._order = LeafOrder(len(weights))
        self._last: _Members | None = None
        self._laid: dict[int, Numbers] = {}

    def total(self) -> Numbers:
        """The figures of all cells."""
        return np.asarray(self.weights.sum(axis=0, dtype=self._counts))

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        into = groups or Groups(of=np.arange(asked.count, dtype=np.int32), count=asked.count)
        counts = np.zeros((into.count, asked.children, self.weights.shape[1]), self._counts)
        if self.columns[asked.column].starts is not None:
            found = self.refine(asked)
            np.add.at(counts, (into.of[found.owner], found.child), found.counts)
            return counts
        if not worth_compiling(len(self.weights)):
            return self._counted(asked, into)
        from sfumato.ground.kernels.refining_kernel import count_dense

        starts, lengths, parts, codes, weights = self._laid_out(asked)
        count_dense(starts, lengths, parts, into.of, codes, asked.child_of, weights, counts)
        return counts

    def _counted(self, asked: Division, into: Groups) -> Numbers:
        """The same without a compiled loop."""
        cells, owners = self._order.listed(asked.parts), self._order.owners(asked.parts)
        child = asked.child_of[self.columns[asked.column].codes[cells]]
        keys = into.of[owners].astype(np.int64) * asked.children + child
        sums = _summed(keys, self.weights[cells], into.count * asked.children, self._counts)
        return sums.reshape(into.count, asked.children, self.weights.shape[1])

    def refine(self, asked: Division) -> Divided:
        """The pairs that have cells."""
        return self._remembered(asked).divided

    def apply(self, divided: Divided, places: Ids) -> None:
        """Move the cells of every pair to its leaf partition."""
        parts = divided.division.parts
        if parts is None:
            raise TypeError("all records together are no leaf partition")
        mine = self._remembered(divided.division)
        pairs = mine.divided
        goes = places if pairs is divided else _places_of(pairs.keys, divided.keys, places)
        self._order.reserve(int(places.max(initial=-1)) + 1)
        self._order.divide(parts, mine.group, pairs.owner, mine.held, goes)
        self._last, self._laid = None, {}

    def members(self, asked: Division) -> tuple[Codes, Codes]:
        """The cells of the partitions, one partition after the other, and the pair of each."""
        return self._order.listed(asked.parts), self._remembered(asked).group

    def cell_parts(self) -> Ids:
        """The leaf partition of each cell; -1 if it is no longer followed."""
        return self._order.of_cells()

    def _remembered(self, asked: Division) -> _Members:
        """What the last question found, or the same anew."""
        if self._last is None or self._last.divided.division is not asked:
            plain = self.columns[asked.column].starts is not None or not worth_compiling(len(self.weights))
            self._last = self._numbered_members(asked) if plain else self._members(asked)
        return self._last

    def _members(self, asked: Division) -> _Members:
        from sfumato.ground.kernels.refining_kernel import count_children

        order, starts, lengths, parts = self._order.pieces(asked.parts)
        cells = int(lengths[parts].sum())
        most = min(cells, len(parts) * asked.children)
        group, owner = np.empty(cells, np.int32), np.empty(most, np.int64)
        child, held = np.empty(most, np.int64), np.empty(most, np.int64)
        counts = np.empty((most, self.weights.shape[1]), self._counts)
        found = count_children(
            order, starts, lengths, parts, self.columns[asked.column].codes, asked.child_of, self.weights,
            np.zeros(asked.children, np.int64), np.zeros((asked.children, counts.shape[1]), counts.dtype),
            group, owner, child, held, counts,
        )  # fmt: skip
        divided = Divided(division=asked, owner=owner[:found], child=child[:found], counts=counts[:found])
        return _Members(divided=divided, group=group, held=held[:found])

    def _numbered_members(self, asked: Division) -> _Members:
        """The same without a compiled loop; also where a child is a set of bits, since nobody can list all of them."""
        cells, owners = self._order.listed(asked.parts).astype(np.int64), self._order.owners(asked.parts)
        column = self.columns[asked.column]
        sets = column.starts is not None
        child = column.masks(asked.child_of, cells) if sets else asked.child_of[column.codes[cells]].astype(np.int64)
        group, count = numbered(owners * np.int64(asked.children) + child, asked.count * asked.children)
        place = representatives(group, count)
        divided = Divided(
            division=asked,
            owner=owners[place],
            child=child[place],
            counts=_summed(group, self.weights[cells], count, self._counts),
        )
        return _Members(divided=divided, group=group.astype(np.int32), held=np.bincount(group, minlength=count))

    def _laid_out(self, asked: Division) -> tuple[Ids, Ids, Ids, Codes, Numbers]:
        """Where partitions start and how long they are, which are asked for; codes and weights of cells in that order.

        Where most cells are asked about, this order is kept until a partition is divided: they may be asked again.
        """
        codes, order, parts = self.columns[asked.column].codes, self._order, asked.parts
        if parts is None:
            _, starts, lengths, parts = order.pieces(None)
            return starts, lengths, parts, codes, self.weights
        lengths = order.lengths[parts]
        if 2 * int(lengths.sum()) < len(order.cells):
            cells = order.listed(parts)
            return np.cumsum(lengths) - lengths, lengths, np.arange(len(parts)), codes[cells], self.weights[cells]
        if _WEIGHTS not in self._laid:
            self._laid[_WEIGHTS] = self.weights[order.cells]
        if asked.column not in self._laid:
            self._laid[asked.column] = codes[order.cells]
        return order.starts, order.lengths, parts, self._laid[asked.column], self._laid[_WEIGHTS]


def _places_of(mine: Ids, named: Ids, places: Ids) -> Ids:
    """The places of some pairs among those that are named; -1 for the others."""
    at = np.minimum(np.searchsorted(named, mine), max(len(named) - 1, 0))
    if not len(named):
        return np.full(len(mine), -1, np.int64)
    return np.where(named[at] == mine, places[at], -1)


def _summed(ids: NDArray[np.int64], weights: Numbers, count: int, dtype: Any) -> Numbers:
    """The sums of the weights of each number's members, figure by figure."""
    sums = [np.bincount(ids, weights=one, minlength=count) for one in weights.T]
    return np.stack(sums, axis=1).astype(dtype) if sums else np.zeros((count, 0), dtype)
