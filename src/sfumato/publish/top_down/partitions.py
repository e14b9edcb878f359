"""Leaf partitions: the classes of the current cut, with their counts and their cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Refined:
    """What becomes of the partitions that contain a label when it is specialized: (partition, child) pairs."""

    column: int
    """The column of the label."""
    parts: Ids
    """The partitions that contain the label."""
    owner: Ids
    """For each pair, the place of its partition among ``parts``, ascending."""
    child: Codes
    """For each pair, which child."""
    counts: NDArray[np.int64]
    """For each pair, the summed weights; rows come first."""
    held: Ids
    """For each pair, how many cells it has."""
    group: Codes
    """For each cell of ``parts``, one partition after the other, its pair."""

    @property
    def rows(self) -> Ids:
        """The rows of each pair."""
        return np.asarray(self.counts[:, 0])


class Partitions:
    """All leaf partitions; a specialization touches only those that contain its label."""

    def __init__(self, cells: Classes, weights: NDArray[np.int64]) -> None:
        """One partition of all cells; ``weights`` (cells x figures) are summed in each, the rows first."""
        self.codes = cells.keys
        self.weights = weights
        self.order: Codes = np.arange(cells.count, dtype=np.int32)
        self.count = 1
        self._keys = np.zeros((len(cells.quasi), 1), np.int32)
        self._counts = weights.sum(axis=0, keepdims=True)
        self._starts = np.zeros(1, np.int64)
        self._lengths = np.full(1, cells.count, np.int64)

    @property
    def keys(self) -> Codes:
        """Columns x partitions: the label (by number) of each."""
        return np.asarray(self._keys[:, : self.count])

    @property
    def counts(self) -> NDArray[np.int64]:
        """Partitions x figures: the summed weights of each."""
        return np.asarray(self._counts[: self.count])

    @property
    def rows(self) -> Ids:
        """The rows of each."""
        return np.asarray(self.counts[:, 0])

    def refine(self, column: int, value: int, child_of: Codes, children: int) -> Refined:
        """The partitions that contain a label, divided among its children; nothing is changed yet."""
        from sfumato.ground.kernels.refining_kernel import count_children

        parts = np.flatnonzero(self.keys[column] == value)
        cells = int(self._lengths[parts].sum())
        most = min(cells, len(parts) * children)
        group, owner = np.empty(cells, np.int32), np.empty(most, np.int64)
        child, held = np.empty(most, np.int32), np.empty(most, np.int64)
        counts = np.empty((most, self.weights.shape[1]), np.int64)
        slot = np.full(children, -1, np.int64)
        found = count_children(
            self.order, self._starts, self._lengths, parts, self.codes[column], child_of, self.weights, slot,
            group, owner, child, held, counts,
        )  # fmt: skip
        return Refined(
            column=column,
            parts=parts,
            owner=owner[:found],
            child=child[:found],
            counts=counts[:found],
            held=held[:found],
            group=group,
        )

    def cells_of(self, refined: Refined) -> Codes:
        """The cells of the partitions that are refined, one partition after the other."""
        lengths = self._lengths[refined.parts]
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.asarray(self.order[np.repeat(self._starts[refined.parts], lengths) + offsets])

    def apply(self, refined: Refined, values: Codes) -> None:
        """Divide the partitions; ``values`` are the labels (by number) of the children."""
        from sfumato.ground.kernels.refining_kernel import move_cells

        begins = np.empty(len(refined.owner), np.int64)
        parts, owner = refined.parts, refined.owner
        spare = np.empty(int(self._lengths[parts].max(initial=0)), np.int32)
        if len(parts):
            move_cells(
                self.order, self._starts, self._lengths, parts, refined.group, owner, refined.held, begins, spare
            )
        fresh = np.append(False, owner[1:] == owner[:-1])[: len(owner)]
        places = np.where(fresh, self.count - 1 + np.cumsum(fresh), parts[owner])
        self._reserve(self.count + int(fresh.sum()))
        self._keys[:, places[fresh]] = self._keys[:, parts[owner[fresh]]]
        self._keys[refined.column, places] = values[refined.child]
        self._counts[places] = refined.counts
        self._starts[places], self._lengths[places] = begins, refined.held

    def cell_parts(self) -> Ids:
        """The partition of each cell."""
        found = np.empty(len(self.order), np.int64)
        by_start = np.argsort(self._starts[: self.count])
        found[self.order] = np.repeat(by_start, self._lengths[by_start])
        return found

    def _reserve(self, count: int) -> None:
        """Make room, twice as much as is needed where it must be made."""
        if count > len(self._starts):
            more = 2 * count - len(self._starts)
            self._keys = np.concatenate([self._keys, np.empty((len(self._keys), more), np.int32)], axis=1)
            self._counts = np.concatenate([self._counts, np.empty((more, self._counts.shape[1]), np.int64)])
            self._starts = np.concatenate([self._starts, np.empty(more, np.int64)])
            self._lengths = np.concatenate([self._lengths, np.empty(more, np.int64)])
        self.count = count
