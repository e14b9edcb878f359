"""Numbering of distinct combinations: small integers in, smaller integers out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
_MOST = 2**62
_DENSE = 2**22
_SMALL = 2**8
"""Combinations are marked in a table where there are at most so many, or few for each key; sorting is quicker else."""


def distinct(columns: Sequence[NDArray[np.int32]], radices: Sequence[int], length: int) -> tuple[Ids, int]:
    """Number the distinct combinations; equal combinations get equal numbers, in lexicographic order.

    Cost: linear in ``length`` where the space of combinations is small, a sort where it is not.
    """
    keys = np.zeros(length, np.int64)
    space = 1
    for codes, radix in zip(columns, radices, strict=True):
        if space * radix > _MOST:
            keys, space = _compact(keys, space)
        keys = keys * radix + codes
        space *= radix
    return _compact(keys, space)


def distinct_lifted(
    keys: NDArray[np.int32], lifts: Sequence[NDArray[np.int32]], radices: Sequence[int]
) -> tuple[Ids, int]:
    """Number the distinct combinations of lifted codes: ``distinct`` of ``lift[codes]``, in one pass per column."""
    ids = np.zeros(keys.shape[1], np.int64)
    space = 1
    for codes, lift, radix in zip(keys, lifts, radices, strict=True):
        if radix == 1:
            continue
        if space * radix > _MOST:
            ids, space = _compact(ids, space)
        ids = ids + (lift.astype(np.int64) * space)[codes]
        space *= radix
    return _compact(ids, space)


def _compact(keys: Ids, space: int) -> tuple[Ids, int]:
    if space <= min(_DENSE, max(_SMALL, 8 * len(keys))):
        seen = np.zeros(space, bool)
        seen[keys] = True
        numbers = np.cumsum(seen, dtype=np.int64) - 1
        return numbers[keys], int(numbers[-1]) + 1 if space else 0
    found, ids = np.unique(keys, return_inverse=True)
    return ids.reshape(-1), len(found)


def numbered(keys: Ids, space: int) -> tuple[Ids, int]:
    """Number the distinct keys, which are below ``space``, in ascending order."""
    return _compact(keys, space)


def representatives(ids: Ids, count: int) -> Ids:
    """For each number, the position of one member."""
    places = np.zeros(count, np.int64)
    places[ids] = np.arange(len(ids))
    return places


def ranges(first: Ids, last: Ids) -> tuple[Ids, Ids]:
    """The numbers from each first to before its last: which range each belongs to, and the number.

    >>> [found.tolist() for found in ranges(np.array([3, 7]), np.array([5, 8]))]
    [[0, 0, 1], [3, 4, 7]]
    """
    lengths = last - first
    which = np.repeat(np.arange(len(first)), lengths)
    return which, np.arange(len(which)) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)


def places_of(ascending: Ids, wanted: Ids) -> tuple[Ids, Ids]:
    """All places where each wanted number stands among ascending ones: which of the wanted, and the place."""
    return ranges(np.searchsorted(ascending, wanted, side="left"), np.searchsorted(ascending, wanted, side="right"))


def total(ids: Ids, weights: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The exact sum of the weights of each number's members."""
    return np.bincount(ids, weights=weights, minlength=count).astype(np.int64)


def weighed(ids: Ids, weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The sum of real weights of each number's members."""
    return np.bincount(ids, weights=weights, minlength=count).astype(np.float64)
