"""The only ways in which a private algorithm looks at rows, as functions that are handed in: choose, count, wait.

Each is told what it is to cost; whoever calls pays just that. A test may hand in others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.purse import Cost
from sfumato.noise import Noisy, counted, noisy_counts, picked

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Scores of candidates, and how far one record can move each."""

    values: Reals
    """Higher is better."""
    sensitivity: float
    """The most that a score changes by one record."""
    monotonic: bool
    """Whether one more record moves all scores in the same direction."""


def choose(scores: Scores, cost: Cost) -> int:
    """The place of one of the scores, probably a high one."""
    return picked(scores.values, cost, sensitivity=scores.sensitivity, monotonic=scores.monotonic)


def waits(number: int, rate: Fraction) -> Counts:
    """About so many independent draws (at least one) of the failures before a success; P[success] = 1 - e^-rate.

    A discrete Laplace draw of scale 1/rate that is not negative has exactly this law. It is added to zeros: no record
    is read, so it costs nothing.
    """
    found: list[Counts] = []
    while not any(len(one) for one in found):
        drawn = noisy_counts(np.zeros(2 * number, np.int64), epsilon=rate, what="waiting times").values
        found.append(drawn[drawn >= 0])
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """Where choices and noise come from: OpenDP, unless a test says otherwise."""

    choose: Callable[[Scores, Cost], int] = choose
    """Of some scores, one."""
    count: Callable[[Counts, Cost], Noisy] = counted
    """Noisy counts of disjoint sets of records."""
    waits: Callable[[int, Fraction], Counts] = waits
    """Failures before a success; no record is read."""
