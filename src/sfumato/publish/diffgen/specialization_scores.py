"""How much a specialization tells about the class, and how far one record can move that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.publish.looking import Scores

Reals = NDArray[np.float64]
ScoreName = Literal["gini", "max", "gain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What tables (… x child partitions x classes) are worth, and how far one record can move that."""

    of: Callable[[NDArray[Any]], Reals]
    """The worth of each table."""
    sensitivity: float
    """The most that a score changes by one record."""
    monotonic: bool
    """Whether one more record moves the scores of all candidates in the same direction."""

    def on(self, values: Reals) -> Scores:
        """Some scores, as a mechanism is asked about them."""
        return Scores(values=values, sensitivity=self.sensitivity, monotonic=self.monotonic)


def score(name: ScoreName, classes: int) -> Score:
    """A score by its name."""
    if name == "max":
        return Score(of=highest, sensitivity=1.0, monotonic=True)
    if name == "gini":
        return Score(of=purity, sensitivity=2.0 + ROUNDING, monotonic=True)
    most = log2(classes) if classes > 1 else 1.0
    return Score(of=lambda table: np.clip(information_gain(table), 0.0, most), sensitivity=most, monotonic=False)


ROUNDING = 1e-6
"""More than rounding can move a sum of impurities of up to a thousand million records."""


def highest(table: NDArray[Any]) -> Reals:
    """Max: the records of the most frequent class of each child partition, added up (equation 6.4).

    One more record adds 0 or 1 to one addend, so no score moves by more than 1, and none moves down.
    """
    return np.asarray(table.max(axis=-1).sum(axis=-1), np.float64)


def information_gain(table: NDArray[Any]) -> Reals:
    """InfoGain: the entropy of the class less its mean entropy in the child partitions, in bits (equation 6.3).

    It lies between 0 and log2 of the number of classes, so it cannot change by more than that. The bound is reached:
    two records of two classes, apart, gain one bit; one of them alone gains nothing.
    """
    whole = table.sum(axis=-2)
    total = whole.sum(axis=-1)
    bits = _bits(whole) - _bits(table).sum(axis=-1)
    return np.asarray(np.divide(bits, total, out=np.zeros(np.shape(total)), where=total > 0))


def purity(table: NDArray[Any]) -> Reals:
    """Minus the impurities of all partitions of a table."""
    return np.asarray(-impurity(table).sum(axis=-1))


def impurity(table: NDArray[Any]) -> Reals:
    """The Gini impurity of each partition times its records: how many a guess by class frequencies gets wrong.

    With n_i records of class i of n it is n - sum(n_i^2)/n. One more record adds between 0 and 2: for class i the
    derivative is (1-p_i)^2 plus the squares of the other shares, and these are at most (1-p_i)^2 together.
    """
    total = table.sum(axis=-1).astype(np.float64)
    squares = (table.astype(np.float64) ** 2).sum(axis=-1)
    return np.asarray(total - np.divide(squares, total, out=np.zeros(total.shape), where=total > 0))


def _bits(table: NDArray[Any]) -> Reals:
    """The entropy of each row times its total."""
    total = table.sum(axis=-1).astype(np.float64)
    return np.asarray(_x_log_x(total) - _x_log_x(table.astype(np.float64)).sum(axis=-1))


def _x_log_x(x: Reals) -> Reals:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))
