"""Which few small atoms have a sum that follows: a set of atoms whose signatures add up to zero.

The signature of an atom is its coordinate in some random vectors that are orthogonal to every answered question. The
sum of some atoms follows from the answers only if the signatures of these atoms add up to zero modulo the prime.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, log2

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.keyed_draws import Residues

MOST_SETS = 50_000
"""So many sets of atoms are looked at, in each half of a set that could follow."""
SPARE_BITS = 40
"""A set is taken for one that follows though it does not with a probability below 2 to the minus this."""


def signatures_for(k: int, people: int) -> int:
    """How many random vectors are needed, so that no set is taken for one that follows.

    >>> signatures_for(2, 30_000), signatures_for(5, 30_000)
    (2, 4)
    """
    sets = sum(comb(max(people, 1), many) for many in range(1, min(k, people + 1)))
    return max(2, -int(-(log2(max(sets, 1)) + SPARE_BITS) // 30))


def undecided(small: int, k: int) -> bool:
    """Whether there are too many small atoms to look at all their sets of fewer than k people."""
    return sum(comb(small, many) for many in range(1, k // 2 + 1)) > MOST_SETS


def follows(signatures: Residues, sizes: NDArray[np.int64], k: int, prime: int) -> tuple[int, ...] | None:
    """Atoms of fewer than k people together whose sum follows, or None; one column of signatures for each atom."""
    if k == 2:
        alone = np.flatnonzero((signatures == 0).all(axis=0) & (sizes < k))
        return (int(alone[0]),) if len(alone) else None
    halves: list[tuple[int, ...]] = [()]
    sums, weights = [np.zeros((len(signatures), 1), np.int64)], [np.zeros(1, np.int64)]
    for many in range(1, min(k // 2, len(sizes)) + 1):
        sets = np.array(list(combinations(range(len(sizes)), many)), np.int64)
        sets = sets[sizes[sets].sum(axis=1) < k]
        halves += [tuple(one) for one in sets.tolist()]
        sums.append(signatures[:, sets].sum(axis=2) % prime)
        weights.append(sizes[sets].sum(axis=1))
    return _paired(halves, np.concatenate(sums, axis=1), np.concatenate(weights), k, prime)


def _paired(
    halves: list[tuple[int, ...]], sums: Residues, weights: NDArray[np.int64], k: int, prime: int
) -> tuple[int, ...] | None:
    """Two halves without a common atom whose signatures add up to zero, and that have fewer than k people."""
    order = np.argsort(sums[0], kind="stable")
    wanted = (prime - sums[0]) % prime
    low = np.searchsorted(sums[0], wanted, side="left", sorter=order)
    high = np.searchsorted(sums[0], wanted, side="right", sorter=order)
    for place in np.flatnonzero(high > low).tolist():
        for other in order[low[place] : high[place]].tolist():
            one = (*halves[place], *halves[other])
            if not one or len(set(one)) < len(one) or weights[place] + weights[other] >= k:
                continue
            if not ((sums[:, place] + sums[:, other]) % prime).any():
                return tuple(sorted(one))
    return None
