"""Metrics that look at whole classes: how large they are, and how pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.arguments import at_least
from sfumato.ground.errors import PlanError
from sfumato.utility.view import Direction, Loss, Reals, View


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClassMetric:
    """A metric whose loss is no sum over columns, so a node has no floor before its classes are counted."""

    direction: ClassVar[Direction] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = float("inf")
    needs: ClassVar[tuple[str, ...]] = ()

    def loss(self, view: View) -> Loss:
        """The value with bounds."""
        raise TypeError(f"{type(self).__name__} has no loss")

    def measure(self, view: View) -> float:
        """The value for a release."""
        return self.loss(view).value

    def floors(self, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> list[Reals] | None:
        """None: classes must be counted first."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discernibility(_ClassMetric):
    """Discernibility: every row pays the size of its class, a suppressed row the size of the table.

    Source: Bayardo and Agrawal 2005.
    """

    name: ClassVar[str] = "discernibility"

    def loss(self, view: View) -> Loss:
        """Sum of squared class sizes, and table size for each suppressed row."""
        sizes = view.classes.sizes
        squares = float(np.square(sizes, dtype=np.float64).sum())
        hidden = sizes[view.suppressed]
        penalty = float(view.suppressed_rows) * view.classes.rows
        value = squares - float(np.square(hidden, dtype=np.float64).sum()) + penalty
        rates = np.full(len(sizes), float(view.classes.rows))
        return Loss(value=value, coarser=squares, surcharge=penalty, rates=rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscernibilityRatio(_ClassMetric):
    """Discernibility as a share of its largest value, rows squared.

    Source: document 003, section 3.4.
    """

    name: ClassVar[str] = "discernibility-ratio"
    high: ClassVar[float] = 1.0

    def loss(self, view: View) -> Loss:
        """Discernibility over rows squared."""
        whole = Discernibility().loss(view)
        most = float(max(view.classes.rows, 1)) ** 2
        rates = None if whole.rates is None else whole.rates / most
        return Loss(
            value=whole.value / most, coarser=whole.coarser / most, surcharge=whole.surcharge / most, rates=rates
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationMetric(_ClassMetric):
    """Classification metric CM: the share of rows that are suppressed or not of their class's majority.

    Source: Iyengar 2002.
    """

    name: ClassVar[str] = "classification"
    high: ClassVar[float] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("target",)

    def loss(self, view: View) -> Loss:
        """Minority rows of published classes and all suppressed rows, over all rows."""
        if view.target is None:
            raise PlanError("utility.metric: classification needs a column with role = 'target'")
        majority = np.zeros(view.classes.count, np.int64)
        for which, block in view.classes.tally(view.target).blocks():
            majority[which] = block.max(axis=1)
        rows = max(view.classes.rows, 1)
        minority = view.classes.sizes - majority
        extra = float(majority[view.suppressed].sum()) / rows
        floor = float(minority.sum()) / rows
        rates = np.full(view.classes.count, 1.0 / rows)
        return Loss(value=floor + extra, coarser=floor, surcharge=view.suppressed_rows / rows, rates=rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageClassSize(_ClassMetric):
    """Normalized average class size: rows per class, in units of k; suppressed rows are one class.

    Source: LeFevre et al. 2006.
    """

    name: ClassVar[str] = "class-size"

    k: int = 1
    """The unit: the k that was asked for."""

    def __post_init__(self) -> None:
        """Refuse k below 1."""
        at_least("k", self.k, 1)

    def loss(self, view: View) -> Loss:
        """Rows / classes / k."""
        rows = view.classes.rows / self.k
        shown = view.published + bool(view.suppressed.any())
        return Loss(value=rows / max(shown, 1), coarser=rows / max(view.classes.count, 1), surcharge=0.0)
