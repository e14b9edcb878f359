"""The leaf partitions that have records, with their impurity: now, and after any specialization."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.node_column import TreeColumn
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization_scores import Reals, impurity

BLOCK = 2**22
"""So many counts are looked at together."""
Places = NDArray[np.int64]


class Leaves:
    """The records by partition. A partition without a record has no impurity and never gets any."""

    def __init__(self, parts: Partitions, target: Codes, classes: int) -> None:
        """Number the partitions that have records, and sort the records by them."""
        rows = np.flatnonzero(parts.of_row >= 0)
        sizes = np.bincount(parts.of_row[rows], minlength=parts.count)
        self.used = np.flatnonzero(sizes)
        """The partitions."""
        self.keys = parts.keys[:, self.used]
        """Columns x partitions: their values."""
        place = np.zeros(parts.count, np.int32)
        place[self.used] = np.arange(len(self.used), dtype=np.int32)
        owner = place[parts.of_row[rows]]
        order = np.argsort(owner, kind="stable")
        self.rows = rows[order]
        """The records, those of one partition together."""
        self.owner = owner[order].astype(np.int64)
        """The partition of each of them."""
        self.ends = np.concatenate([[0], np.cumsum(sizes[self.used])])
        """Where the records of each partition begin, and where the last ones end."""
        self.kinds, self.classes = target[self.rows], classes
        self.now = impurity(self._counts(self.owner, len(self.used), self.kinds))
        """The impurity of each partition."""

    def after_nodes(self, c: int, column: TreeColumn, values: list[int]) -> dict[int, Reals]:
        """For each of some values, how much impurity its specialization takes away."""
        wide = max(column.width(value) for value in values)
        child = np.zeros(len(column.attribute.values), np.int64)
        for value in values:
            child += column.child_of(value)
        keys = self.owner * wide + child[column.attribute.codes[self.rows]]
        after = impurity(self._counts(keys, len(self.used) * wide, self.kinds)).reshape(-1, wide).sum(axis=1)
        return {value: np.array([(self.now - after)[self.keys[c] == value].sum()]) for value in values}

    def after_points(self, c: int, column: NumberColumn, values: list[int]) -> dict[int, Reals]:
        """For each of some intervals and every point of the grid inside it, how much impurity a split takes away."""
        found = {value: np.zeros(column.spans[value][1] - column.spans[value][0] - 1) for value in values}
        cells = column.attribute.codes[self.rows]
        for first, last in self._blocks(column.cells):
            here = slice(self.ends[first], self.ends[last])
            keys = (self.owner[here] - first) * column.cells + cells[here]
            counts = self._counts(keys, (last - first) * column.cells, self.kinds[here])
            up_to = counts.reshape(last - first, column.cells, self.classes).cumsum(axis=1)
            for value in values:
                low, high = column.spans[value]
                mine = self.keys[c][first:last] == value
                left = up_to[mine, low : high - 1]
                after = impurity(left) + impurity(up_to[mine, -1:] - left)
                found[value] += (self.now[first:last][mine, None] - after).sum(axis=0)
        return found

    def after_sets(self, c: int, column: SetColumn, node: int) -> Reals:
        """How much impurity a specialization of a node takes away."""
        has = column.having(self.keys[c], node)
        inside = np.flatnonzero(has[self.owner])
        pairs = self.owner[inside] * (1 << len(column.below(node))) + column.masks(node)[self.rows[inside]]
        found, place = np.unique(pairs, return_inverse=True)
        after = impurity(self._counts(place.reshape(-1), len(found), self.kinds[inside]))
        return np.array([self.now[has].sum() - after.sum()])

    def _counts(self, keys: Places, size: int, kinds: Codes) -> Places:
        counts = np.bincount(keys * self.classes + kinds, minlength=size * self.classes)
        return counts.reshape(size, self.classes)

    def _blocks(self, cells: int) -> Iterator[tuple[int, int]]:
        """Some partitions at a time."""
        step = max(BLOCK // (cells * self.classes), 1)
        for first in range(0, len(self.used), step):
            yield first, min(first + step, len(self.used))
