"""k-means from sums: centres move to the means of the records that are nearest to them, until none moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Step = Callable[[Reals], tuple[NDArray[Any], NDArray[Any], float]]
"""From centres to the records of each, the sums of their coordinates, and the sum of squared distances."""


def lloyd(step: Step, centres: Reals, *, most: int) -> tuple[float, Reals]:
    """The sum of squared distances and the centres after the last step; at most so many steps.

    Claim: no step makes the sum of squared distances larger. A centre without records stays where it is.
    Source: Lloyd 1982.
    """
    before: tuple[NDArray[Any], NDArray[Any]] | None = None
    held, sums, apart = step(centres)
    for _ in range(most):
        if before is not None and np.array_equal(held, before[0]) and np.array_equal(sums, before[1]):
            break
        before = held, sums
        centres = np.where(held[:, None] > 0, sums / np.maximum(held, 1e-300)[:, None], centres)
        held, sums, apart = step(centres)
    return apart, centres


def weighted_step(points: Reals, weights: Reals) -> Step:
    """The step of weighted points that are held here."""

    def step(centres: Reals) -> tuple[NDArray[Any], NDArray[Any], float]:
        labels, apart = nearest(points, centres)
        held = np.bincount(labels, weights=weights, minlength=len(centres))
        sums = np.stack([np.bincount(labels, weights * axis, len(centres)) for axis in points.T], axis=1)
        return held, sums, float(weights @ apart)

    return step


def nearest(points: Reals, centres: Reals) -> tuple[NDArray[np.int64], Reals]:
    """The nearest centre of every point, and its squared distance."""
    apart = np.stack([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
    centre_of = apart.argmin(axis=1)
    return centre_of, apart[np.arange(len(points)), centre_of]
