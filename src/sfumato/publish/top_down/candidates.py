"""The labels that can be specialized, best first."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from sfumato.data.table import Codes
from sfumato.publish.top_down.cut_columns import Column
from sfumato.publish.top_down.partitions import Partitions, Refined
from sfumato.publish.top_down.splits import Rank, Score, Split


class Candidates:
    """A heap of labels.

    The information gain of a label never changes; the squares of the classes that contain it never grow. So a
    candidate whose score was lowered since it was put in is put in again, and one whose score was not is the best.
    """

    def __init__(self, columns: Sequence[Column], score: Score, rows: float) -> None:
        """The roots."""
        self.columns, self.score = columns, score
        self._squares = [np.full(1, float(rows) ** 2) for _ in columns]
        self._heap: list[tuple[float, int, Rank]] = []
        for place in range(len(columns)):
            self.add(place, [0])

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def left(self) -> bool:
        """Whether there is one to be tried."""
        return bool(self._heap)

    def add(self, place: int, values: Sequence[int]) -> None:
        """Put in those labels of a column that have something below."""
        column = self.columns[place]
        for value in values:
            if column.is_open(value):
                heappush(self._heap, (-self._rounded(place, value), place, column.rank(value)))

    def pop(self) -> tuple[int, int]:
        """Take out the best: its column and its number."""
        while True:
            put, place, rank = heappop(self._heap)
            now = -self._rounded(place, rank[1])
            if now <= put:
                return place, rank[1]
            heappush(self._heap, (now, place, rank))

    def split(self, place: int, value: int) -> Split:
        """What would replace a label that was taken out."""
        return self.columns[place].split(value)

    def worth(self, place: int, value: int) -> float:
        """The score of a label."""
        return self.columns[place].gain(value) if self.score == "gain" else float(self._squares[place][value])

    def moved(self, partitions: Partitions, refined: Refined, values: Codes) -> None:
        """Bring the squares up to date, before the partitions are divided."""
        if self.score == "gain":
            return
        before = np.square(partitions.rows[refined.parts], dtype=np.float64)
        after = np.square(refined.rows, dtype=np.float64)
        lost = before - np.bincount(refined.owner, weights=after, minlength=len(before))
        for place, column in enumerate(self.columns):
            squares = np.append(self._squares[place], np.zeros(max(column.values - len(self._squares[place]), 0)))
            if place == refined.column:
                squares[values] = np.bincount(refined.child, weights=after, minlength=len(values))
            else:
                squares -= np.bincount(partitions.keys[place][refined.parts], weights=lost, minlength=len(squares))
            self._squares[place] = squares

    def _rounded(self, place: int, value: int) -> float:
        return round(self.worth(place, value), 12)
