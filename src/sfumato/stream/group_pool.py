"""Groups of records that were not published yet, kept as moments: fed, split, emptied, joined, and never looked into.

Document 000, section 20.3.1.4: a group is its count, its sums and its sums of products, which add up. A record joins
the group with the nearest centre; a group of 2k records is split in two without any record (equations 20.6 to 20.9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.group.keys import Ids
from sfumato.publish.condensation.moments import Moments, Points

_AT_ONCE = 2**18
"""A matrix product of no more multiplications than this is done by one thread: waiting for others costs more."""
Divide = Callable[[Ids, Ids, Ids], None]
"""Told of every split: the groups, how many records of each stay, and the numbers of the new groups for the rest."""


def undivided(parents: Ids, first: Ids, fresh: Ids) -> None:
    """Nothing else hangs on the groups."""


@dataclass(slots=True, kw_only=True, eq=False)
class GroupPool:
    """The groups of one class; the arrays have a place for every group, and change as records come.

    Claim: the moments of all groups, and of those that were taken out, add up to the moments of all records that came
    in, whatever their order. Every group that is taken out has k to 2k - 1 records, none of which was taken out before.
    """

    k: int
    """The fewest records of a group that is taken out."""
    moments: Moments
    """What each group holds: records that were not taken out yet."""
    anchors: Points
    """Where a group with fewer than k records is: the mean of those that it was emptied of, or of its first ones."""
    fed: Ids
    """The block in which each group was last given a record."""

    @classmethod
    def empty(cls, k: int, width: int) -> GroupPool:
        """No group yet, for records of so many numbers."""
        none = Moments(count=np.zeros(0, np.int64), sums=np.zeros((0, width)), products=np.zeros((0, width, width)))
        return cls(k=k, moments=none, anchors=np.zeros((0, width)), fed=np.zeros(0, np.int64))

    @property
    def waiting(self) -> int:
        """How many records are held."""
        return int(self.moments.count.sum())

    @property
    def centres(self) -> Points:
        """The mean of a group that has k records, and the anchor of one that has fewer."""
        enough = self.moments.count >= self.k
        found = self.anchors.copy()
        found[enough] = self.moments.sums[enough] / self.moments.count[enough, None]
        return found

    def begin(self, points: Points, groups: Ids, many: int, block: int) -> None:
        """Take the groups that some first records were put into."""
        found = Moments.by_group(points, groups, many)
        self.moments = found
        self.anchors, self.fed = found.mean, np.full(many, block, np.int64)

    def feed(self, points: Points, block: int) -> Ids:
        """Add records to the groups with the nearest centres; the group of each is told, before any is split."""
        if not len(self.fed):
            self.begin(points, np.zeros(len(points), np.int64), 1, block)
            return np.zeros(len(points), np.int64)
        groups = nearest_centres(points, self.centres)
        touched, inner = np.unique(groups, return_inverse=True)
        more = Moments.by_group(points, inner.reshape(-1).astype(np.int64), len(touched))
        held = self.moments
        held.count[touched] += more.count
        held.sums[touched] += more.sums
        held.products[touched] += more.products
        self.fed[touched] = block
        return groups

    def split(self, divide: Divide = undivided) -> None:
        """Split groups of 2k records and more until there is none, along their longest eigenvectors."""
        while len(parents := np.flatnonzero(self.moments.count >= 2 * self.k)):
            one, other = self.moments[parents].split()
            fresh = len(self.fed) + np.arange(len(parents), dtype=np.int64)
            divide(parents, np.asarray(one.count), fresh)
            held = self.moments
            held.count[parents], held.sums[parents], held.products[parents] = one.count, one.sums, one.products
            self.anchors[parents] = one.mean
            self.moments = _appended(held, other)
            self.anchors = np.concatenate([self.anchors, other.mean])
            self.fed = np.concatenate([self.fed, self.fed[parents]])

    def take_out(self) -> tuple[Ids, Moments]:
        """The groups with k records and more, and their moments; they are empty then, and their centres stay."""
        full = np.flatnonzero(self.moments.count >= self.k)
        held = self.moments
        taken = held[full]
        if len(full):
            self.anchors[full] = taken.mean
        held.count[full], held.sums[full], held.products[full] = 0, 0.0, 0.0
        return full, taken

    def retire(self, most: int) -> Ids:
        """Give up empty groups beyond ``most`` groups, the least recently fed first; the groups that stay are told."""
        empty = np.flatnonzero(self.moments.count == 0)
        over = min(max(len(self.fed) - most, 0), len(empty))
        gone = empty[np.argsort(self.fed[empty], kind="stable")[:over]]
        stay = np.setdiff1d(np.arange(len(self.fed)), gone)
        self._keep(stay)
        return stay

    def join_small(self, divide: Divide, joined: Callable[[int, int], None]) -> None:
        """Join the smallest group with the nearest one until each has k records, or one is left; then split.

        ``joined`` is told which group went into which. Empty groups are given up first (``retire``).
        """
        count = self.moments.count
        there = count > 0
        while (
            there.sum() > 1 and count[least := int(np.argmin(np.where(there, count, np.iinfo(np.int64).max)))] < self.k
        ):
            there[least] = False
            left = np.flatnonzero(there)
            where = self.moments.sums[left] / count[left, None]
            apart = ((where - self.moments.sums[least] / count[least]) ** 2).sum(axis=1)
            into = int(left[np.argmin(apart)])
            for part in (count, self.moments.sums, self.moments.products):
                part[into] += part[least]
                part[least] = 0
            joined(least, into)
        self.split(divide)

    def _keep(self, stay: Ids) -> None:
        self.moments, self.anchors, self.fed = self.moments[stay], self.anchors[stay], self.fed[stay]


def nearest_centres(points: Points, centres: Points) -> Ids:
    """The nearest centre of each record; the first of several.

    The squares of a record are the same for all centres, so |c|^2 - 2 x c decides; it is one matrix product, with the
    centres moved to the middle of all so that few digits are lost.
    """
    middle = centres.mean(axis=0)
    around = centres - middle
    sides = np.concatenate([-2 * around, (around * around).sum(axis=1)[:, None]], axis=1).T.copy()
    rows = np.concatenate([points - middle, np.ones((len(points), 1))], axis=1)
    found = np.empty(len(points), np.int64)
    step = max(_AT_ONCE // sides.size, 1)
    room: NDArray[np.float64] = np.empty((min(step, len(points)), len(centres)))
    for start in range(0, len(points), step):
        part = rows[start : start + step]
        found[start : start + step] = np.matmul(part, sides, out=room[: len(part)]).argmin(axis=1)
    return found


def _appended(held: Moments, more: Moments) -> Moments:
    return Moments(
        count=np.concatenate([held.count, more.count]),
        sums=np.concatenate([held.sums, more.sums]),
        products=np.concatenate([held.products, more.products]),
    )
