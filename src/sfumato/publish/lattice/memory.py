"""Which frequency sets are remembered, within a number of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.publish.lattice.frequencies import Frequencies
    from sfumato.publish.problem import Levels

_BYTES = 2**26
"""What is remembered may hold so many bytes; what was not used for longest is forgotten first."""


class Memory:
    """Frequency sets by node; the base is never forgotten."""

    def __init__(self, base: Frequencies, room: int = _BYTES) -> None:
        """Only the base."""
        self.base = base
        self._room = room
        self._kept = [base]
        self._place = {base.levels: 0}
        self._levels = np.array([base.levels], np.int64).reshape(1, len(base.levels))
        self._counts = np.array([len(base.sizes)], np.int64)
        self._used = np.zeros(1, np.int64)
        self._weights = np.zeros(1, np.int64)
        self._now = 0

    def __contains__(self, levels: Levels) -> bool:
        """Whether a node is remembered."""
        return levels in self._place

    def __len__(self) -> int:
        """How many nodes are remembered."""
        return len(self._kept)

    def get(self, levels: Levels) -> Frequencies | None:
        """A node, if it is remembered."""
        place = self._place.get(levels)
        return None if place is None else self._touched(place)

    def smallest(self, levels: Levels, having: Sequence[str] = ()) -> Frequencies:
        """The remembered node with the fewest classes that is as fine as this one or finer, and has some histograms."""
        many = len(self._kept)
        fits = (self._levels[:many] <= np.array(levels, np.int64)).all(axis=1).nonzero()[0]
        for place in fits[np.argsort(self._counts[fits], kind="stable")].tolist():
            if all(name in self._kept[place].tallies for name in having):
                return self._touched(place)
        return self.base

    def add(self, made: Frequencies) -> None:
        """Remember a node, unless it has nearly as many classes as the base."""
        if len(made.sizes) * 4 > len(self.base.sizes) * 3 or made.levels in self._place:
            return
        many = len(self._kept)
        if many == len(self._counts):
            self._levels = _doubled(self._levels)
            self._counts, self._used, self._weights = map(_doubled, (self._counts, self._used, self._weights))
        self._kept.append(made)
        self._place[made.levels] = many
        self._levels[many], self._counts[many], self._weights[many] = made.levels, len(made.sizes), made.weight
        self._touched(many)
        self._forget()

    def grown(self, made: Frequencies) -> None:
        """A remembered node has more histograms than before."""
        place = self._place.get(made.levels)
        if place:
            self._weights[place] = made.weight
            self._forget()

    def _touched(self, place: int) -> Frequencies:
        self._now += 1
        self._used[place] = self._now
        return self._kept[place]

    def _forget(self) -> None:
        """Forget what was not used for longest until the rest fits; the last one takes its place."""
        while len(self._kept) > 2 and int(self._weights[: len(self._kept)].sum()) > self._room:
            last = len(self._kept) - 1
            place = 1 + int(np.argmin(self._used[1 : last + 1]))
            del self._place[self._kept[place].levels]
            moved = self._kept.pop()
            if place < last:
                self._kept[place] = moved
                self._place[moved.levels] = place
                for figures in (self._levels, self._counts, self._used, self._weights):
                    figures[place] = figures[last]


def _doubled(figures: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same figures with room for as many more."""
    return np.concatenate([figures, np.zeros_like(figures)])
