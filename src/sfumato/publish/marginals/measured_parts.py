"""Leaf partitions by the attributes measured so far: rows that read alike in all of them."""

from __future__ import annotations

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.cut_counts import CutCounts, Divided, Division
from sfumato.group.keys import Ids
from sfumato.publish.marginals.binnings import Bins
from sfumato.publish.marginals.marginal_scores import Counts


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

    def divided(self, bins: Bins) -> Divided:
        """The partitions by the labels of one more attribute."""
        asked = Division(column=bins.place, parts=self._places, child_of=bins.cut.of_code, children=bins.size)
        return self.walk.refine(asked).occupied()

    def add(self, divided: Divided) -> None:
        """One more attribute is measured."""
        self._places = divided.places(self._numbers)
        self.walk.apply(divided, self._places)
        self._numbers = max(self._numbers, int(self._places.max(initial=0)) + 1)
        self.keys = np.concatenate([self.keys[:, divided.owner], divided.child[None].astype(np.int32)])
        self.counts = divided.counts


def counted(divided: Divided, above: Codes, size: int) -> Counts:
    """Codes x labels x classes: the rows by the code ``above`` of their partition, of ``size``, and by their label."""
    labels, kinds = divided.division.children, divided.counts.shape[1]
    ids = above[divided.owner].astype(np.int64) * labels + divided.child
    found = [np.bincount(ids, weights=one, minlength=size * labels) for one in divided.counts.T]
    return np.stack(found, axis=1).astype(np.int64).reshape(size, labels, kinds)
