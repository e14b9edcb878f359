"""Whether groups by every choice of columns meet a demand after a specialization."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.cut_counts import Numbers
from sfumato.group.keys import Ids, distinct
from sfumato.publish.top_down.demands import Demand
from sfumato.publish.top_down.partitions import Partitions, Refined

_SLACK = 1e-12
"""Room for rounding, as models have it."""
_SPACE = 2**25
"""The most combinations that are counted in a table; beyond, they are sorted."""


class Choices:
    """The check of one demand; it counts only groups that contain a child of what is specialized.

    All other groups stay as they are. If even the smallest partitions pass, everything does, because shares and sizes
    of unions are no worse. A choice that failed is tried first the next time.
    """

    def __init__(self, demand: Demand, figures: tuple[int, ...]) -> None:
        """``figures`` are the places of the watched values among the partitions' counts."""
        self.demand, self.figures = demand, list(figures)
        self.counted = 0
        self._failed: list[tuple[int, ...]] = []

    def hold(self, partitions: Partitions, refined: Refined) -> bool:
        """Whether the demand is still met."""
        if refined.column not in self.demand.columns or not len(refined.owner):
            return True
        counts = refined.counts[:, [0, *self.figures]]
        if _passes(counts, self.demand):
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
        """The choice of columns whose groups fail, if one does."""
        children = int(child.max()) + 1
        room = _room(radices, children, len(child), size)
        if room > _SPACE or counts.dtype.kind == "f" or int(counts[:, 0].sum()) >= 2**31:
            return self._fails_sorted(keys, radices, child, counts, size)
        from sfumato.ground.kernels.choices_kernel import choice_that_fails

        if not size:
            keys, radices = np.zeros((1, len(child)), np.int32), np.ones(1, np.int64)
        pick = np.zeros(max(size, 1), np.int64)
        ids = np.empty((len(pick), len(child)), np.int32)
        ids[0] = child
        columns = np.ascontiguousarray(counts.T, np.int32)
        table, other = np.empty(room, np.int32), np.empty(room if len(columns) > 1 else 0, np.int32)
        limit = self.demand.limit + _SLACK
        done = choice_that_fails(keys, radices, columns, self.demand.k, limit, ids, children, table, other, pick)
        self.counted += abs(done)
        return None if done > 0 else tuple(pick[:size].tolist())

    def _fails_sorted(
        self, keys: NDArray[np.int32], radices: Ids, child: Ids, counts: Numbers, size: int
    ) -> tuple[int, ...] | None:
        """The same by sorting combinations."""
        for pick in combinations(range(len(keys)), size):
            self.counted += 1
            radix = [int(child.max()) + 1, *(int(radices[p]) for p in pick)]
            ids, count = distinct([child.astype(np.int32), *(keys[p] for p in pick)], radix, len(child))
            groups = np.array([np.bincount(ids, weights=one, minlength=count) for one in counts.T]).T
            if not _passes(groups, self.demand):
                return pick
        return None


def _passes(groups: Numbers, demand: Demand) -> bool:
    """Whether every group (a line of rows and watched values) meets the demand."""
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


def _room(radices: Ids, children: int, length: int, size: int) -> int:
    """The largest table that counting needs: prefixes are renumbered where they are more than the pairs."""
    room, most = max(children, 1), max(length, children)
    together = children
    largest = sorted(radices.tolist(), reverse=True)[:size]
    for radix in largest:
        together *= radix
        room = max(room, min(together, most * largest[0]))
    return room
