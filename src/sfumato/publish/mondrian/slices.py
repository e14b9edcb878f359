"""Groups as slices of the cells' order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.group.keys import Ids, ranges
from sfumato.utility.view import Reals

Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices:
    """Groups, the cut that each was given last, and what they cost."""

    ends: NDArray[np.int64]
    """First cell, end, and where the second side of the cut begins: -1 if there is none."""
    tried: Reals
    """The key of the cut."""
    numbers: Ids
    """The number of the cut, -1 before the first."""
    loss: Reals
    """What the group costs uncut, where that was asked for."""

    @classmethod
    def of(cls, starts: Ids, ends: Ids) -> Slices:
        """Groups that were never cut."""
        none = np.full(len(starts), -1, np.int64)
        return cls(
            ends=np.array([starts, ends, none]),
            tried=np.full(len(starts), -np.inf),
            numbers=none.copy(),
            loss=np.zeros(len(starts)),
        )

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    @property
    def lengths(self) -> Ids:
        """How many cells each has."""
        return np.asarray(self.ends[1] - self.ends[0])

    @property
    def cut(self) -> Marks:
        """Which of them have a cut."""
        return np.asarray(self.ends[2] >= 0)

    @property
    def places(self) -> Ids:
        """The places of all their cells, group after group."""
        return ranges(self.ends[0], self.ends[1])[1]

    def take(self, which: Marks) -> Slices:
        """Some of them."""
        return Slices(
            ends=np.ascontiguousarray(self.ends[:, which]),
            tried=self.tried[which],
            numbers=self.numbers[which],
            loss=self.loss[which],
        )

    def copy(self) -> Slices:
        """The same, to be cut on."""
        return self.take(np.ones(self.count, np.bool_))

    def packed(self) -> Slices:
        """The same as slices of an order that holds only their cells."""
        ends = self.ends - self.ends[0] + np.cumsum(self.lengths) - self.lengths
        return Slices(ends=ends, tried=self.tried, numbers=self.numbers, loss=self.loss)

    def halves(self, shift: int = 0) -> Slices:
        """The two sides of every group, so many cells further on: all first sides, then all second sides."""
        start, end, middle = self.ends + shift
        return Slices.of(np.append(start, middle), np.append(middle, end))

    def __add__(self, other: Slices) -> Slices:
        return Slices(
            ends=np.concatenate([self.ends, other.ends], axis=1),
            tried=np.append(self.tried, other.tried),
            numbers=np.append(self.numbers, other.numbers),
            loss=np.append(self.loss, other.loss),
        )
