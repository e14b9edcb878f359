"""What a generalization costs: information about the class, or a share of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.utility.view import Reals

Score = Literal["information-privacy", "information", "loss-privacy", "loss"]
DECIMALS = 12
"""Scores are compared after rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Weighs a generalization by one of the scores."""

    score: Score
    """Which one."""
    rows: int
    """The rows of the table."""

    @property
    def private(self) -> bool:
        """Whether the gain in anonymity counts."""
        return self.score.endswith("privacy")

    @property
    def informed(self) -> bool:
        """Whether information about the class is weighed; otherwise the domain's share is."""
        return self.score.startswith("information")

    def joined(self, counts: Reals, prices: Reals, price: float) -> float:
        """What it costs to join some labels: rows by class of each, what a row costs under each, and what it then does.

        >>> scale = Scale(score="information", rows=4)
        >>> scale.joined(np.array([[2.0, 0.0], [0.0, 2.0]]), np.zeros(2), 0.0)
        1.0
        """
        rows = counts.sum(axis=1)
        whole = counts.sum(axis=0)
        if not self.informed:
            return float(rows.sum() * price - rows @ prices) / max(self.rows, 1)
        return float(entropy(whole[np.newaxis])[0] - rows @ entropy(counts) / max(whole.sum(), 1.0))

    def paired(
        self, counts: Reals, prices: Reals, left: NDArray[np.int64], right: NDArray[np.int64], price: Reals
    ) -> Reals:
        """The same for many pairs at once; ``left`` and ``right`` are places among the labels."""
        rows = counts.sum(axis=1)
        both = rows[left] + rows[right]
        if not self.informed:
            lost = both * price - rows[left] * prices[left] - rows[right] * prices[right]
            return np.asarray(lost / max(self.rows, 1))
        bits = entropy(counts)
        parted = rows[left] * bits[left] + rows[right] * bits[right]
        return np.asarray(entropy(counts[left] + counts[right]) - parted / np.maximum(both, 1.0))


def entropy(counts: Reals) -> Reals:
    """The entropy in bits of each line of counts; 0 for a line without any.

    >>> entropy(np.array([[1.0, 1.0], [2.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(np.abs((shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)))
