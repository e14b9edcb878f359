"""The two things that are paid for, as functions that are handed in: choosing and counting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event
from sfumato.noise import Noisy, chosen, noisy_counts
from sfumato.publish.marginals.marginal_scores import Scores

Counts = NDArray[np.int64]


def choose(scores: Scores, epsilon: Fraction, what: str) -> tuple[int, Event]:
    """The place of one of the scores, probably a high one, and what that cost."""
    return chosen(scores.values, epsilon=epsilon, sensitivity=scores.sensitivity, monotonic=scores.monotonic, what=what)


def count(counts: Counts, epsilon: Fraction, what: str) -> Noisy:
    """Counts of disjoint sets of records with discrete Laplace noise."""
    return noisy_counts(counts, epsilon=epsilon, what=what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """Where choices and noise come from: OpenDP, unless a test says otherwise."""

    choose: Callable[[Scores, Fraction, str], tuple[int, Event]] = choose
    """Of some scores, one; its cost."""
    count: Callable[[Counts, Fraction, str], Noisy] = count
    """Noisy counts; their cost."""
