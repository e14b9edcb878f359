"""Numbering of distinct combinations: small integers in, smaller integers out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
_MOST = 2**62
_DENSE = 2**22
"""The most places of an array that marks the keys that occur."""
_SPARSE = 12
"""As many places for each key; with more, a sort is faster."""


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
        ids += (lift.astype(np.int64) * space)[codes]
        space *= radix
    return _compact(ids, space)


def _compact(keys: Ids, space: int) -> tuple[Ids, int]:
    """Number the keys by their rank: marked in an array where their space is small, else sorted."""
    if space <= min(_DENSE, _SPARSE * len(keys) + 64):
        seen = np.zeros(space, np.bool_)
        seen[keys] = True
        places = np.flatnonzero(seen)
        numbers = np.empty(space, np.int64)
        numbers[places] = np.arange(len(places))
        return numbers[keys], len(places)
    order = np.argsort(keys)
    keys = keys[order]
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    ids = np.empty(len(keys), np.int64)
    ids[order] = np.cumsum(new) - 1
    return ids, int(np.count_nonzero(new))


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
