"""Whether groups by every choice of columns meet a demand after a specialization."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.cut_counts import Numbers
from sfumato.group.keys import Ids, distinct, numbered
from sfumato.publish.top_down.demands import Demand
from sfumato.publish.top_down.partitions import Partitions, Refined

_SLACK = 1e-12
"""Room for rounding, as models have it."""
_ROOM = 2**10
"""So many combinations are never renumbered."""
Judged = Callable[[Numbers, Demand], bool]
"""Whether every group (a line of rows and watched values) that occurs meets a demand."""


class Choices:
    """The check of one demand; it counts only groups that contain a child of what is specialized.

    All other groups stay as they are. If even the smallest partitions pass, everything does, because shares and sizes
    of unions are no worse. A choice that failed is tried first the next time.
    """

    def __init__(self, demand: Demand, figures: tuple[int, ...], judged: Judged | None = None) -> None:
        """``figures`` are the places of the watched values among the partitions' counts; ``judged`` looks at groups."""
        self.demand, self.figures, self._passes = demand, list(figures), judged or passes
        self.counted = 0
        self._failed: list[tuple[int, ...]] = []

    def hold(self, partitions: Partitions, refined: Refined) -> bool:
        """Whether the demand is still met."""
        if refined.column not in self.demand.columns or not len(refined.owner):
            return True
        counts = refined.counts[:, [0, *self.figures]]
        if self._passes(counts, self.demand):
            return True
        if self.demand.size == len(partitions.keys):
            return False
        others = [c for c in self.demand.columns if c != refined.column and self.demand.size > 1]
        keys, radices, places = _local(partitions, refined, others)
        size = min(self.demand.size - 1, len(places))
        for failed in self._failed:
            if set(failed) <= set(places) and len(failed) == size:
                chosen = [places.index(c) for c in failed]
                if self._fails(keys[chosen], radices[chosen], refined.child, counts, size) is not None:
                    return False
        pick = self._fails(keys, radices, refined.child, counts, size)
        if pick is not None:
            self._failed = [tuple(places[p] for p in pick), *self._failed][:3]
        return pick is None

    def _fails(
        self, keys: NDArray[np.int32], radices: Ids, child: Ids, counts: Numbers, size: int
    ) -> tuple[int, ...] | None:
        """The choice of columns whose groups fail, if one does; groups by common first columns are numbered once."""
        prefixes: dict[tuple[int, ...], tuple[Ids, int]] = {(): (child, int(child.max()) + 1)}

        def numbers(pick: tuple[int, ...]) -> tuple[Ids, int]:
            if pick not in prefixes:
                ids, space = numbers(pick[:-1])
                for old in [one for one in prefixes if len(one) >= len(pick)]:
                    del prefixes[old]
                prefixes[pick] = _finer(ids, space, keys[pick[-1]], int(radices[pick[-1]]))
            return prefixes[pick]

        for pick in combinations(range(len(keys)), size):
            self.counted += 1
            ids, space = numbers(pick)
            if not self._passes(np.array([np.bincount(ids, one, space) for one in counts.T]).T, self.demand):
                return pick
        return None


def _finer(ids: Ids, space: int, codes: NDArray[np.int32], radix: int) -> tuple[Ids, int]:
    """Number the combinations of id and code; as they are where they are few, else only those that occur."""
    together, room = ids * radix + codes, space * radix
    return (together, room) if room <= max(4 * len(ids), _ROOM) else numbered(together, room)


def passes(groups: Numbers, demand: Demand) -> bool:
    """Whether every group (a line of rows and watched values) that occurs meets the demand."""
    groups = groups[groups[:, 0] > 0]
    rows = groups[:, :1]
    return bool(rows.min() >= demand.k * (1 - _SLACK) and (groups[:, 1:] / rows <= demand.limit + _SLACK).all())


def _local(
    partitions: Partitions, refined: Refined, others: list[int]
) -> tuple[NDArray[np.int32], Ids, tuple[int, ...]]:
    """The labels of each pair in the other columns, numbered anew, most labels first; columns with one are left out."""
    keys, radices, places = [], [], []
    for c in others:
        codes = partitions.keys[c][refined.parts]
        ids, count = distinct([codes], [int(codes.max()) + 1], len(codes))
        if count > 1:
            keys.append(ids.astype(np.int32)[refined.owner])
            radices.append(count)
            places.append(c)
    order = np.argsort([-count for count in radices], kind="stable")
    stacked = np.array([keys[i] for i in order], np.int32).reshape(len(order), len(refined.owner))
    return stacked, np.array([radices[i] for i in order], np.int64), tuple(places[i] for i in order)
