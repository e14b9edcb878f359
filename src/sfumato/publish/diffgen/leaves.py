"""The leaf partitions that have records, with their impurity: now, and after any specialization."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.group.cut_counts import Division, by_value
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.node_column import TreeColumn
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization_scores import Reals, impurity

BLOCK = 2**22
"""So many counts are looked at together."""


class Leaves:
    """The records by partition. A partition without a record has no impurity and never gets any."""

    def __init__(self, parts: Partitions) -> None:
        """Only the partitions that have records."""
        used = np.flatnonzero(parts.places >= 0)
        self.keys = parts.keys[:, used]
        """Columns x partitions: their values."""
        self.places = parts.places[used]
        """Their numbers in the walk."""
        self.walk, self.classes = parts.walk, parts.counts.shape[1]
        self.now = impurity(parts.counts[used])
        """The impurity of each partition."""

    def after_nodes(self, c: int, column: TreeColumn, candidates: list[Candidate]) -> dict[Candidate, Reals]:
        """For each of some values, all different, how much impurity its specialization takes away."""
        wide = max(column.width(one) for one in candidates)
        child = np.zeros(len(column.attribute.values), np.int32)
        for one in candidates:
            child += column.child_of(one)
        mine = np.isin(self.keys[c], [one.value for one in candidates])
        asked = Division(column=c, parts=self.places[mine], child_of=child, children=wide)
        after = impurity(self.walk.histogram(asked)).sum(axis=1)
        taken, keys = self.now[mine] - after, self.keys[c][mine]
        return {one: np.array([taken[keys == one.value].sum()]) for one in candidates}

    def after_points(self, c: int, column: NumberColumn, values: list[int]) -> dict[int, Reals]:
        """For each of some intervals and every point of the grid inside it, how much impurity a split takes away."""
        found = {value: np.zeros(column.spans[value][1] - column.spans[value][0] - 1) for value in values}
        wanted = np.isin(self.keys[c], values)
        for first, last in self._blocks(column.cells):
            here = first + np.flatnonzero(wanted[first:last])
            up_to = self.walk.histogram(by_value(c, column.cells, self.places[here])).cumsum(axis=1)
            for value in values:
                low, high = column.spans[value]
                mine = self.keys[c][here] == value
                left = up_to[mine, low : high - 1]
                after = impurity(left) + impurity(up_to[mine, -1:] - left)
                found[value] += (self.now[here][mine, None] - after).sum(axis=0)
        return found

    def after_sets(self, c: int, column: SetColumn, node: int) -> Reals:
        """How much impurity a specialization of a node takes away."""
        has = column.having(self.keys[c], node)
        after = impurity(self.walk.refine(column.division(node, self.places[has])).occupied().counts)
        return np.array([self.now[has].sum() - after.sum()])

    def _blocks(self, cells: int) -> Iterator[tuple[int, int]]:
        """Some partitions at a time."""
        step = max(BLOCK // (cells * self.classes), 1)
        for first in range(0, len(self.places), step):
            yield first, min(first + step, len(self.places))
