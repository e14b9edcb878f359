"""A walk over cells that are held here: each leaf partition's cells lie together and are moved when it is divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import Divided, Division, Groups, Numbers
from sfumato.group.keys import Ids, numbered, representatives
from sfumato.group.leaf_order import LeafOrder


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

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        into = groups or Groups(of=np.arange(asked.count, dtype=np.int32), count=asked.count)
        counts = np.zeros((into.count, asked.children, self.weights.shape[1]), self._counts)
        if self.columns[asked.column].starts is not None:
            found = self.refine(asked)
            np.add.at(counts, (into.of[found.owner], found.child), found.counts)
            return counts
        lengths, codes, weights = self._laid_out(asked)
        keys = np.repeat(into.of.astype(np.int64) * asked.children, lengths) + asked.child_of[codes]
        for figure, one in enumerate(weights):
            counts[:, :, figure] = np.bincount(keys, one, into.count * asked.children).reshape(counts.shape[:2])
        return counts

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
        self._order.divide(parts, mine.group, mine.held, goes)
        self._last = self._listed = None

    def members(self, asked: Division) -> tuple[Codes, Codes]:
        """The cells of the partitions, one partition after the other, and the pair of each."""
        return self._order.listed(asked.parts), self._remembered(asked).group

    def cell_parts(self) -> Ids:
        """The leaf partition of each cell; -1 if it is no longer followed."""
        return self._order.of_cells()

    def _remembered(self, asked: Division) -> _Members:
        """What the last question found, or the same anew."""
        if self._last is None or self._last.divided.division is not asked:
            self._last = self._members(asked)
        return self._last

    def _members(self, asked: Division) -> _Members:
        """Number the pairs that have cells. A child may be a set of bits: nobody can list all of them."""
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

    def _laid_out(self, asked: Division) -> tuple[Ids, Codes, list[Numbers]]:
        """How many cells each partition has; codes and weights of the cells, one partition after the other.

        Where most cells are asked about, this order is kept until a partition is divided: they may be asked again.
        """
        codes, order, parts = self.columns[asked.column].codes, self._order, asked.parts
        if parts is None:
            return np.full(1, len(codes)), codes, list(self.weights.T)
        lengths = order.lengths[parts]
        if 2 * int(lengths.sum()) < len(order.cells):
            cells = order.listed(parts)
            return lengths, codes[cells], list(self.weights[cells].T)
        if self._listed is None or not np.array_equal(self._listed.parts, parts):
            cells = order.listed(parts)
            self._listed = _Listed(parts, cells, list(np.ascontiguousarray(self.weights[cells].T, np.float64)), {})
        if asked.column not in self._listed.codes:
            self._listed.codes[asked.column] = codes[self._listed.cells]
        return lengths, self._listed.codes[asked.column], self._listed.weights


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
