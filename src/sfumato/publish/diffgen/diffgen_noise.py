"""The three random things that DiffGen does, as functions that are handed in: choosing, counting, waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event
from sfumato.noise import Noisy, chosen, noisy_counts
from sfumato.publish.diffgen.specialization_scores import Score

Counts = NDArray[np.int64]


def choose(scores: NDArray[np.float64], score: Score, epsilon: Fraction, what: str) -> tuple[int, Event]:
    """The place of one of the scores, probably a high one, and what that cost."""
    return chosen(scores, epsilon=epsilon, sensitivity=score.sensitivity, monotonic=score.monotonic, what=what)


def count(counts: Counts, epsilon: Fraction, what: str) -> Noisy:
    """Counts of disjoint sets of records with discrete Laplace noise."""
    return noisy_counts(counts, epsilon=epsilon, what=what)


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

    choose: Callable[[NDArray[np.float64], Score, Fraction, str], tuple[int, Event]] = choose
    """Of some scores, one; its cost."""
    count: Callable[[Counts, Fraction, str], Noisy] = count
    """Noisy counts; their cost."""
    waits: Callable[[int, Fraction], Counts] = waits
    """Failures before a success; no record is read."""
