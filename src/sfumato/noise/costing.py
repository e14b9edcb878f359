"""Noise and choices for what they may cost: Laplace and exponential noise for epsilon, Gaussian and Gumbel for rho."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sfumato.budget.events import Pure
from sfumato.budget.purse import Cost
from sfumato.noise.counts import noisy_counts
from sfumato.noise.gaussian import gaussian_counts
from sfumato.noise.noisy import Noisy
from sfumato.noise.selection import chosen


def counted(counts: NDArray[Any], cost: Cost) -> Noisy:
    """Counts of disjoint sets of records: one more record moves one of them by one."""
    if isinstance(cost, Pure):
        return noisy_counts(counts, epsilon=cost.epsilon, what=cost.what)
    return gaussian_counts(counts, rho=cost.rho, what=cost.what)


def picked(scores: NDArray[Any], cost: Cost, *, sensitivity: float, monotonic: bool = False) -> int:
    """The place of a score that is probably among the highest."""
    budget = {"epsilon": cost.epsilon} if isinstance(cost, Pure) else {"rho": cost.rho}
    return chosen(scores, **budget, sensitivity=sensitivity, monotonic=monotonic, what=cost.what)[0]
