"""Graded grouping: a number becomes the value of its category plus how far it lies within it.

This is pseudonymization. Order and spacing stay, so whoever knows a few people reads the others off a straight line
(``attacks.answers.plaintext``). What it makes is never anonymous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nextafter

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import ParameterError

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedGrouping:
    """Categories of numbers and their values: [L, U) goes to [V, V + 1) in a straight line, the maximum just below.

    Claim: larger numbers get larger codes, and codes can be read back. Numbers that lie so near to each other that
        their codes would be equal are refused.
    Does not protect against: anybody who knows some numbers of the column, or how they are distributed. It is
        pseudonymization, and keeps order, spacing and correlations on purpose.
    Source: document 002, equation 2 and table 3. Its equation 1 has the inequality the wrong way round, and 0.999 for
        every upper limit collides with numbers above 99.9 % of a category; here only the largest of all is moved.

    >>> ages = GradedGrouping(limits=(15, 30, 45, 60, 75, 90), values=(1, 2, 3, 4, 5))
    >>> ages.codes([25, 30, 90]).round(3).tolist(), ages.numbers([2.0]).tolist()
    ([1.667, 2.0, 6.0], [30.0])
    """

    limits: tuple[float, ...]
    """Where categories begin, ascending, and the largest number of all."""
    values: tuple[float, ...]
    """The value of each category, each at least 1 above the one before."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", tuple(map(float, self.limits)))
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        if len(self.values) < 1 or len(self.limits) != len(self.values) + 1:
            raise ParameterError(
                f"limits must be one more than values, at least two, not {len(self.limits)} and {len(self.values)}"
            )
        if not all(map(isfinite, (*self.limits, *self.values))):
            raise ParameterError("limits and values must be finite numbers")
        if any(low >= high for low, high in pairwise(self.limits)):
            raise ParameterError(f"limits must ascend, not {self.limits}")
        if any(high < low + 1 for low, high in pairwise(self.values)):
            raise ParameterError(f"values must ascend by 1 or more, not {self.values}")

    def codes(self, numbers: Sequence[float] | Reals) -> Reals:
        """The code of every number.

        Edges: a number outside the limits, one that is none, and two that would share a code are refused.
        """
        given = np.asarray(numbers, np.float64)
        low, high = self.limits[0], self.limits[-1]
        if not ((given >= low) & (given <= high)).all():
            strange = given[~((given >= low) & (given <= high))][0]
            raise ParameterError(f"numbers must lie between {low:g} and {high:g}, not {strange:g}")
        place, limits, values = self._category(given, self.limits), np.array(self.limits), np.array(self.values)
        made = values[place] + (given - limits[place]) / (limits[place + 1] - limits[place])
        made = np.where(given == high, self._top, made)
        self._refuse_shared(given, made)
        return np.asarray(made)

    def numbers(self, codes: Sequence[float] | Reals) -> Reals:
        """The number behind every code, up to rounding; limits and the maximum exactly.

        Edges: what lies in no category's values is refused.
        """
        given = np.asarray(codes, np.float64)
        place, limits, values = self._category(given, self.values), np.array(self.limits), np.array(self.values)
        inside = given - values[place]
        if not ((inside >= 0) & (inside < 1)).all():
            strange = given[~((inside >= 0) & (inside < 1))][0]
            raise ParameterError(f"codes must lie in [V, V + 1) of a category's value V, not {strange:g}")
        made = limits[place] + inside * (limits[place + 1] - limits[place])
        return np.where(given == self._top, limits[-1], made)

    @property
    def _top(self) -> float:
        """The code of the largest number: the last one below the end of its category."""
        return nextafter(self.values[-1] + 1, -np.inf)

    def _category(self, given: Reals, starts: Sequence[float]) -> NDArray[np.int64]:
        """The last category that begins at or below each."""
        return np.clip(np.searchsorted(starts, given, side="right") - 1, 0, len(self.values) - 1)

    def _refuse_shared(self, numbers: Reals, codes: Reals) -> None:
        """Codes must ascend as strictly as the numbers do, and stay below the end of their category."""
        distinct, first = np.unique(numbers, return_index=True)
        ends = np.array(self.values)[self._category(distinct, self.limits)] + 1
        tight = (np.diff(codes[first], append=np.inf) <= 0) | (codes[first] >= ends)
        if tight.any():
            near = distinct[int(np.flatnonzero(tight)[0])]
            raise ParameterError(f"numbers must lie far enough apart to have codes of their own; {near!r} does not")
