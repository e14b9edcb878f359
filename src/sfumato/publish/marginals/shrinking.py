"""From noisy tables to tables that add up: projection, fitting to margins, and shrinking by what noise explains.

All of it reads noisy counts only, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
ROUNDS = 30
"""How often a table is fitted to its margins in turn."""
STEPS = 6
"""How often the spread of a table's true cells is estimated again."""
TINY = 1e-12
"""Stands for a share of 0."""


def nearest(table: Reals, totals: Reals) -> Reals:
    """The nearest table (by least squares) that is not negative and whose columns add up to some totals.

    >>> nearest(np.array([[5.0], [3.0], [-2.0]]), np.array([6.0])).ravel()
    array([4., 2., 0.])
    """
    falling = -np.sort(-table, axis=0)
    ranks = np.arange(1, len(table) + 1).reshape(-1, *[1] * (table.ndim - 1))
    excess = (falling.cumsum(axis=0) - totals) / ranks
    last = np.maximum((falling > excess).sum(axis=0) - 1, 0)
    level = np.take_along_axis(excess, last[None], axis=0)
    return np.where(totals > 0, np.maximum(table - level, 0.0), 0.0)


def shrunk(noisy: Reals, plain: Reals, variance: float) -> Reals:
    """Cells between what was counted and what a plainer model says, nearer to the latter where noise explains more.

    A true cell is taken to be its plain value times 1 + g, with g of mean 0 and one spread s for the whole table. Its
    best linear estimate moves from the plain value by the part e²s² / (e²s² + variance) of the difference. s² is what
    the differences show beyond noise (empirical Bayes, by moments). Nothing is negative.
    """
    away, square = noisy - plain, plain**2
    spread = 1.0
    for _ in range(STEPS):
        weight = square / np.maximum(square * spread + variance, TINY) ** 2
        spread = float((weight * (away**2 - variance)).sum() / max(float((weight * square).sum()), TINY))
        if spread <= 0:
            return plain
    signal = square * spread
    return np.asarray(np.maximum(plain + away * (signal / np.maximum(signal + variance, TINY)), plain / 64))


def raked(table: Reals, margins: Sequence[tuple[tuple[int, ...], Reals]]) -> Reals:
    """A table fitted in turn to margins: each is given with the axes that it adds up over. The last is met best."""
    for _ in range(ROUNDS):
        for over, margin in margins:
            sums = table.sum(axis=over, keepdims=True)
            table = table * (np.expand_dims(margin, over) / np.maximum(sums, TINY))
    return table


def mean_of(said: Sequence[tuple[Reals, float]]) -> tuple[Reals, float]:
    """What several noisy tables say together, each weighed by its noise, and the variance of that."""
    precision = sum(1 / max(variance, TINY) for _, variance in said)
    total = sum((table / max(variance, TINY) for table, variance in said), np.zeros_like(said[0][0]))
    return total / precision, 1 / precision
