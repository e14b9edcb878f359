"""Taking out of a group the largest part whose shares are close to those of the whole table."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from sfumato.group.keys import Ids
from sfumato.models.t_closeness import TCloseness
from sfumato.publish.local.groups import Groups
from sfumato.publish.problem import Problem

Counts = NDArray[np.int64]
_STEPS = 20
_DENSE = 2**22


def carved(problem: Problem) -> TCloseness | None:
    """The requirement that a part of a group may meet where the group does not: t-closeness, not by entropy."""
    close = [model for model in problem.models if isinstance(model, TCloseness) and model.distance != "kl"]
    return min(close, key=lambda model: model.t, default=None)


class Carving:
    """Offers groups that pass, and of those that do not the part that does, where single rows can be told apart."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        single = bool((groups.pool.sizes == 1).all())
        self.model = carved(groups.problem) if single else None
        if self.model is not None and self.model.t > 0:
            tally = groups.pool.tally(self.model.column)
            self.codes = np.zeros(len(groups.of), np.int32)
            self.codes[tally.owners] = tally.codes
            self.shares = tally.overall / max(int(tally.overall.sum()), 1)
            self.least = max(groups.least, ceil(6 / self.model.t))
        else:
            self.model = None

    def offered(self, ids: Ids, count: int) -> Ids:
        """The groups' numbers, -1 for cells that are in no passing group."""
        if self.model is not None:
            ids = self._closer(ids, count)
        return self.groups.fitting(ids, count)

    def _closer(self, ids: Ids, count: int) -> Ids:
        """Of every group large enough, the largest part whose shares are within t."""
        sizes = np.bincount(ids, minlength=count)
        large = sizes >= self.least
        if not large.any() or int(large.sum()) * len(self.shares) > _DENSE:
            return np.where(large[ids], ids, -1)
        number = np.cumsum(large) - 1
        inside = np.flatnonzero(large[ids])
        codes = self.codes[self.groups.left[inside]]
        entry = number[ids[inside]] * len(self.shares) + codes
        held = np.bincount(entry, minlength=int(large.sum()) * len(self.shares)).reshape(-1, len(self.shares))
        left = np.bincount(self.codes[self.groups.left], minlength=len(self.shares))
        kept = closest(held, self.shares, self.model.t if self.model else 0.0, left)
        kept[kept.sum(axis=1) < self.least] = 0
        found = np.full(len(ids), -1, np.int64)
        some = np.flatnonzero(kept.any(axis=1)[entry // len(self.shares)])
        chosen = inside[some[_place_among(entry[some]) < kept.reshape(-1)[entry[some]]]]
        found[chosen] = ids[chosen]
        return found


def _place_among(entry: Ids) -> Ids:
    """For each of some numbers, how many equal ones come before it."""
    order = np.argsort(entry, kind="stable")
    place = np.empty(len(entry), np.int64)
    place[order] = np.arange(len(entry)) - np.searchsorted(entry[order], entry[order])
    return place


def closest(held: Counts, shares: NDArray[np.float64], t: float, left: Counts) -> Counts:
    """For each histogram, a largest part of it whose shares lie within ``t`` of the given ones; zeros if none is found.

    A part of m rows is within t in variational distance if at least (1 - t) m of them are needed by the shares; that
    can be had while the rows that the shares can use, the sum of min(held, share * m), are so many. The others are of
    the values that are most frequent, beside their shares, among all that is ``left``: it stays like the whole table.
    """
    rows = held.sum(axis=1).astype(np.float64)
    low, high = np.zeros(len(held)), rows.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = np.minimum(held, shares * middle[:, None]).sum(axis=1) >= (1 - t) * middle
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    whole = np.minimum(held, shares * rows[:, None]).sum(axis=1) >= (1 - t) * rows - 1e-9
    found = np.where(whole[:, None], held, _filled(held, shares, np.floor(low), left))
    size = np.maximum(found.sum(axis=1, keepdims=True), 1)
    far = np.maximum(found / size - shares, 0).sum(axis=1) > t + 1e-12
    found[far] = 0
    return found


def _filled(held: Counts, shares: NDArray[np.float64], wanted: NDArray[np.float64], left: Counts) -> Counts:
    """So many rows of each histogram: what the shares ask for first, then what is too frequent among the rest."""
    needed = np.minimum(held, np.floor(shares * wanted[:, None])).astype(np.int64)
    room = wanted.astype(np.int64) - needed.sum(axis=1)
    order = np.argsort(-left / np.maximum(shares, 1e-12), kind="stable")
    spare = (held - needed)[:, order]
    more = np.clip(room[:, None] - (np.cumsum(spare, axis=1) - spare), 0, spare)
    needed[:, order] += more
    return needed
