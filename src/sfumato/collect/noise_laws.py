"""The laws of the noise on numbers, for whoever reconstructs: probabilities on the grid, and densities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.collect.noisy_numbers import NoisyNumber

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
_FAR = {"laplace": 40.0, "gaussian": 9.0}
"""Noise further out, in scales or deviations, has a probability below 1e-17."""
_SEEN = {"laplace": 14.0, "gaussian": 4.8}
"""Noise further out has a probability below 2e-6: it is counted with the last cell."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseLaw:
    """Noise as a whole number of steps: ``mass[reach + y]`` is the probability of y."""

    reach: int
    """The largest number of steps that has a probability worth counting."""
    mass: Reals
    """Probabilities, which add up to 1."""

    @classmethod
    def of(cls, question: NoisyNumber) -> NoiseLaw:
        """The law of a question's noise."""
        spread = float(question.spread)
        reach = int(spread) if question.law == "uniform" else int(_FAR[question.law] * spread) + 1
        at = np.abs(np.arange(-reach, reach + 1, dtype=np.float64))
        if question.law == "uniform":
            mass = np.ones(len(at))
        else:
            mass = np.exp(-at / spread if question.law == "laplace" else -(at**2) / (2 * spread**2))
        return cls(reach=reach, mass=mass / mass.sum())

    def seen(self, question: NoisyNumber) -> int:
        """How many steps outside the range are told apart."""
        if question.law == "uniform":
            return self.reach
        return min(int(_SEEN[question.law] * float(question.spread)) + 1, self.reach)

    def summed(self, ends: Whole, first: Whole, last: Whole) -> Reals:
        """Ends x cells: the mean over a cell's codes, first to last - 1, of the chance to be shown below an end."""
        below = np.concatenate([[0.0], np.cumsum(np.concatenate([[0.0], np.cumsum(self.mass)]))])

        def area(at: Whole) -> Reals:
            """The sum of P(Y < t) over all t up to this one."""
            place = at + self.reach + 1
            inside = below[np.clip(place, 0, len(below) - 1)]
            return np.asarray(inside + np.maximum(place - (len(below) - 1), 0))

        sums = area(ends[:, None] - first[None, :]) - area(ends[:, None] - last[None, :])
        return np.asarray(sums / (last - first)[None, :])


def density(question: NoisyNumber, apart: Reals) -> Reals:
    """The density of the continuous law at distances in steps."""
    spread = float(question.spread)
    if question.law == "uniform":
        return np.where(np.abs(apart) <= spread + 0.5, 1 / (2 * spread + 1), 0.0)
    if question.law == "laplace":
        return np.asarray(np.exp(-np.abs(apart) / spread) / (2 * spread))
    return np.asarray(np.exp(-((apart / spread) ** 2) / 2) / (spread * np.sqrt(2 * np.pi)))
