"""Counts, sums, means and variances of every group: exact whole sums with discrete Laplace noise.

A mean is a noisy sum over a noisy count, a variance is made of three noisy figures. Their intervals are conservative:
each figure gets an equal part of the probability of being wrong, and the interval holds whatever the figures can be
within their margins.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Numbers
from sfumato.noise import Noisy, noisy_counts
from sfumato.queries.answers import Estimate, Reals
from sfumato.queries.queryable import whole_units
from sfumato.queries.questions import PARTS

Places = NDArray[np.int64]
_LARGEST_SUM = 2**62
Box = tuple[Reals, Reals, Reals]
"""Noisy values, and the ends of their intervals."""


def count(place: Places, groups: int, epsilon: Fraction, confidence: float) -> Estimate:
    """How many records each group has; a record is in one group, so one more moves one count by one."""
    noisy = noisy_counts(_counts(place, groups), epsilon=epsilon, what="count")
    values, low, high = _box(noisy, 1.0, confidence)
    return Estimate(values=values, low=np.maximum(low, 0), high=np.maximum(high, 0), scales={"count": noisy.scale})


def total(found: Reals, place: Places, groups: int, bounds: Numbers, epsilon: Fraction, confidence: float) -> Estimate:
    """The sum of the clamped numbers of each group; one more record moves it by the larger bound at most."""
    noisy, unit = _noisy_sum(found, place, groups, (bounds.low, bounds.high, 0.0), epsilon)
    values, low, high = _box(noisy, unit, confidence)
    return Estimate(values=values, low=low, high=high, scales={"sum": noisy.scale * unit})


def mean(found: Reals, place: Places, groups: int, bounds: Numbers, epsilon: Fraction, confidence: float) -> Estimate:
    """The mean of the clamped numbers: half the budget for the sum of distances from the middle, half for the count.

    A distance from the middle of the bounds is at most half as long as the range, and so is the sum's sensitivity.
    """
    shares, centre = PARTS["mean"], (bounds.low + bounds.high) / 2
    each = _each(confidence, 2)
    sums, unit = _noisy_sum(found, place, groups, (bounds.low, bounds.high, centre), epsilon * shares["sum"])
    counts = noisy_counts(_counts(place, groups), epsilon=epsilon * shares["count"], what="count")
    values, low, high = (centre + one for one in _ratio(_box(sums, unit, each), _box(counts, 1.0, each)))
    values, low, high = (np.clip(one, bounds.low, bounds.high) for one in (values, low, high))
    return Estimate(values=values, low=low, high=high, scales={"sum": sums.scale * unit, "count": counts.scale})


def variance(
    found: Reals, place: Places, groups: int, bounds: Numbers, epsilon: Fraction, confidence: float
) -> Estimate:
    """The mean square of the distance from the mean, without n/(n-1): a third of the budget for each of three figures.

    With y the distance from the middle of the bounds, it is mean(y^2) - mean(y)^2. The sum of y^2 is counted from half
    of the largest y^2, which halves its sensitivity. No variance within bounds is above the largest y^2.
    """
    shares, centre = PARTS["variance"], (bounds.low + bounds.high) / 2
    each, most = _each(confidence, 3), ((bounds.high - bounds.low) / 2) ** 2
    squares = (np.clip(found, bounds.low, bounds.high) - centre) ** 2
    second, unit_2 = _noisy_sum(squares, place, groups, (0.0, most, most / 2), epsilon * shares["squares"])
    first, unit_1 = _noisy_sum(found, place, groups, (bounds.low, bounds.high, centre), epsilon * shares["sum"])
    counts = noisy_counts(_counts(place, groups), epsilon=epsilon * shares["count"], what="count")
    size = _box(counts, 1.0, each)
    mean_1, low_1, high_1 = _ratio(_box(first, unit_1, each), size)
    mean_2, low_2, high_2 = (most / 2 + one for one in _ratio(_box(second, unit_2, each), size))
    furthest = np.maximum(np.abs(low_1), np.abs(high_1))
    nearest = np.where((low_1 <= 0) & (high_1 >= 0), 0.0, np.minimum(np.abs(low_1), np.abs(high_1)))
    values, low, high = (
        np.clip(one, 0.0, most) for one in (mean_2 - mean_1**2, low_2 - furthest**2, high_2 - nearest**2)
    )
    scales = {"squares": second.scale * unit_2, "sum": first.scale * unit_1, "count": counts.scale}
    return Estimate(values=values, low=low, high=high, scales=scales)


def _each(confidence: float, parts: int) -> float:
    """The confidence of each of some figures, so that all of them hold at once."""
    return 1 - (1 - confidence) / parts


def _counts(place: Places, groups: int) -> Places:
    return np.bincount(place, minlength=groups).astype(np.int64)


def _noisy_sum(
    found: Reals, place: Places, groups: int, span: tuple[float, float, float], epsilon: Fraction
) -> tuple[Noisy, float]:
    """Noisy whole sums above a centre, and their unit; ``span`` is low, high and centre."""
    units, unit, most = whole_units(found, *span)
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, place, units)
    exact = np.clip(sums, -_LARGEST_SUM, _LARGEST_SUM)
    return noisy_counts(exact, epsilon=epsilon, sensitivity=most, what="sum"), unit


def _box(noisy: Noisy, unit: float, confidence: float) -> Box:
    values, margin = noisy.values * unit, noisy.margin(confidence) * unit
    return values, values - margin, values + margin


def _ratio(above: Box, below: Box) -> Box:
    """A ratio and its extremes, where a group has one record at least."""
    sums, low, high = above
    many, few, most = (np.maximum(one, 1.0) for one in below)
    return sums / many, np.where(low < 0, low / few, low / most), np.where(high > 0, high / few, high / most)
