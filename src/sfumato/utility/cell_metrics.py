"""Metrics that add up what every single cell loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.utility.view import Direction, Loss, Reals, Ruler, View


@dataclass(frozen=True, slots=True, kw_only=True)
class _CellMetric:
    """The average over all cells of a cost that depends on the cell's label; a suppressed cell costs 1."""

    direction: ClassVar[Direction] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    needs: ClassVar[tuple[str, ...]] = ()

    def cost(self, ruler: Ruler) -> Reals:
        """What each label of a column costs, between 0 and 1."""
        raise TypeError(f"{type(self).__name__} has no cost per cell")

    def measure(self, view: View) -> float:
        """The average cost of a cell."""
        return self.loss(view).value

    def loss(self, view: View) -> Loss:
        """The average cost, exact; finer nodes lose at least what suppression adds here."""
        sizes, keys = view.classes.sizes, view.classes.keys
        per_row = np.zeros(len(sizes))
        for codes, ruler in zip(keys, view.rulers, strict=True):
            per_row += _costs(self, ruler)[codes]
        per_row /= max(len(keys), 1)
        rows = max(int(sizes.sum()), 1)
        floor = float(sizes @ per_row) / rows
        extra = float(sizes[view.suppressed] @ (1.0 - per_row[view.suppressed])) / rows
        return Loss(value=floor + extra, coarser=floor, surcharge=extra, rates=(1.0 - per_row) / rows)

    def floors(self, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> list[Reals] | None:
        """Per column and level, the average cost of a cell of that column, divided by the number of columns."""
        return [
            np.array([_average(self.cost(Ruler.at(h, level)), h, level, count) for level in range(h.height + 1)])
            / len(hierarchies)
            for h, count in zip(hierarchies, counts, strict=True)
        ]


@lru_cache(maxsize=256)
def _costs(metric: _CellMetric, ruler: Ruler) -> Reals:
    """What each label costs; a search asks for the labels of a level at every node that has it."""
    return metric.cost(ruler)


def _average(cost: Reals, hierarchy: Hierarchy, level: int, counts: NDArray[np.int64]) -> float:
    return float(counts @ cost[hierarchy.levels[level].parent]) / max(int(counts.sum()), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossMetric(_CellMetric):
    """Loss metric LM: the share of the rest of the domain that a label cannot tell from the true value.

    A label over M_p of M leaves costs (M_p - 1) / (M - 1); an interval its width over the domain's.
    Source: Iyengar 2002.
    """

    name: ClassVar[str] = "loss"
    needs: ClassVar[tuple[str, ...]] = ("sizes",)

    def cost(self, ruler: Ruler) -> Reals:
        """(size - 1) / (total - 1), or width / total."""
        if ruler.continuous:
            return np.clip(ruler.sizes / max(ruler.total, 1e-300), 0.0, 1.0)
        if ruler.total <= 1:
            return np.zeros(len(ruler.sizes))
        return np.clip((ruler.sizes - 1.0) / (ruler.total - 1.0), 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NCP(_CellMetric):
    """Normalized certainty penalty: the share of the domain that a label covers, nothing for a single value.

    Source: Xu et al. 2006.
    """

    name: ClassVar[str] = "ncp"
    needs: ClassVar[tuple[str, ...]] = ("sizes",)

    def cost(self, ruler: Ruler) -> Reals:
        """Size / total, 0 for one leaf."""
        share = np.clip(ruler.sizes / max(ruler.total, 1e-300), 0.0, 1.0)
        return share if ruler.continuous else np.where(ruler.sizes <= 1, 0.0, share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(_CellMetric):
    """Precision: one minus the average share of its hierarchy that a cell has climbed.

    Source: Sweeney 2002.
    """

    name: ClassVar[str] = "precision"
    direction: ClassVar[Direction] = "higher"
    needs: ClassVar[tuple[str, ...]] = ("steps",)

    def cost(self, ruler: Ruler) -> Reals:
        """Steps / height."""
        return ruler.steps / max(ruler.height, 1)

    def measure(self, view: View) -> float:
        """One minus the average cost."""
        return 1.0 - self.loss(view).value


@dataclass(frozen=True, slots=True, kw_only=True)
class Height:
    """Height: how many levels the columns climbed together, averaged over published rows.

    Source: Samarati 2001.
    """

    name: ClassVar[str] = "height"
    direction: ClassVar[Direction] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = float("inf")
    needs: ClassVar[tuple[str, ...]] = ("steps",)

    def measure(self, view: View) -> float:
        """The sum of steps over columns."""
        published = ~view.suppressed
        sizes = view.classes.sizes[published]
        if not len(sizes):
            return float(sum(ruler.height for ruler in view.rulers))
        steps = sum(
            float(sizes @ r.steps[codes[published]]) for codes, r in zip(view.classes.keys, view.rulers, strict=True)
        )
        return steps / int(sizes.sum())

    def loss(self, view: View) -> Loss:
        """The height itself; suppression costs nothing."""
        value = self.measure(view)
        return Loss(value=value, coarser=value, surcharge=0.0)

    def floors(self, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> list[Reals] | None:
        """The level numbers."""
        return [np.arange(h.height + 1, dtype=np.float64) for h in hierarchies]
