"""The leaf partitions: what each is called in every attribute, and which of them every record is in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes

Places = NDArray[np.int64]


class Partitions:
    """All partitions, also those without a record; they stand in the order of the tree of specializations."""

    def __init__(self, columns: int, rows: int) -> None:
        """One partition, with the topmost value of every attribute, that has all records."""
        self.keys = np.zeros((columns, 1), np.int32)
        """Columns x partitions: the value of each partition."""
        self.of_row = np.zeros(rows, np.int32)
        """The partition of every record; -1 if its partition was found to be empty."""
        self.parents: list[Codes] = []
        """For every step, the partition that each new partition was before."""

    @property
    def count(self) -> int:
        """How many there are: public."""
        return self.keys.shape[1]

    def having(self, column: int, value: int) -> NDArray[np.bool_]:
        """Which of them have a value."""
        return np.asarray(self.keys[column] == value)

    def split(self, column: int, value: int, values: tuple[int, ...], child_of_row: Codes) -> None:
        """Every partition that has a value becomes one for each child value; ``child_of_row`` is 0 elsewhere."""
        has = self.having(column, value)
        parents = np.repeat(np.arange(self.count, dtype=np.int32), np.where(has, len(values), 1))
        first = np.searchsorted(parents, np.arange(self.count)).astype(np.int32)
        child = np.arange(len(parents)) - first[parents]
        self.keys = self.keys[:, parents]
        self.keys[column] = np.where(has[parents], np.asarray(values, np.int32)[child % len(values)], self.keys[column])
        alive = self.of_row >= 0
        moved = first[self.of_row] + child_of_row
        self.of_row = moved if alive.all() else np.where(alive, moved, np.int32(-1))
        self.parents.append(parents)

    def replace(self, parents: Codes, column: int, keys: Codes) -> None:
        """Other partitions, each from one of the old ones, with a new value in one column; records are not moved."""
        self.keys = self.keys[:, parents]
        self.keys[column] = keys
        self.parents.append(parents)

    def histogram(self, target: Codes, classes: int) -> Places:
        """Partitions x classes: how many records there are."""
        kept = self.of_row >= 0
        rows = self.of_row if kept.all() else self.of_row[kept]
        kinds = target if kept.all() else target[kept]
        keys = rows.astype(np.int64) * classes + kinds
        return np.bincount(keys, minlength=self.count * classes).reshape(self.count, classes)
