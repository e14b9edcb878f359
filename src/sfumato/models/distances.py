"""Distances between the distribution of each class and a reference: shares [classes x values] in, one number each out.

Every one of them is convex in the class's distribution, so a joined class is no farther away than its farthest part.
Below them, histograms are put where they need them: in an order, or under the nodes of a hierarchy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import DataError, listed
from sfumato.group.tally import Counts, Tally

Shares = NDArray[np.float64]
_STEPS = 3
"""More steps bring little."""
_NOTHING = 1e12
"""One over less than any row."""
_PART = 1e-6
"""Rows are whole: less than one that lacks so little is rounding."""


def variational(shares: Shares, reference: Shares) -> Shares:
    """Half the sum of the absolute differences, which is the earth mover's distance with equal costs.

    >>> variational(np.array([[1.0, 0.0]]), np.array([0.5, 0.5])).tolist()
    [0.5]
    """
    return np.asarray(np.abs(shares - reference).sum(axis=1) / 2)


def most_left(counts: Counts, reference: Shares, reach: float) -> Shares:
    """The most rows of each class that can be left so that half the sum of differences is at most ``reach``.

    How: of s rows at most c_v can have the value v, so together they lack at least sum (q_v - c_v / s)+. That is convex
        and falling in x = 1 / s. From the class itself on, each Newton step stays below the x where it is ``reach``,
        so the rows are never too few. Steps end where the values that are lacking do not change, or after a few.

    >>> most_left(np.array([[6, 2], [4, 0]]), np.array([0.5, 0.5]), 0.1).round(4).tolist()
    [5.0, 0.0]
    """
    held, one = counts.astype(np.float64), np.ones(counts.shape[1])
    x = 1.0 / np.maximum(held @ one, 1)
    for _ in range(_STEPS):
        lack = reference - held * x[:, None]
        over = np.maximum(lack, 0.0) @ one - reach
        slope = (held * (lack > 0)) @ one
        step = np.full(len(x), _NOTHING)
        np.divide(over, slope, out=step, where=slope > 0)
        x = np.where(over > 0, np.minimum(x + step, _NOTHING), x)
    return np.asarray(np.floor(1.0 / x + _PART))


def kullback_leibler(shares: Shares, reference: Shares) -> Shares:
    """The sum of p ln(p / q); infinite where a class shows a value that the reference lacks.

    >>> kullback_leibler(np.array([[1.0, 0.0]]), np.array([0.5, 0.5])).round(4).tolist()
    [0.6931]
    """
    ratio = np.ones_like(shares)
    np.divide(shares, reference, out=ratio, where=(shares > 0) & (reference > 0))
    unexpected = ((shares > 0) & (reference == 0)).any(axis=1)
    return np.where(unexpected, np.inf, (shares * np.log(ratio)).sum(axis=1))


def binary_divergence(shares: Shares, reference: Shares) -> Shares:
    """The largest divergence, over the values, of having the value or not.

    >>> binary_divergence(np.array([[1.0, 0.5]]), np.array([0.5, 0.5])).round(4).tolist()
    [0.6931]
    """
    both = zip(shares.T, reference, strict=True)
    pairs = [kullback_leibler(np.stack([p, 1 - p], axis=1), np.array([q, 1 - q])) for p, q in both]
    return np.max(pairs, axis=0, initial=0.0) if pairs else np.zeros(len(shares))


def emd_ordered(shares: Shares, reference: Shares) -> Shares:
    """The earth mover's distance where values i and j are |i - j| / (m - 1) apart, columns in the values' order.

    Source: Li, Li, Venkatasubramanian 2007, section 5.1.

    >>> emd_ordered(np.array([[1.0, 0.0, 0.0]]), np.array([0.0, 0.5, 0.5])).tolist()
    [0.75]
    """
    steps = max(len(reference) - 1, 1)
    return np.asarray(np.abs(np.cumsum(shares - reference, axis=1)[:, :-1]).sum(axis=1) / steps)


def emd_hierarchical(shares: Shares, reference: Shares, levels: Sequence[NDArray[np.int64]]) -> Shares:
    """The earth mover's distance where two values are as far apart as their lowest common ancestor is high.

    ``levels[j]`` numbers the node of each value at level j + 1, without the root; the root is at height
    ``len(levels) + 1``. What a node has too much must cross the edge above it, and every edge is 1 / (2 height) long;
    this is Li, Li, Venkatasubramanian 2007, section 5.2, summed by edges instead of by nodes.

    >>> apart = np.array([[1.0, 0.0, 0.0]])
    >>> emd_hierarchical(apart, np.array([0.0, 1.0, 0.0]), [np.array([0, 0, 1])]).tolist()
    [0.5]
    """
    extra = shares - reference
    crossing = np.abs(extra).sum(axis=1)
    for nodes in levels:
        member = np.zeros((len(nodes), int(nodes.max(initial=-1)) + 1))
        member[np.arange(len(nodes)), nodes] = 1
        crossing += np.abs(extra @ member).sum(axis=1)
    return np.asarray(crossing / (2 * (len(levels) + 1)))


def by_size(tally: Tally, reference: Counts) -> tuple[Tally, Counts]:
    """The histogram over the numbers that occur, by size; equal numbers are one value, a missing value comes last."""
    if tally.numbers is None:
        raise DataError(f"column {tally.column!r} has no numbers; emd-ordered needs its values listed in order")
    used = _occurring(tally, reference)
    numbers, rank = np.unique(tally.numbers[used], return_inverse=True)
    place = np.zeros(len(tally.values), np.int32)
    place[used] = rank.reshape(-1)
    return _placed(tally, reference, place, tuple(map(str, numbers.tolist())))


def by_list(tally: Tally, reference: Counts, order: Sequence[str]) -> tuple[Tally, Counts]:
    """The histogram over the listed values, in that order; every value that occurs must be listed."""
    index = {value: i for i, value in enumerate(order)}
    lost = [value for value in _texts(tally, reference) if value not in index]
    if lost:
        raise DataError(f"order does not list these values of column {tally.column!r}: {listed(lost)}")
    place = np.array([index.get(value, 0) for value in tally.values], np.int32)
    return _placed(tally, reference, place, tuple(order))


def node_levels(tally: Tally, reference: Counts, paths: Mapping[str, tuple[str, ...]]) -> list[NDArray[np.int64]]:
    """For each level below the root, the node that each value lies under.

    A path that is too short repeats its last node; a missing value without a path is a branch of its own.
    """
    own = set() if tally.missing is None else {tally.values[tally.missing]}
    lost = [value for value in _texts(tally, reference) if value not in paths and value not in own]
    if lost:
        raise DataError(f"paths do not hold these values of column {tally.column!r}: {listed(lost)}")
    height = max(map(len, paths.values()), default=0)
    padded = [_padded(value, paths.get(value, ()), height) for value in tally.values]
    return [_numbered([path[level] for path in padded]) for level in range(height)]


def nearest_leaf(values: Sequence[str], paths: Mapping[str, tuple[str, ...]]) -> Shares:
    """How high the lowest node above each value is that has another declared value below it, as a share of the height.

    >>> nearest_leaf(["a", "c"], {"a": ("low",), "b": ("low",), "c": ("high",)}).tolist()
    [0.5, 1.0]
    """
    height = max(map(len, paths.values()), default=0)
    declared = [_padded(value, path, height) for value, path in paths.items()]
    held = [Counter(path[level] for path in declared) for level in range(height)]
    mine = [_padded(value, paths.get(value, ()), height) for value in values]
    first = [next((level for level in range(height) if held[level][path[level]] > 1), height) for path in mine]
    return np.array([(level + 1) / (height + 1) for level in first])


def _padded(value: str, path: tuple[str, ...], height: int) -> list[tuple[str, ...]]:
    """What a value lies under at each level, as the rest of its way up, so that equal names do not mix branches."""
    whole = path + ((path or (value,))[-1],) * (height - len(path))
    return [whole[level:] for level in range(height)]


def _numbered(nodes: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    index: dict[tuple[str, ...], int] = {}
    return np.array([index.setdefault(node, len(index)) for node in nodes], np.int64)


def _occurring(tally: Tally, reference: Counts) -> NDArray[np.bool_]:
    """Which values some row has, here or in the reference."""
    return (np.bincount(tally.codes, minlength=len(tally.values)) > 0) | (reference > 0)


def _texts(tally: Tally, reference: Counts) -> list[str]:
    return [tally.values[code] for code in np.flatnonzero(_occurring(tally, reference))]


def _placed(tally: Tally, reference: Counts, place: NDArray[np.int32], values: tuple[str, ...]) -> tuple[Tally, Counts]:
    """The histogram with each code moved to its place, and the reference likewise."""
    moved = replace(
        tally, codes=place[tally.codes], values=values, missing=None, numbers=None, original=None, whole=None
    )
    summed = np.bincount(place, weights=reference, minlength=len(values)).astype(np.int64)
    return moved.merged(np.arange(tally.classes, dtype=np.int64), tally.classes), summed
