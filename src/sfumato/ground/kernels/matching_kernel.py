"""Which classes match which, where some of their values are unknown and match every value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.kernels.compiled import compiled, compiled_within

Ints = NDArray[np.int64]


@compiled_within
def _match(keys: NDArray[np.int32], unknown: NDArray[np.bool_], i: int, j: int) -> bool:
    """Whether two classes agree wherever both are known."""
    for c in range(keys.shape[1]):  # noqa: SIM110  compiled
        if keys[i, c] != keys[j, c] and not unknown[i, c] and not unknown[j, c]:
            return False
    return True


@compiled
def matching(
    keys: NDArray[np.int32], unknown: NDArray[np.bool_], first: int, counts: Ints, theirs: Ints, *, fill: bool
) -> None:
    """For each class from ``first`` on, count those that match it; with ``fill`` write them down one after the other.

    ``keys`` and ``unknown`` are classes x columns.
    """
    place = 0
    for row in range(len(counts)):
        found = 0
        for j in range(len(keys)):
            if _match(keys, unknown, first + row, j):
                if fill:
                    theirs[place] = j
                    place += 1
                found += 1
        counts[row] = found
