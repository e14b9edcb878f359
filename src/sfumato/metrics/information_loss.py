"""Information loss by cells, classes and entropy, and lost covariances of synthetic numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import PlanError
from sfumato.metrics.metric import Direction, Loss, Reals, Ruler, View
from sfumato.tables.hierarchy import Hierarchy

# Metrics that add up what every single cell loses.


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


# Metrics that look at whole classes: how large they are, and how pure.


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
        n_published = view.published + bool(view.suppressed.any())
        return Loss(value=rows / max(n_published, 1), coarser=rows / max(view.classes.count, 1), surcharge=0.0)


# Non-uniform entropy: how many bits about the true values a release withholds.


@dataclass(frozen=True, slots=True, kw_only=True)
class NonUniformEntropy:
    """The bits lost by all cells, as a share of the bits lost if everything were suppressed.

    A value that occurs f times under a label that covers g rows loses log2(g / f) bits in each of its rows. Where equal
    values read alike a label covers the rows that show it; labels of single groups overlap, and cover more.
    Source: Gionis and Tassa 2009; de Waal and Willenborg 1999.
    """

    name: ClassVar[str] = "entropy"
    direction: ClassVar[Direction] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("leaf_bits",)

    def measure(self, view: View) -> float:
        """The share of bits lost."""
        return self.loss(view).value

    def loss(self, view: View) -> Loss:
        """The share of bits lost; finer nodes lose at least what suppression adds here."""
        classes = view.classes
        label_bits = np.zeros(classes.count)
        for codes, names, ruler in zip(classes.keys, classes.labels, view.rulers, strict=True):
            label_counts = np.bincount(codes, weights=classes.sizes, minlength=len(names))
            counts = label_counts if ruler.covered is None else ruler.covered
            label_bits += np.log2(np.maximum(counts, 1.0))[codes]
        top_bits = len(classes.quasi) * log2(max(classes.rows, 1))
        everything = top_bits * classes.rows - float(classes.measures["leaf_bits"].sum())
        if everything <= 0:
            return Loss(value=0.0, coarser=0.0, surcharge=0.0)
        floor = float(label_bits @ classes.sizes - classes.measures["leaf_bits"].sum()) / everything
        hidden = view.suppressed
        extra = float((top_bits - label_bits[hidden]) @ classes.sizes[hidden]) / everything
        rates = (top_bits - label_bits) / everything
        return Loss(value=floor + extra, coarser=floor, surcharge=extra, rates=rates)

    def floors(self, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> list[Reals] | None:
        """Per column and level, the share of bits lost without suppression."""
        rows = max(int(counts[0].sum()), 1) if counts else 1
        lost = [
            np.array(
                [_bits(count, h.levels[level].parent, len(h.levels[level].labels)) for level in range(h.height + 1)]
            )
            for h, count in zip(hierarchies, counts, strict=True)
        ]
        everything = sum(rows * np.log2(rows) - bits[0] for bits in lost)
        if everything <= 0:
            return [np.zeros(len(bits)) for bits in lost]
        return [(bits - bits[0]) / everything for bits in lost]


def _bits(counts: NDArray[np.int64], parent: NDArray[np.int32], labels: int) -> float:
    grouped = np.bincount(parent, weights=counts, minlength=labels)
    return float(grouped @ np.log2(np.maximum(grouped, 1.0)))


# How well drawn numbers keep the covariances of the original.


Numbers = NDArray[np.float64]


def compatibility(before: Numbers, after: Numbers) -> float:
    """The correlation of corresponding entries of both covariance matrices: 1 where they are alike but for a factor.

    Columns are first divided by the standard deviation that they have before, so that none rules by its unit. Entries
    are those on and above the diagonal. Where those of one matrix are all alike, as with one column, there is nothing
    to compare, and it is 1 if both matrices are alike and else 0.
    Source: Aggarwal and Yu 2004, A condensation approach to privacy preserving data mining (covariance compatibility);
    there in the columns' own units.

    >>> rows = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 7.0]])
    >>> round(compatibility(rows, rows + 5), 9), round(compatibility(rows, 3 * rows), 9)
    (1.0, 1.0)
    """
    spread = before.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    cov_before, other = (np.cov((rows / scale).T, bias=True).reshape(rows.shape[1], -1) for rows in (before, after))
    places = np.triu_indices(before.shape[1])
    first, second = cov_before[places], other[places]
    if first.std() < 1e-12 or second.std() < 1e-12:
        return 1.0 if np.allclose(first, second) else 0.0
    return float(np.corrcoef(first, second)[0, 1])


def correlations(numbers: Numbers) -> Numbers:
    """The correlation of every two columns; 0 with a column that does not vary."""
    spread = numbers.std(axis=0)
    points = (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    matrix = points.T @ points / max(len(points), 1)
    return np.asarray(matrix.clip(-1.0, 1.0))
