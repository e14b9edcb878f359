"""Quantiles: a private choice among declared candidates, between two ends that are searched for by noisy ranks.

For a candidate c let f(c) be ``1 - share`` times the numbers below it, less ``share`` times those above. It never falls
as c grows, and a quantile lies where it passes 0.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Numbers
from sfumato.ground.shares import exact
from sfumato.noise import chosen_quantile, noisy_counts
from sfumato.queries.answers import Estimate, Reals
from sfumato.queries.queryable import candidates
from sfumato.queries.questions import PARTS


def quantile(
    found: Reals,
    place: NDArray[np.int64],
    groups: int,
    bounds: Numbers,
    epsilon: Fraction,
    confidence: float,
    *,
    share: float,
) -> Estimate:
    """A quantile of the clamped numbers of each group: half of the budget for the value, a quarter for each end."""
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(groups + 1))
    numbers = np.clip(found, bounds.low, bounds.high)[order]
    ends = [_one(numbers[starts[g] : starts[g + 1]], bounds, epsilon, confidence, share=share) for g in range(groups)]
    values, low, high = np.array(ends, np.float64).reshape(groups, 3).T
    parts, furthest = PARTS["quantile"], max(share, 1 - share)
    steps = _steps(len(candidates(bounds)))
    scales = {
        "choice": float(2 * furthest / (epsilon * parts["choice"])),
        "lower end": float(furthest * steps / (epsilon * parts["lower end"])),
        "upper end": float(furthest * steps / (epsilon * parts["upper end"])),
    }
    return Estimate(values=values, low=low, high=high, scales=scales)


def _one(
    numbers: Reals, bounds: Numbers, epsilon: Fraction, confidence: float, *, share: float
) -> tuple[float, float, float]:
    marks, parts = candidates(bounds), PARTS["quantile"]
    value, _ = chosen_quantile(numbers, marks.tolist(), share=share, epsilon=epsilon * parts["choice"])
    part = exact(float(share)).limit_denominator(100_000)
    ordered = np.sort(numbers)
    less, more = part.denominator - part.numerator, part.numerator
    rank = less * np.searchsorted(ordered, marks, side="left")
    rank = (rank - more * (len(ordered) - np.searchsorted(ordered, marks, side="right"))).astype(np.int64)
    far, missed = max(less, more), (1 - confidence) / 2
    low = _end(rank, far, epsilon * parts["lower end"], missed)
    high = _end(-rank[::-1], far, epsilon * parts["upper end"], missed)
    lower = bounds.low if low < 0 else float(marks[low])
    upper = bounds.high if high < 0 else float(marks[len(marks) - 1 - high])
    return value, min(lower, upper, value), max(lower, upper, value)


def _end(rank: NDArray[np.int64], far: int, epsilon: Fraction, missed: float) -> int:
    """The last place, as far as noise can tell, whose rank is surely not above 0; -1 if there is none.

    How: a binary search; every comparison has an equal part of the budget and of the probability of being wrong.
    """
    steps = _steps(len(rank))
    known, open_end = -1, len(rank)
    while open_end - known > 1:
        middle = (known + open_end) // 2
        noisy = noisy_counts(rank[middle : middle + 1], epsilon=epsilon / steps, sensitivity=far, what="rank")
        if noisy.values[0] <= -noisy.margin(1 - missed / steps):
            known = middle
        else:
            open_end = middle
    return known


def _steps(candidates: int) -> int:
    """How many comparisons a binary search among so many candidates can take."""
    return ceil(log2(candidates + 1))
