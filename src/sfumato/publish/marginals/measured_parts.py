"""Leaf partitions by the attributes measured so far: rows that read alike in all of them."""

from __future__ import annotations

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.cut_counts import CutCounts, Division, Groups
from sfumato.group.keys import Ids
from sfumato.publish.looking import Counts
from sfumato.publish.marginals.pair_counts import Coded


class MeasuredParts:
    """The partitions that have rows, with their labels and classes: private. Which row is where, the walk knows."""

    def __init__(self, walk: CutCounts) -> None:
        """All rows, if there are any."""
        self.walk = walk
        self.total: Counts = walk.total()
        """The rows of every class."""
        some = int(self.total.any())
        self.keys: Codes = np.zeros((0, some), np.int32)
        """Measured attributes x partitions: the label of each."""
        self.counts: Counts = self.total[None][:some]
        """Partitions x classes."""
        self._places: Ids = np.zeros(some, np.int64)
        self._numbers = 1

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.counts)

    def counted(self, one: Coded, code: Codes, codes: int) -> Counts:
        """Codes x groups x classes: the rows by the code of their partition, of so many, and by their group."""
        return np.asarray(self.walk.histogram(self._division(one), Groups(of=code, count=codes)))

    def add(self, one: Coded) -> None:
        """One more attribute is measured."""
        divided = self.walk.refine(self._division(one)).occupied()
        self._places = divided.places(self._numbers)
        self.walk.apply(divided, self._places)
        self._numbers = max(self._numbers, int(self._places.max(initial=0)) + 1)
        self.keys = np.concatenate([self.keys[:, divided.owner], divided.child[None].astype(np.int32)])
        self.counts = divided.counts

    def _division(self, one: Coded) -> Division:
        """The partitions by the groups of one more attribute."""
        place, child_of, size = one
        return Division(column=place, parts=self._places, child_of=child_of, children=size)
