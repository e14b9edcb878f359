"""A walk over cells that are held here: each leaf partition's cells lie together and are moved when it is divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import Divided, Division, Groups, Numbers
from sfumato.group.keys import Ids

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
        self._order: Codes = np.arange(len(weights), dtype=np.int32)
        self._starts = np.zeros(1, np.int64)
        self._lengths = np.full(1, len(weights), np.int64)
        self._last: _Members | None = None
        self._laid: dict[int, Numbers] = {}

    def total(self) -> Numbers:
        """The figures of all cells."""
        return np.asarray(self.weights.sum(axis=0))

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        from sfumato.ground.kernels.refining_kernel import count_dense

        into = groups or Groups(of=np.arange(asked.count, dtype=np.int32), count=asked.count)
        counts = np.zeros((into.count, asked.children, self.weights.shape[1]), self.weights.dtype)
        coded = self.columns[asked.column]
        if coded.starts is not None:
            found = self.refine(asked)
            np.add.at(counts, (into.of[found.owner], found.child), found.counts)
            return counts
        starts, lengths, parts, codes, weights = self._laid_out(asked)
        count_dense(starts, lengths, parts, into.of, codes, asked.child_of, weights, counts)
        return counts

    def refine(self, asked: Division) -> Divided:
        """The pairs that have cells."""
        found = self._members(asked)
        if asked.parts is not None:
            self._last = found
        return found.divided

    def apply(self, divided: Divided, places: Ids) -> None:
        """Move the cells of every pair to its leaf partition."""
        from sfumato.ground.kernels.refining_kernel import move_cells

        mine = self._remembered(divided.division)
        parts, pairs = divided.division.parts, mine.divided
        if parts is None:
            raise TypeError("all records together are no leaf partition")
        begins = np.empty(len(pairs.owner), np.int64)
        if len(parts):
            spare = np.empty(int(self._lengths[parts].max(initial=0)), np.int32)
            move_cells(
                self._order, self._starts, self._lengths, parts, mine.group, pairs.owner, mine.held, begins, spare
            )
        goes = places if pairs is divided else _found(pairs.keys, divided.keys, places)
        self._reserve(int(places.max(initial=-1)) + 1)
        self._lengths[parts] = 0
        kept = goes >= 0
        self._starts[goes[kept]], self._lengths[goes[kept]] = begins[kept], mine.held[kept]
        self._last = None
        self._laid = {}

    def members(self, asked: Division) -> tuple[Codes, Codes]:
        """The cells of the partitions, one partition after the other, and the pair of each."""
        mine = self._remembered(asked)
        return self._listed(asked.parts), mine.group

    def cell_parts(self) -> Ids:
        """The leaf partition of each cell; -1 if it is no longer followed."""
        found = np.full(len(self._order), -1, np.int64)
        held = np.flatnonzero(self._lengths)
        found[self._listed(held)] = np.repeat(held, self._lengths[held])
        return found

    def _remembered(self, asked: Division) -> _Members:
        """What the last question found, or the same anew."""
        if self._last is None or self._last.divided.division is not asked:
            self._last = self._members(asked)
        return self._last

    def _members(self, asked: Division) -> _Members:
        if self.columns[asked.column].starts is not None:
            return self._set_members(asked)
        from sfumato.ground.kernels.refining_kernel import count_children

        order, starts, lengths, parts = self._cells(asked.parts)
        cells = int(lengths[parts].sum())
        most = min(cells, len(parts) * asked.children)
        group, owner = np.empty(cells, np.int32), np.empty(most, np.int64)
        child, held = np.empty(most, np.int64), np.empty(most, np.int64)
        counts = np.empty((most, self.weights.shape[1]), self.weights.dtype)
        found = count_children(
            order, starts, lengths, parts, self.columns[asked.column].codes, asked.child_of, self.weights,
            np.zeros(asked.children, np.int64), np.zeros((asked.children, counts.shape[1]), counts.dtype),
            group, owner, child, held, counts,
        )  # fmt: skip
        divided = Divided(division=asked, owner=owner[:found], child=child[:found], counts=counts[:found])
        return _Members(divided=divided, group=group, held=held[:found])

    def _set_members(self, asked: Division) -> _Members:
        """The same where a child is a set of bits: the pairs are sorted, since nobody can list all children."""
        cells = self._listed(asked.parts).astype(np.int64)
        masks = self.columns[asked.column].masks(asked.child_of, cells)
        keys = self._owners(asked.parts) * np.int64(asked.children) + masks
        pairs, group, held = np.unique(keys, return_inverse=True, return_counts=True)
        divided = Divided(
            division=asked,
            owner=pairs // asked.children,
            child=pairs % asked.children,
            counts=_summed(group.reshape(-1), self.weights[cells], len(pairs)),
        )
        return _Members(divided=divided, group=group.reshape(-1).astype(np.int32), held=held)

    def _cells(self, parts: Ids | None) -> tuple[Codes, Ids, Ids, Ids]:
        """The cells in some order, where each partition starts and how long it is, and the partitions asked for."""
        if parts is not None:
            return self._order, self._starts, self._lengths, parts
        none = np.zeros(1, np.int64)
        return np.arange(len(self._order), dtype=np.int32), none, none + len(self._order), none

    def _laid_out(self, asked: Division) -> tuple[Ids, Ids, Ids, Codes, Numbers]:
        """Partitions as in ``_cells``, with codes and weights in the order of their cells.

        Where most cells are asked about, this order is kept until a partition is divided: they may be asked again.
        """
        codes, parts = self.columns[asked.column].codes, asked.parts
        if parts is None:
            _, starts, lengths, parts = self._cells(None)
            return starts, lengths, parts, codes, self.weights
        lengths = self._lengths[parts]
        if 2 * int(lengths.sum()) < len(self._order):
            cells = self._listed(parts)
            return np.cumsum(lengths) - lengths, lengths, np.arange(len(parts)), codes[cells], self.weights[cells]
        if _WEIGHTS not in self._laid:
            self._laid[_WEIGHTS] = self.weights[self._order]
        if asked.column not in self._laid:
            self._laid[asked.column] = codes[self._order]
        return self._starts, self._lengths, parts, self._laid[asked.column], self._laid[_WEIGHTS]

    def _listed(self, parts: Ids | None) -> Codes:
        """The cells of some partitions, one partition after the other."""
        if parts is None:
            return np.arange(len(self._order), dtype=np.int32)
        lengths = self._lengths[parts]
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.asarray(self._order[np.repeat(self._starts[parts], lengths) + offsets])

    def _owners(self, parts: Ids | None) -> Ids:
        """The place of the partition of each of these cells."""
        if parts is None:
            return np.zeros(len(self._order), np.int64)
        return np.repeat(np.arange(len(parts)), self._lengths[parts])

    def _reserve(self, count: int) -> None:
        """Make room for so many partitions, twice as much as is needed where it must be made."""
        more = 2 * count - len(self._starts)
        if count > len(self._starts):
            self._starts = np.concatenate([self._starts, np.zeros(more, np.int64)])
            self._lengths = np.concatenate([self._lengths, np.zeros(more, np.int64)])


def _found(mine: Ids, named: Ids, places: Ids) -> Ids:
    """The places of some pairs among those that are named; -1 for the others."""
    at = np.minimum(np.searchsorted(named, mine), max(len(named) - 1, 0))
    if not len(named):
        return np.full(len(mine), -1, np.int64)
    return np.where(named[at] == mine, places[at], -1)


def _summed(ids: NDArray[np.int64], weights: Numbers, count: int) -> Numbers:
    """The sums of the weights of each number's members, figure by figure."""
    sums = [np.bincount(ids, weights=one, minlength=count) for one in weights.T]
    return np.stack(sums, axis=1).astype(weights.dtype) if sums else np.zeros((count, 0), weights.dtype)
