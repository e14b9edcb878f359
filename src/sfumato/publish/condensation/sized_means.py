"""Groups around means, each with k to 2k - 1 records: k-means with a constraint on the size of groups."""

from __future__ import annotations

import numpy as np

from sfumato.group.keys import Ids
from sfumato.publish.condensation.moments import Moments, Points

_ROUNDS = 5
"""How often means move and records choose again before groups are brought to size."""


def sized_means(points: Points, k: int) -> tuple[Ids, int]:
    """The group of each record, and how many groups; every group has k to 2k - 1 records, if there are k.

    The first means are every k-th record along the longest direction of the whole, so nothing is drawn. Records choose
    the nearest mean, means move, a few times. Then the smallest group is given up as long as it has fewer than k: its
    records go to the nearest mean that is left. Groups of 2k and more are halved at the middle of their own longest
    direction.
    """
    rows = len(points)
    along = points @ longest(points)
    centres = points[np.argsort(along, kind="stable")[k // 2 :: k][: max(rows // k, 1)]]
    groups = nearest(points, centres)
    for _ in range(_ROUNDS):
        centres = _means(points, groups, centres)
        groups = nearest(points, centres)
    groups = _enough(points, groups, _means(points, groups, centres), k)
    return _halved(points, groups, k)


def longest(points: Points) -> Points:
    """The direction along which points vary most; its largest part is positive."""
    found = Moments.of(points).axes()[1][:, -1]
    return np.asarray(found if found[np.argmax(np.abs(found))] > 0 else -found)


def nearest(points: Points, centres: Points) -> Ids:
    """The nearest centre of each point; the first of several.

    The sum is written out: threads of a matrix product cost more than such small ones take.
    """
    across, along = np.ascontiguousarray(points.T), np.ascontiguousarray(centres.T)
    apart = (centres * centres).sum(axis=1) - 2 * np.einsum("di,dj->ij", across, along)
    return np.asarray(np.argmin(apart, axis=1), np.int64)


def _means(points: Points, groups: Ids, centres: Points) -> Points:
    """The mean of every group; where a group is empty its centre stays."""
    sizes = np.bincount(groups, minlength=len(centres))
    sums = np.stack([np.bincount(groups, weights=column, minlength=len(centres)) for column in points.T], axis=1)
    return np.asarray(np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres))


def _enough(points: Points, groups: Ids, centres: Points, k: int) -> Ids:
    """Give up the smallest group until every one has k records; the centres stay where they are."""
    sizes = np.bincount(groups, minlength=len(centres)).astype(np.float64)
    members = [np.flatnonzero(groups == group) for group in range(len(centres))]
    there = np.ones(len(centres), np.bool_)
    while there.sum() > 1 and sizes[least := int(np.argmin(np.where(there, sizes, np.inf)))] < k:
        there[least] = False
        left = np.flatnonzero(there)
        moved = members[least]
        into = left[nearest(points[moved], centres[left])]
        for group in np.unique(into):
            members[group] = np.concatenate([members[group], moved[into == group]])
            sizes[group] = len(members[group])
    found = np.zeros(len(points), np.int64)
    for number, group in enumerate(np.flatnonzero(there)):
        found[members[group]] = number
    return found


def _halved(points: Points, groups: Ids, k: int) -> tuple[Ids, int]:
    """Halve groups of 2k records and more, again and again."""
    waiting = [np.flatnonzero(groups == group) for group in range(int(groups.max(initial=0)) + 1)]
    found, count = np.zeros(len(points), np.int64), 0
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * k:
            found[rows] = count
            count += 1
            continue
        order = rows[np.argsort(points[rows] @ longest(points[rows]), kind="stable")]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return found, count
