"""What rows cost when they are published or suppressed, and what they cost at least."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.group.keys import Ids, weighed
from sfumato.group.tally import Counts
from sfumato.publish.k_optimize.cut_table import Frame
from sfumato.publish.k_optimize.cuts import Cuts, Flags
from sfumato.publish.k_optimize.intervals import Intervals
from sfumato.publish.problem import Problem
from sfumato.utility.cell_metrics import NCP, LossMetric, Precision
from sfumato.utility.class_metrics import AverageClassSize, ClassificationMetric, Discernibility, DiscernibilityRatio
from sfumato.utility.entropy import NonUniformEntropy
from sfumato.utility.view import Metric, Reals, Ruler

_CELLS = (LossMetric, NCP, Precision)
_CLASSES = (Discernibility, DiscernibilityRatio, ClassificationMetric)
_OTHERS = (NonUniformEntropy, AverageClassSize)
"""Metrics that are no sum over classes, but lose no less by coarser classes or by more suppression."""


class ClassPrice:
    """Discernibility and the classification metric: a class costs what its size and its target's counts say."""

    def __init__(self, problem: Problem, k: int) -> None:
        """The metric's scale for this table, where no published class is smaller than ``k``."""
        self.rows = max(problem.cells.rows, 1)
        self.k = min(k, self.rows)
        self.target = problem.target if isinstance(problem.metric, ClassificationMetric) else None
        self._scale = 1.0 / self.rows**2 if isinstance(problem.metric, DiscernibilityRatio) else 1.0
        self.rate = 1.0 / self.rows if self.target is not None else self._scale * self.rows
        """What a suppressed row costs."""

    def of(self, sizes: Counts, histogram: Counts | None) -> Reals:
        """What published classes cost: rows beside the majority, or rows squared."""
        if histogram is not None:
            return np.asarray((sizes - histogram.max(axis=1, initial=0)) / self.rows)
        return np.asarray(self._scale * np.square(sizes, dtype=np.float64))

    def published(self, frame: Frame, head: Flags, ids: Ids, sizes: Counts) -> Reals:
        """What each group of a frame's classes costs when it is published."""
        if self.target is None:
            return self.of(sizes, None)
        return self.of(sizes, frame.classes.tally(self.target).merged(ids, len(sizes)).dense())

    def least(self, frame: Frame) -> Reals:
        """What each class of a frame costs at least under fewer cuts, as long as its rows are published.

        Rows beside the majority stay so in any larger class; and a row shares its class with k rows at least.
        """
        sizes = frame.classes.sizes
        if self.target is not None:
            return self.of(sizes, frame.classes.tally(self.target).dense())
        return np.asarray(self._scale * sizes.astype(np.float64) * np.maximum(sizes, self.k))

    def worthless(self, left: Counts, right: Counts) -> Flags:
        """Where cutting a group can gain nothing once one of its parts is suppressed, nor can it below."""
        if self.target is not None:
            return np.ones(len(left), np.bool_)
        return np.asarray(left + right + np.maximum(left, right) <= self.rows)


class IntervalPrice:
    """Metrics that add up cells: a cell costs what its interval says, a suppressed one all there is."""

    target: str | None = None

    def __init__(self, problem: Problem, cuts: Cuts, intervals: Intervals) -> None:
        """The metric's scale for this table."""
        self.cuts, self.intervals = cuts, intervals
        self.rate = 1.0 / max(problem.cells.rows, 1)
        """What a suppressed row costs."""
        self.share = self.rate / max(cuts.columns, 1)
        """What a cell of cost 1 adds to the loss."""

    def of(self, frame: Frame, chosen: Flags) -> Reals:
        """What each class of a frame costs when it is published under some of the frame's cuts."""
        per_row = np.zeros(frame.classes.count)
        for column, (lift, codes) in enumerate(zip(frame.lifts(chosen), frame.classes.keys, strict=True)):
            per_row += self.intervals.costs(column, *self.cuts.limits(chosen, column))[lift][codes]
        return np.asarray(self.share * frame.classes.sizes * per_row)

    def published(self, frame: Frame, head: Flags, ids: Ids, sizes: Counts) -> Reals:
        """What each group of a frame's classes costs when it is published."""
        return weighed(ids, self.of(frame, head), len(sizes))

    def least(self, frame: Frame) -> Reals:
        """What each class of a frame costs at least under fewer cuts: they make no interval narrower."""
        return self.of(frame, frame.chosen)

    def worthless(self, left: Counts, right: Counts) -> Flags:
        """Nowhere: a cut makes intervals of other groups narrower too."""
        return np.zeros(len(left), np.bool_)


Price = ClassPrice | IntervalPrice


def price_of(problem: Problem, cuts: Cuts, intervals: Intervals, k: int) -> Price | None:
    """The metric as a price of each class; None where it is no sum over classes."""
    if isinstance(problem.metric, _CLASSES):
        return ClassPrice(problem, k)
    return IntervalPrice(problem, cuts, intervals) if isinstance(problem.metric, _CELLS) else None


def bounds(metric: Metric) -> bool:
    """Whether coarser classes and more suppression never lose less by this metric, so that it can bound a search."""
    return isinstance(metric, (*_CELLS, *_CLASSES, *_OTHERS))


def cell_cost(metric: Metric) -> Callable[[Ruler], Reals] | None:
    """What each label costs by a metric that adds up cells."""
    return metric.cost if isinstance(metric, _CELLS) else None
