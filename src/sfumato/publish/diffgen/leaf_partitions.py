"""The leaf partitions: what each is called in every attribute, and how many records of each class it has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.cut_counts import CutCounts, Divided, Division
from sfumato.group.keys import Ids


class Partitions:
    """All partitions, also those without a record; they stand in the order of the tree of specializations.

    Which record is in which partition is known to the walk alone. There only partitions with records have a number.
    """

    def __init__(self, columns: int, walk: CutCounts) -> None:
        """One partition, with the topmost value of every attribute, that has all records."""
        self.walk = walk
        self.keys = np.zeros((columns, 1), np.int32)
        """Columns x partitions: the value of each partition."""
        self.counts: NDArray[np.int64] = walk.total()[None]
        """Partitions x classes: private."""
        self.places: Ids = np.where(self.counts.any(axis=1), 0, -1)
        """The number of each partition in the walk; -1 if it has no record: private."""
        self.parents: list[Codes] = []
        """For every step, the partition that each new partition was before."""
        self._numbers = 1

    @property
    def count(self) -> int:
        """How many there are: public."""
        return self.keys.shape[1]

    def having(self, column: int, value: int) -> NDArray[np.bool_]:
        """Which of them have a value."""
        return np.asarray(self.keys[column] == value)

    def split(self, column: int, value: int, values: tuple[int, ...], child_of: Codes) -> None:
        """Every partition that has a value becomes one for each child value."""
        has = self.having(column, value)
        parents = np.repeat(np.arange(self.count, dtype=np.int32), np.where(has, len(values), 1))
        first = np.searchsorted(parents, np.arange(self.count)).astype(np.int32)
        child = np.arange(len(parents)) - first[parents]
        keys = np.where(has[parents], np.asarray(values, np.int32)[child % len(values)], self.keys[column][parents])
        filled = np.flatnonzero(has & (self.places >= 0))
        asked = Division(column=column, parts=self.places[filled], child_of=child_of, children=len(values))
        divided = self.walk.refine(asked).occupied()
        self.replace(parents, column, keys, has, divided, first[filled[divided.owner]] + divided.child)

    def replace(
        self, parents: Codes, column: int, keys: Codes, gone: NDArray[np.bool_], divided: Divided, at: Ids
    ) -> None:
        """Other partitions, each from one of the old ones, with a new value in one column.

        Of those that are ``gone``, the pairs with records go to the new partitions ``at`` these places.
        """
        numbers = divided.places(self._numbers)
        self.walk.apply(divided, numbers)
        self._numbers = max(self._numbers, int(numbers.max(initial=0)) + 1)
        fresh = gone[parents]
        counts = np.where(fresh[:, None], 0, self.counts[parents])
        places = np.where(fresh, -1, self.places[parents])
        counts[at], places[at] = divided.counts, numbers
        self.keys = self.keys[:, parents]
        self.keys[column] = keys
        self.counts, self.places = counts, places
        self.parents.append(parents)
