"""Sets of items with links from every item to the sets that hold it: the MVS-tree and the MFS-tree of the thesis.

A root-to-leaf path of such a tree is a row here, and ``Link_p`` is the list of rows that hold ``p``; the counts on a
link add up to the number of its living rows, which is kept up to date as rows die.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.itemsets import Itemsets
from sfumato.group.transactions import ragged


class Links:
    """Living sets, and how many of them hold each item."""

    def __init__(self, sets: Itemsets, count: int) -> None:
        self.sets = sets
        self.alive = np.ones(sets.count, np.bool_)
        self.counts = np.bincount(sets.codes, minlength=count).astype(np.int64)
        narrow = sets.codes.astype(np.uint16) if count < 2**16 else sets.codes  # sorted by digits, which is quick
        set_of = np.repeat(np.arange(sets.count, dtype=np.int32), np.diff(sets.starts))
        self.linked = set_of[np.argsort(narrow, kind="stable")]
        self.bounds = np.concatenate(([0], np.cumsum(self.counts)))

    @property
    def living(self) -> int:
        """How many sets live."""
        return int(self.alive.sum())

    def holding(self, item: int) -> NDArray[np.int32]:
        """The living sets that hold an item."""
        linked: NDArray[np.int32] = self.linked[self.bounds[item] : self.bounds[item + 1]]
        living: NDArray[np.int32] = linked[self.alive[linked]]
        return living

    def remove(self, sets: NDArray[np.int32]) -> None:
        """Let sets die; the counts of all their items sink."""
        self.alive[sets] = False
        self.counts -= np.bincount(self.items_of(sets), minlength=len(self.counts))

    def items_of(self, sets: NDArray[np.int32]) -> NDArray[np.int32]:
        """The items of some sets, one set behind the other."""
        found: NDArray[np.int32] = self.sets.codes[ragged(self.sets.starts, sets)]
        return found
