"""What a differentially private algorithm is given and returns, and how it may look at rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut
from sfumato.core.short_repr import Brief
from sfumato.counts.sources import CutSource, Figure
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Event
from sfumato.dp.noise import Noisy, counted, noisy_counts, picked
from sfumato.tables.taxonomy import Taxonomy

# What a differentially private algorithm is given, and what it gives back.
#
# Everything but the counts is public: attributes, domains, trees, ranges and classes are declared by the publisher.
# The number of rows is private.


Kind = Literal["tree", "number", "set"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attribute:
    """A predictor: its declared domain."""

    name: str
    """The column."""
    kind: Kind
    """Whether a row has a leaf of a tree, a number, or a set of leaves."""
    values: tuple[str, ...]
    """The declared leaves (tree, set), or the label of each cell of the grid (number)."""
    tree: Taxonomy | None = None
    """The declared tree; ``tree.leaf[code]`` is the node of leaf ``code``. None for numbers."""
    low: float = 0.0
    """The smallest declared number."""
    high: float = 0.0
    """The largest declared number."""
    grid: float = 1.0
    """The width of a cell of the grid: intervals begin and end at ``low`` plus a multiple of this, or at ``high``."""

    def edge(self, cell: int) -> float:
        """Where a cell of the grid begins."""
        return min(self.low + cell * self.grid, self.high)


def grid_cells(low: float, high: float, grid: float) -> int:
    """How many cells a grid over a closed range has; the largest number lies in the last one."""
    return max(
        floor((high - low) / grid + 1e-9) + (1 if float(grid).is_integer() and float(low).is_integer() else 0), 1
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrivateTable(Brief):
    """Declared domains, and where the counts of rows over them come from."""

    attributes: tuple[Attribute, ...]
    """The predictors."""
    classes: tuple[str, ...]
    """The declared values of the class; one value where there is no class."""
    counts: CutSource
    """Counts by the predictors, in their order, of the classes: private. Values are leaves, or cells of the grid that a
    number lies in; of sets, a row has several leaves."""
    target_name: str | None = None
    """The class column."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The rows of each class, as the source is asked for them."""
        return tuple((self.target_name or "", (code,)) for code in range(len(self.classes)))

    @property
    def rows(self) -> int:
        """How many rows there are: private."""
        return int(self.counts.root(self.figures).total().sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """How noisy the published counts of one column are: from the noise alone, whose law is public."""

    column: str
    """The column."""
    labels: tuple[str, ...]
    """Its labels."""
    deviation: NDArray[np.float64]
    """The standard deviation of the noise in the count of all rows with each label, or an upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NoisyTable(Brief):
    """Generalized rows with noisy counts: what may be published."""

    columns: tuple[str, ...]
    """The predictors."""
    labels: tuple[tuple[str, ...], ...]
    """For each of them, the labels that are used; a set's label names its nodes, joined by ``|``."""
    keys: NDArray[np.int32]
    """Columns x groups: the label of each group."""
    counts: NDArray[np.int64]
    """Groups x classes: noisy rows, none negative."""
    event: Event
    """What it cost; its epsilon is exactly what was asked for."""
    cut: tuple[ColumnCut | None, ...] = ()
    """For each column that is no set: the label of every declared leaf or cell of the grid, for new records."""
    steps: tuple[str, ...] = ()
    """What was specialized, in order, in words; public like everything here."""
    effort: Mapping[str, int | float | str] = field(default_factory=dict)
    """Public figures about the search."""
    errors: tuple[Errors, ...] = ()
    """For each column whose labels are counted with noise of a known law: how noisy they are."""


# The only ways in which a private algorithm looks at rows, as functions that are handed in: choose, count, wait.
#
# Each is told what it is to cost; whoever calls pays just that. A test may hand in others.


Reals = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Scores of candidates, and how far one record can move each."""

    values: Reals
    """Higher is better."""
    sensitivity: float
    """The most that a score changes by one record."""
    monotonic: bool
    """Whether one more record moves all scores in the same direction."""


def choose(scores: Scores, cost: Cost) -> int:
    """The place of one of the scores, probably a high one."""
    return picked(scores.values, cost, sensitivity=scores.sensitivity, monotonic=scores.monotonic)


def waits(number: int, rate: Fraction) -> Counts:
    """About so many independent draws (at least one) of the failures before a success; P[success] = 1 - e^-rate.

    A discrete Laplace draw of scale 1/rate that is not negative has exactly this law. It is added to zeros: no record
    is read, so it costs nothing.
    """
    batches: list[Counts] = []
    while not any(len(batch) for batch in batches):
        drawn = noisy_counts(np.zeros(2 * number, np.int64), epsilon=rate, what="waiting times").values
        batches.append(drawn[drawn >= 0])
    return np.concatenate(batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """Where choices and noise come from: OpenDP, unless a test says otherwise."""

    choose: Callable[[Scores, Cost], int] = choose
    """Of some scores, one."""
    count: Callable[[Counts, Cost], Noisy] = counted
    """Noisy counts of disjoint sets of records."""
    waits: Callable[[int, Fraction], Counts] = waits
    """Failures before a success; no record is read."""
