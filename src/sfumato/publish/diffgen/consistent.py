"""Noisy counts made whole and consistent: none negative, and no bias from cutting off at 0.

This reads the noisy counts only, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes

Reals = NDArray[np.float64]
NOTHING = 1e-9
"""The weight of a partition all of whose parts were found to be empty."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inner:
    """Noisy counts of the partitions that there were after some specializations."""

    counts: Reals
    """Partitions x classes."""
    noise: float
    """The variance of their noise, in times that of a leaf's."""


def consistent(
    noisy: NDArray[np.int64], parents: Sequence[Codes], inner: Mapping[int, Inner] = MappingProxyType({})
) -> NDArray[np.int64]:
    """Partitions x classes: counts near the noisy ones, from the top of the tree of specializations downwards.

    A partition's noisy count is the sum of those of its leaves, which is unbiased; where it was counted itself
    (``inner``, by the number of specializations before), the mean of both, weighed by their noise. From the root down,
    the counts of the parts of a partition are the nearest to their noisy ones (by least squares, each weighed by its
    noise) that are not negative and add up to the partition's. So what was specialized first keeps its counts best.
    """
    if not len(noisy):
        return noisy
    levels, weights = [noisy.astype(np.float64)], [np.ones(len(noisy))]
    sizes = [1, *map(len, parents)]
    for step, above in reversed(list(enumerate(parents))):
        level, weight = _summed(levels[-1], weights[-1], above, sizes[step])
        if step in inner:
            own = inner[step]
            level = (level * own.noise + own.counts * weight[:, None]) / (weight[:, None] + own.noise)
            weight = weight * own.noise / (weight + own.noise)
        levels.append(level)
        weights.append(np.maximum(weight, NOTHING))
    kinds = noisy.shape[1]
    total = np.array([[max(float(levels[-1].sum()), 0.0)]])
    made = _shared(levels[-1].T, np.zeros(kinds, np.int32), total, np.ones(kinds)).T
    for level, weight, above in zip(levels[-2::-1], weights[-2::-1], parents, strict=True):
        made = _shared(level, above, made, weight)
    return _whole(made)


def _summed(level: Reals, weight: Reals, above: Codes, size: int) -> tuple[Reals, Reals]:
    """The sums of counts by the partition that they were part of, and those of their noise."""
    counts = np.stack([np.bincount(above, weights=one, minlength=size) for one in level.T], axis=1)
    return counts.astype(np.float64), np.bincount(above, weights=weight, minlength=size).astype(np.float64)


def inner_counts(counts: NDArray[np.int64], parents: Sequence[Codes], step: int) -> NDArray[np.int64]:
    """Partitions x classes: the records of the partitions that there were after so many specializations."""
    for number in range(len(parents) - 1, step - 1, -1):
        size = len(parents[number - 1]) if number else 1
        above = np.zeros((size, counts.shape[1]), np.int64)
        np.add.at(above, parents[number], counts)
        counts = above
    return counts


def _shared(values: Reals, above: Codes, totals: Reals, weights: Reals) -> Reals:
    """Parts x classes: for each parent and class, the nearest counts that add up to its total, none negative.

    They are ``max(value - weight * t, 0)`` with one ``t`` per parent and class: of the parts ordered by value over
    weight, the highest are kept, as many as stay above 0.
    """
    made = np.empty_like(values)
    first = np.flatnonzero(np.diff(above, prepend=-1))
    place = np.searchsorted(first, np.arange(len(above)), side="right") - 1
    rank = np.arange(len(above))
    for c in range(values.shape[1]):
        ratio = values[:, c] / weights
        order = np.lexsort((-ratio, place))
        value, weight = values[order, c].cumsum(), weights[order].cumsum()
        before = first[place]
        value = value - np.where(before > 0, value[before - 1], 0.0)
        weight = weight - np.where(before > 0, weight[before - 1], 0.0)
        t = (value - totals[above, c]) / weight
        fits = ratio[order] > t
        last = np.maximum.reduceat(np.where(fits, rank, -1), first)
        last = np.where(last < 0, first, last)
        made[:, c] = np.maximum(values[:, c] - weights * t[last][place], 0.0)
    return made


def _whole(counts: Reals) -> NDArray[np.int64]:
    """Whole counts; the sum of any row of neighbours changes by less than 1."""
    ends = np.rint(counts.cumsum(axis=0))
    return np.diff(ends, axis=0, prepend=0.0).astype(np.int64)
