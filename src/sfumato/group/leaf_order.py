"""Cells in the order of their leaf partitions: those of one partition lie together."""

from __future__ import annotations

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.keys import Ids, ranges


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
        found = np.full(len(self.cells), -1, np.int64)
        held = np.flatnonzero(self.lengths)
        found[self.listed(held)] = np.repeat(held, self.lengths[held])
        return found
