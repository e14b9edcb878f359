"""Leaf partitions: the classes of the current cut, with their labels and counts. Their records stay with the source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.cut_counts import CutCounts, Divided, Division, Numbers
from sfumato.group.keys import Ids


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
        asked = Division(column=column, parts=parts, child_of=child_of, children=children)
        found = self.walk.refine(asked)
        return Refined(column=column, parts=parts, divided=found.kept(found.counts[:, 0] > 0))

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
