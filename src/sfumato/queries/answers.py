"""Answers, with everything that their reader must know about the noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import Event, to_json
from sfumato.ground.errors import ParameterError

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
