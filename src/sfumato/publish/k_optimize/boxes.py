"""How much a box over values that follow each other hides, without making its words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.publish.k_optimize.cuts import Places
from sfumato.publish.labels import climbed
from sfumato.publish.order import spans
from sfumato.publish.problem import Problem
from sfumato.publish.set_labels import SetLabels
from sfumato.utility.view import Ruler


class Boxes:
    """The boxes of one column: the same figures as ``labels.recoded`` gives for them."""

    def __init__(self, problem: Problem, column: int, order: NDArray[np.int32]) -> None:
        """``order`` holds the codes of the column's values in their order."""
        self.hierarchy, self.order = problem.hierarchies[column], order
        numbers = problem.scale(column)
        self._sets = SetLabels(self.hierarchy)
        self._widths = None if numbers is None else spans(self.hierarchy, numbers)
        absent = -1 if self.hierarchy.missing is None else self.hierarchy.missing
        self._missing = order.tolist().index(absent) if absent in order else -1

    def ruler(self, lows: Places, highs: Places) -> Ruler:
        """One label for each run of values from a first to a last place."""
        figures = np.array([self._figures(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)])
        hierarchy = self.hierarchy
        return Ruler(
            sizes=figures[:, 0],
            steps=figures[:, 1],
            total=hierarchy.total,
            height=hierarchy.height,
            continuous=hierarchy.continuous,
        )

    def _figures(self, low: int, high: int) -> tuple[float, float]:
        """Size and steps: a leaf for one value, everything for ``*``, else as much as the values span."""
        hierarchy, many = self.hierarchy, high - low + 1
        if many == 1:
            return (0.0 if hierarchy.continuous and self._widths is not None else 1.0), 0.0
        if low <= self._missing <= high:
            return hierarchy.total, float(hierarchy.height)
        if self._widths is not None:
            size = self._widths(int(self.order[low]), int(self.order[high]))
        else:
            size = self._sets.of_run(self.order[low : high + 1].tolist()).size
        return size, climbed(hierarchy, size)
