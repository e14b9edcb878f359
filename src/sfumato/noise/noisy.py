"""A noisy answer, with everything its reader must know about the noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, inf, log, sinh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event
from sfumato.ground.arguments import between
from sfumato.ground.special import normal_quantile

_SHARP = 1e-2
"""Whole noise of a smaller scale is 0 with all but e^-100 of its probability."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noisy:
    """Released values, their noise, and what releasing them cost."""

    values: NDArray[Any]
    """The noisy values."""
    event: Event
    """What it cost."""
    scale: float
    """The noise's scale: of a Laplace distribution, or the deviation of a Gaussian one."""
    law: str
    """laplace or gaussian."""
    draws: float = 1
    """How many noises of this law every value has: one of each party that added a whole one, or a part more than one
    where all parties' shares are more than a whole noise."""

    @property
    def expected_error(self) -> float:
        """The mean of the absolute noise of one value; for whole numbers and for several noises it is at most this."""
        return ceil(self.draws) * self._one_error

    @property
    def _one_error(self) -> float:
        return self.scale if self.law == "laplace" else self.scale * float(np.sqrt(2 / np.pi))

    @property
    def variance(self) -> float:
        """The variance of the noise of one value; for whole numbers of a Gaussian law it is at most this."""
        return self.draws * self._one_variance

    @property
    def _one_variance(self) -> float:
        if self.law == "gaussian":
            return self.scale**2
        if self.values.dtype.kind not in "iu":
            return 2 * self.scale**2
        return 0.5 / sinh(0.5 / self.scale) ** 2 if self.scale > _SHARP else 0.0

    def margin(self, confidence: float = 0.95) -> float:
        """With this confidence at least, a single true value lies within so much of its noisy value."""
        between("confidence", confidence, 0, 1, open_low=True)
        if confidence == 1:
            return inf
        many = ceil(self.draws)
        return many * self._one_margin(1 - (1 - confidence) / many)

    def _one_margin(self, confidence: float) -> float:
        """Of one noise: several are all within it where each is, so each may miss as often as its part."""
        whole = self.values.dtype.kind in "iu"
        if self.law == "laplace":
            return _laplace_margin(self.scale, 1 - confidence, whole=whole)
        found = self.scale * normal_quantile((1 + confidence) / 2)
        return float(ceil(found)) if whole else found


def _laplace_margin(scale: float, missed: float, *, whole: bool) -> float:
    """How far noise goes that is beyond with probability ``missed`` at most; of whole noise, a whole number.

    Whole noise is m or more away with probability 2 a^m / (1 + a), where a = exp(-1 / scale): a little more often than
    real noise of the same scale.
    """
    if not whole:
        return scale * log(1 / missed)
    return float(max(ceil(scale * log(2 / ((1 + exp(-1 / scale)) * missed))) - 1, 0))
