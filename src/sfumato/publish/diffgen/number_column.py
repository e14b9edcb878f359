"""A numeric attribute: its values are intervals of the declared grid, and where they are split is chosen."""

from __future__ import annotations

import numpy as np

from sfumato.data.table import Codes
from sfumato.describe.spans import Ends
from sfumato.describe.taxonomy import TOP
from sfumato.publish.cut import ColumnCut
from sfumato.publish.diffgen.class_tables import Candidate, Table
from sfumato.publish.noisy_table import Attribute


class NumberColumn:
    """The intervals of one range; value 0 is the whole of it."""

    def __init__(self, attribute: Attribute, counts: Table) -> None:
        """One interval; ``counts`` (cells of the grid x classes) are those of the whole table."""
        self.attribute = attribute
        self.cells = len(attribute.values)
        self.up_to: Table = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), counts.cumsum(axis=0)])
        self.spans: list[tuple[int, int]] = [(0, self.cells)]
        """Of each value: its first cell, and the first one behind it."""
        self.points: dict[int, int] = {}
        """Where a value is split, once that is chosen: the first cell of the upper part."""
        self.shown = [0]

    def is_open(self, value: int) -> bool:
        """Whether the interval has more than one cell."""
        low, high = self.spans[value]
        return high - low > 1

    def width(self, at: Candidate) -> int:
        """Two parts."""
        return 2

    def tables(self, value: int) -> Table:
        """Points of the grid inside the interval x 2 x classes: the records on either side."""
        low, high = self.spans[value]
        left = self.up_to[low + 1 : high] - self.up_to[low]
        return np.stack([left, (self.up_to[high] - self.up_to[low]) - left], axis=1)

    def take(self, value: int, place: int) -> None:
        """The point at which the value will be split: the place of it among those inside the interval."""
        self.points[value] = self.spans[value][0] + 1 + place

    def table(self, at: Candidate) -> Table:
        """Lower and upper part x classes."""
        low, high = self.spans[at.value]
        left = self.up_to[self.points[at.value]] - self.up_to[low]
        return np.stack([left, self.up_to[high] - self.up_to[low] - left])

    def split(self, at: Candidate) -> tuple[int, ...]:
        """Two intervals take the place of one."""
        low, high = self.spans[at.value]
        new = len(self.spans)
        self.spans += [(low, self.points[at.value]), (self.points[at.value], high)]
        place = self.shown.index(at.value)
        self.shown[place : place + 1] = [new, new + 1]
        return new, new + 1

    def child_of(self, at: Candidate) -> Codes:
        """Whether each cell of the interval lies in the upper part."""
        cells = np.arange(self.cells)
        return np.asarray((cells >= self.points[at.value]) & (cells < self.spans[at.value][1]), np.int32)

    def name(self, value: int) -> str:
        """The interval, closed only at the end of the range."""
        low, high = self.spans[value]
        given = self.attribute
        ends = Ends(low=given.low, high=given.high, low_known=True, high_known=True)
        span = given.edge(low), given.edge(high) if high < self.cells else given.high
        return TOP if high - low == self.cells else ends.named(span, first=not low, last=high == self.cells)

    def cut(self) -> tuple[ColumnCut, dict[int, int]]:
        """The intervals as labels, ascending."""
        spans = [self.spans[value] for value in self.shown]
        wide = np.array([high - low for low, high in spans])
        made = ColumnCut(
            labels=tuple(self.name(value) for value in self.shown),
            of_code=np.repeat(np.arange(len(spans), dtype=np.int32), wide),
            sizes=wide * float(self.attribute.grid),
            steps=(wide - 1) / max(self.cells - 1, 1),
            edges=tuple(self.attribute.edge(low) for low, _ in spans[1:]),
        )
        return made, {value: place for place, value in enumerate(self.shown)}
