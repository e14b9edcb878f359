"""Noisy answers: counts, sums, means, variances and quantiles, with their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.fractions import exact
from sfumato.dp.accounting import epsilon_of
from sfumato.dp.events import Event, to_json
from sfumato.dp.noise import Noisy, chosen_quantile, noisy_counts
from sfumato.queries.groups import candidates, whole_units
from sfumato.queries.questions import PARTS
from sfumato.tables.schema import Numbers

# Answers, with everything that their reader must know about the noise.


Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """A figure of every group, with intervals and noise; without what it was for."""

    values: Reals
    low: Reals
    high: Reals
    scales: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """One figure of every group."""

    name: str
    """What it is, such as mean(age)."""
    by: tuple[str, ...]
    """The columns that make groups; none for a single figure."""
    groups: tuple[tuple[str, ...], ...]
    """The groups' values, one for each column of ``by``: all that were declared, also those without any record."""
    values: Reals
    """The noisy figure of each group."""
    low: Reals
    """Where each interval begins."""
    high: Reals
    """Where each interval ends."""
    confidence: float
    """With at least this confidence a single interval covers the true figure."""
    scales: Mapping[str, float]
    """The scale of the Laplace noise of every part of the answer; for a choice, that of the noise of its scores."""
    event: Event
    """What it cost."""

    @property
    def value(self) -> float:
        """The figure, where there is only one."""
        return float(self.values[self._only])

    @property
    def interval(self) -> tuple[float, float]:
        """The interval, where there is only one figure."""
        return float(self.low[self._only]), float(self.high[self._only])

    @property
    def _only(self) -> int:
        if len(self.values) != 1:
            raise ParameterError(f"{self.name} has {len(self.values)} groups, not one; look at values, low and high")
        return 0

    @property
    def epsilon(self) -> Fraction:
        """What it cost, as a number."""
        return epsilon_of(self.event)

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "name": self.name,
            "by": list(self.by),
            "rows": [
                {"group": list(group), "value": value, "low": low, "high": high}
                for group, value, low, high in zip(
                    self.groups, self.values.tolist(), self.low.tolist(), self.high.tolist(), strict=True
                )
            ],
            "confidence": self.confidence,
            "noise": dict(self.scales),
            "epsilon": str(self.epsilon),
            "event": to_json(self.event),
        }


# Counts, sums, means and variances of every group: exact whole sums with discrete Laplace noise.
#
# A mean is a noisy sum over a noisy count, a variance is made of three noisy figures. Their intervals are
# conservative: each figure gets an equal part of the probability of being wrong, and the interval holds whatever the
# figures can be within their margins.


Places = NDArray[np.int64]
_LARGEST_SUM = 2**62
Box = tuple[Reals, Reals, Reals]
"""Noisy values, and the ends of their intervals."""


def count(place: Places, groups: int, epsilon: Fraction, confidence: float) -> Estimate:
    """How many records each group has; a record is in one group, so one more moves one count by one."""
    noisy = noisy_counts(_counts(place, groups), epsilon=epsilon, what="count")
    values, low, high = _box(noisy, 1.0, confidence)
    return Estimate(values=values, low=np.maximum(low, 0), high=np.maximum(high, 0), scales={"count": noisy.scale})


def total(
    numbers: Reals, place: Places, groups: int, bounds: Numbers, epsilon: Fraction, confidence: float
) -> Estimate:
    """The sum of the clamped numbers of each group; one more record moves it by the larger bound at most."""
    noisy, unit = _noisy_sum(numbers, place, groups, (bounds.low, bounds.high, 0.0), epsilon)
    values, low, high = _box(noisy, unit, confidence)
    return Estimate(values=values, low=low, high=high, scales={"sum": noisy.scale * unit})


def mean(numbers: Reals, place: Places, groups: int, bounds: Numbers, epsilon: Fraction, confidence: float) -> Estimate:
    """The mean of the clamped numbers: half the budget for the sum of distances from the middle, half for the count.

    A distance from the middle of the bounds is at most half as long as the range, and so is the sum's sensitivity.
    """
    shares, centre = PARTS["mean"], (bounds.low + bounds.high) / 2
    each = _each(confidence, 2)
    sums, unit = _noisy_sum(numbers, place, groups, (bounds.low, bounds.high, centre), epsilon * shares["sum"])
    counts = noisy_counts(_counts(place, groups), epsilon=epsilon * shares["count"], what="count")
    values, low, high = (centre + figure for figure in _ratio(_box(sums, unit, each), _box(counts, 1.0, each)))
    values, low, high = (np.clip(figure, bounds.low, bounds.high) for figure in (values, low, high))
    return Estimate(values=values, low=low, high=high, scales={"sum": sums.scale * unit, "count": counts.scale})


def variance(
    numbers: Reals, place: Places, groups: int, bounds: Numbers, epsilon: Fraction, confidence: float
) -> Estimate:
    """The mean square of the distance from the mean, without n/(n-1): a third of the budget for each of three figures.

    With y the distance from the middle of the bounds, it is mean(y^2) - mean(y)^2. The sum of y^2 is counted from half
    of the largest y^2, which halves its sensitivity. No variance within bounds is above the largest y^2.
    """
    shares, centre = PARTS["variance"], (bounds.low + bounds.high) / 2
    each, most = _each(confidence, 3), ((bounds.high - bounds.low) / 2) ** 2
    squares = (np.clip(numbers, bounds.low, bounds.high) - centre) ** 2
    second, unit_2 = _noisy_sum(squares, place, groups, (0.0, most, most / 2), epsilon * shares["squares"])
    first, unit_1 = _noisy_sum(numbers, place, groups, (bounds.low, bounds.high, centre), epsilon * shares["sum"])
    counts = noisy_counts(_counts(place, groups), epsilon=epsilon * shares["count"], what="count")
    size = _box(counts, 1.0, each)
    mean_1, low_1, high_1 = _ratio(_box(first, unit_1, each), size)
    mean_2, low_2, high_2 = (most / 2 + figure for figure in _ratio(_box(second, unit_2, each), size))
    furthest = np.maximum(np.abs(low_1), np.abs(high_1))
    nearest = np.where((low_1 <= 0) & (high_1 >= 0), 0.0, np.minimum(np.abs(low_1), np.abs(high_1)))
    values, low, high = (
        np.clip(figure, 0.0, most) for figure in (mean_2 - mean_1**2, low_2 - furthest**2, high_2 - nearest**2)
    )
    scales = {"squares": second.scale * unit_2, "sum": first.scale * unit_1, "count": counts.scale}
    return Estimate(values=values, low=low, high=high, scales=scales)


def _each(confidence: float, parts: int) -> float:
    """The confidence of each of some figures, so that all of them hold at once."""
    return 1 - (1 - confidence) / parts


def _counts(place: Places, groups: int) -> Places:
    return np.bincount(place, minlength=groups).astype(np.int64)


def _noisy_sum(
    numbers: Reals, place: Places, groups: int, span: tuple[float, float, float], epsilon: Fraction
) -> tuple[Noisy, float]:
    """Noisy whole sums above a centre, and their unit; ``span`` is low, high and centre."""
    units, unit, most = whole_units(numbers, *span)
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
    many, few, most = (np.maximum(figure, 1.0) for figure in below)
    return sums / many, np.where(low < 0, low / few, low / most), np.where(high > 0, high / few, high / most)


# Quantiles: a private choice among declared candidates, between two ends that are searched for by noisy ranks.
#
# For a candidate c let f(c) be ``1 - share`` times the numbers below it, less ``share`` times those above. It never
# falls as c grows, and a quantile lies where it passes 0.


def quantile(
    raw_numbers: Reals,
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
    numbers = np.clip(raw_numbers, bounds.low, bounds.high)[order]
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
