"""Leaf partitions of the current cut, and the labels that can be specialized, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from sfumato.algorithms.top_down.columns import Column, Rank, Score, Split
from sfumato.counts.keys import Ids
from sfumato.counts.sources import CutCounts, Divided, Division, Numbers
from sfumato.tables.table import Codes

# Leaf partitions: the classes of the current cut, with their labels and counts. Their records stay with the source.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Refined:
    """What becomes of the partitions that contain a label when it is specialized: (partition, child) pairs."""

    column: int
    """The column of the label."""
    parts: Ids
    """The partitions that contain the label."""
    divided: Divided
    """The pairs that have rows."""

    @property
    def owner(self) -> Ids:
        """For each pair, the place of its partition among ``parts``, ascending."""
        return self.divided.owner

    @property
    def child(self) -> Ids:
        """For each pair, which child."""
        return self.divided.child

    @property
    def counts(self) -> Numbers:
        """For each pair, its figures; rows come first."""
        return self.divided.counts

    @property
    def rows(self) -> Numbers:
        """The rows of each pair."""
        return np.asarray(self.counts[:, 0])


class Partitions:
    """All leaf partitions; a specialization touches only those that contain its label."""

    def __init__(self, columns: int, walk: CutCounts) -> None:
        """One partition of everything; of the figures that the walk counts, rows come first."""
        self.walk = walk
        self.count = 1
        self._keys = np.zeros((columns, 1), np.int32)
        self._counts = walk.total()[None]

    @property
    def keys(self) -> Codes:
        """Columns x partitions: the label (by number) of each."""
        return np.asarray(self._keys[:, : self.count])

    @property
    def counts(self) -> Numbers:
        """Partitions x figures."""
        return np.asarray(self._counts[: self.count])

    @property
    def rows(self) -> Numbers:
        """The rows of each."""
        return np.asarray(self.counts[:, 0])

    def refine(self, column: int, value: int, child_of: Codes, children: int) -> Refined:
        """The partitions that contain a label, divided among its children; nothing is changed yet."""
        parts = np.flatnonzero(self.keys[column] == value)
        division = Division(column=column, parts=parts, child_of=child_of, children=children)
        pairs = self.walk.refine(division)
        return Refined(column=column, parts=parts, divided=pairs.kept(pairs.counts[:, 0] > 0))

    def apply(self, refined: Refined, values: Codes) -> None:
        """Divide the partitions; ``values`` are the labels (by number) of the children."""
        owner, places = refined.owner, refined.divided.places(self.count)
        self.walk.apply(refined.divided, places)
        fresh = places >= self.count
        parents = refined.parts[owner[fresh]]
        self._reserve(self.count + int(fresh.sum()))
        self._keys[:, places[fresh]] = self._keys[:, parents]
        self._keys[refined.column, places] = values[refined.child]
        self._counts[places] = refined.counts

    def _reserve(self, count: int) -> None:
        """Make room, twice as much as is needed where it must be made."""
        if count > len(self._counts):
            more = 2 * count - len(self._counts)
            self._keys = np.concatenate([self._keys, np.empty((len(self._keys), more), np.int32)], axis=1)
            spare = np.empty((more, self._counts.shape[1]), self._counts.dtype)
            self._counts = np.concatenate([self._counts, spare])
        self.count = count


# The labels that can be specialized, best first.


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
