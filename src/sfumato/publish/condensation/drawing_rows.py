"""Records drawn from moments: uniform along every eigenvector, and written as the column writes its numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.keys import Ids
from sfumato.publish.condensation.moments import Moments, Points

_AT_ONCE = 2**22
"""About how many numbers of eigenvectors are laid out by record at once."""
_SURE = 1e-6
"""A number this near to a step, in steps, is that step."""


def drawn_rows(moments: Moments, each: Ids, variance: float, draw: np.random.Generator) -> Points:
    """``each`` records for every group, one group after the other.

    A record is the group's mean and, along each eigenvector, a number drawn evenly between plus and minus
    sqrt(3 variance eigenvalue): then its variance there is ``variance`` times the eigenvalue. Along eigenvectors with
    eigenvalue 0 it stays at the mean.
    """
    values, vectors = moments.axes()
    reach, mean = np.sqrt(3 * variance * values), moments.mean
    groups, width = np.repeat(np.arange(len(each)), each), mean.shape[1]
    found = np.empty((len(groups), width))
    step = max(_AT_ONCE // max(width * width, 1), 1)
    for start in range(0, len(groups), step):
        of = groups[start : start + step]
        along = draw.uniform(-1.0, 1.0, (len(of), width)) * reach[of]
        found[start : start + step] = mean[of] + np.einsum("nij,nj->ni", vectors[of], along)
    return found


def stepped(numbers: NDArray[np.float64], decimals: int | None, draw: np.random.Generator) -> NDArray[np.float64]:
    """Numbers with so many decimals, each up or down by chance so that it is right on average; None leaves them.

    >>> from sfumato.ground.chance import Chance
    >>> stepped(np.array([7.0, -2.00000000001]), 0, Chance(seed=1).generator()).tolist()
    [7.0, -2.0]
    """
    if decimals is None:
        return numbers
    scaled = numbers * 10.0**decimals
    near = np.rint(scaled)
    low = np.floor(scaled)
    by_chance = low + (draw.random(len(scaled)) < scaled - low)
    kept = np.where(np.abs(scaled - near) <= _SURE, near, by_chance)
    return np.asarray(np.round(kept / 10.0**decimals, decimals) + 0.0)


def decimals_of(numbers: NDArray[np.float64], most: int = 6) -> int | None:
    """With how many decimals a column writes its numbers; None where more than ``most`` would be needed.

    >>> decimals_of(np.array([1.0, 2.5])), decimals_of(np.array([3.0])), decimals_of(np.array([1 / 3]))
    (1, 0, None)
    """
    for decimals in range(most + 1):
        if bool((np.abs(np.round(numbers, decimals) - numbers) <= 1e-12 * np.abs(numbers)).all()):
            return decimals
    return None


def dealt(groups: Ids, draw: np.random.Generator) -> Ids:
    """From which record each record takes its value: the values of a group, dealt out among its records at random."""
    order = np.argsort(groups, kind="stable")
    shuffled = np.lexsort((draw.random(len(groups)), groups))
    source = np.empty(len(groups), np.int64)
    source[order] = shuffled
    return source
