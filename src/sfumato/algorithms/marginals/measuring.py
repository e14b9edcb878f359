"""Noisy measurements of a table so far, what they cost, and the counts behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.marginals.levels import TINY, Bins, Grouping, Levels, levels_of, mean_of, nearest
from sfumato.algorithms.marginals.tree_model import ClassTable, Core, Edge
from sfumato.algorithms.private_table import Counts, Errors, Mechanisms, PrivateTable, Scores
from sfumato.core.run_context import Work
from sfumato.counts.keys import Ids
from sfumato.counts.sources import CutCounts, Division, Groups
from sfumato.dp.accounting import Purse
from sfumato.tables.table import Codes

# The true counts of pairs of attributes, with the class: read from a source of counts, for choices and for noise.


Coded = tuple[int, Codes, int]
"""An attribute by its place, the group of each of its values, and how many groups there are."""


def counts_of(table: PrivateTable, attribute: Coded) -> Counts:
    """Groups x classes of one attribute: private."""
    place, child_of, size = attribute
    walk = table.counts.root(table.figures)
    return np.asarray(walk.histogram(Division(column=place, parts=None, child_of=child_of, children=size))[0])


def pairs_of(table: PrivateTable, first: Coded, others: Sequence[Coded]) -> list[Counts]:
    """Groups of one attribute x groups of another x classes, for several others: private."""
    place, child_of, size = first
    walk = table.counts.root(table.figures)
    start = np.zeros(int(walk.total().any()), np.int64)
    divided = walk.refine(Division(column=place, parts=start, child_of=child_of, children=size)).occupied()
    places = divided.places(1)
    walk.apply(divided, places)
    into = Groups(of=divided.child.astype(np.int32), count=size)
    return [
        np.asarray(walk.histogram(Division(column=at, parts=places, child_of=codes, children=many), into))
        for at, codes, many in others
    ]


# Leaf partitions by the attributes measured so far: rows that read alike in all of them.


class MeasuredParts:
    """The partitions that have rows, with their labels and classes: private. Which row is where, the walk knows."""

    def __init__(self, walk: CutCounts) -> None:
        """All rows, if there are any."""
        self.walk = walk
        self.total: Counts = walk.total()
        """The rows of every class."""
        some = int(self.total.any())
        self.keys: Codes = np.zeros((0, some), np.int32)
        """Measured attributes x partitions: the label of each."""
        self.counts: Counts = self.total[None][:some]
        """Partitions x classes."""
        self._places: Ids = np.zeros(some, np.int64)
        self._numbers = 1

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.counts)

    def counted(self, attribute: Coded, code: Codes, codes: int) -> Counts:
        """Codes x groups x classes: the rows by the code of their partition, of so many, and by their group."""
        return np.asarray(self.walk.histogram(self._division(attribute), Groups(of=code, count=codes)))

    def add(self, attribute: Coded) -> None:
        """One more attribute is measured."""
        divided = self.walk.refine(self._division(attribute)).occupied()
        self._places = divided.places(self._numbers)
        self.walk.apply(divided, self._places)
        self._numbers = max(self._numbers, int(self._places.max(initial=0)) + 1)
        self.keys = np.concatenate([self.keys[:, divided.owner], divided.child[None].astype(np.int32)])
        self.counts = divided.counts

    def _division(self, attribute: Coded) -> Division:
        """The partitions by the groups of one more attribute."""
        place, child_of, size = attribute
        return Division(column=place, parts=self._places, child_of=child_of, children=size)


# What is known about a table so far, and what it cost: every attribute alone, and what later looks are worth.


Floats = NDArray[np.float64]
CHOOSING = {"epsilon": Fraction(2, 5), "rho": Fraction(1, 8)}
"""The part of a round, or of all pairs, that chooses what is measured."""
COUNTED = Fraction(1, 10)
"""The part of what is spent on attributes alone that counts the rows of every class."""
SURE = 3.0
"""A group of labels has so many deviations of its noise, at least."""
CELLS = 20
"""So many cells a table typically has: by it the number of rounds is chosen."""
PAIRED = 0.5
"""So many pairs are measured that the noise of a typical table has this part of all rows: much of it is shrunk away."""
GATHERED = 2.0
"""Labels are gathered until the noise of a table of two attributes has this part of all rows."""


@dataclass(slots=True, kw_only=True, eq=False)
class Measuring:
    """What is known so far, and what it cost."""

    table: PrivateTable
    """What is published."""
    bins: tuple[Bins, ...]
    """Every attribute as it is published."""
    purse: Purse
    """The budget."""
    mechanisms: Mechanisms
    """Where choices and noise come from."""
    work: Work
    """Progress, and a switch to stop."""
    alone: list[list[tuple[Floats, float]]] = field(default_factory=list)
    """For every attribute, and last the class, its noisy counts with their variances."""
    levels: list[Levels] = field(default_factory=list)
    """Every attribute with its groups."""
    means: list[tuple[Floats, float]] = field(default_factory=list)
    """For every attribute, what its own counts say together, with the variance."""
    totals: Floats = field(default_factory=lambda: np.zeros(0))
    """Rows of every class."""
    core: Core | None = None
    """A few attributes in one table with the class."""
    tables: list[ClassTable] = field(default_factory=list)
    """Attributes with the class."""
    edges: list[Edge] = field(default_factory=list)
    """Pairs."""
    said: list[str] = field(default_factory=list)
    """What was measured, in words."""

    @property
    def choosing(self) -> Fraction:
        """The part of a round, or of all pairs, that chooses."""
        return CHOOSING[self.purse.unit]

    @property
    def target(self) -> str:
        """What the class is called."""
        return self.table.target_name or "the class"

    @property
    def kinds(self) -> int:
        """How many classes there are."""
        return len(self.table.classes)

    def count(self, counts: Counts, amount: Fraction, what: str) -> tuple[Floats, float]:
        """Noisy counts and the variance of their noise; paid before they are looked at."""
        cost = self.purse.cost(amount, what)
        self.purse.pay(cost)
        noisy = self.mechanisms.count(counts, cost)
        return noisy.values.astype(np.float64), max(noisy.variance, TINY)

    def choose(self, scores: Scores, amount: Fraction, what: str) -> int:
        """The place of one of the scores; paid before they are looked at."""
        cost = self.purse.cost(amount, what)
        self.purse.pay(cost)
        return self.mechanisms.choose(scores, cost)

    def coded(self, place: int, level: Grouping) -> Coded:
        """An attribute in groups, as a source of counts is asked."""
        return place, self.levels[place].codes(level), level.size

    def measure_alone(self, amount: Fraction) -> None:
        """Every attribute alone, and the class, which gets a tenth; what was measured before is kept beside."""
        labels = [(place, binning.cut.of_code, binning.size) for place, binning in enumerate(self.bins)]
        classes = amount * COUNTED if self.kinds > 1 else Fraction(0)
        self.alone = self.alone or [[] for _ in range(len(labels) + (self.kinds > 1))]
        for place, attribute in enumerate(labels):
            counts, name = counts_of(self.table, attribute).sum(axis=1), self.bins[place].attribute.name
            self.alone[place].append(self.count(counts, (amount - classes) / len(labels), f"marginal of {name}"))
            self.work.advance("measure", place, len(labels))
        if self.kinds > 1:
            counts = np.asarray(self.table.counts.root(self.table.figures).total())
            self.alone[-1].append(self.count(counts, classes, "rows of every class"))
        self.settle()

    @property
    def class_errors(self) -> list[Errors]:
        """How noisy the rows of every class are; what other tables say about them only lowers that."""
        if self.kinds < 2 or self.table.target_name is None:
            return []
        deviation = np.full(self.kinds, sqrt(mean_of(self.alone[-1])[1]))
        return [Errors(column=self.table.target_name, labels=self.table.classes, deviation=deviation)]

    def settle(self) -> None:
        """What all tables say: the rows of every class, and the noisy counts of every attribute."""
        means = [mean_of(tables) for tables in self.alone]
        total = max(float(mean_of([(np.array(m.sum()), v * m.size) for m, v in means])[0]), 0.0)
        if self.kinds > 1:
            tables: list[Core | ClassTable] = [*([] if self.core is None else [self.core]), *self.tables]
            sums = [(table.counts.sum(axis=0), table.variance * len(table.counts)) for table in tables]
            self.totals = nearest(mean_of([means[-1], *sums])[0][:, None], np.array([total]))[:, 0]
        else:
            self.totals = np.array([total])
        self.means = means[: len(self.bins)]

    def gather(self, later: float, pairs: Fraction) -> None:
        """Labels into groups: by their own noise, by that of tables with the class to come, and by that of pairs."""
        total = float(self.totals.sum())
        measuring = pairs * (1 - self.choosing)
        noise = self.spread(measuring, self.pairs_worth(measuring))
        coarse = sqrt(noise * total * self.kinds / GATHERED)
        self.levels = [
            levels_of(bins, noisy, variance, total, fine=SURE * min(sqrt(variance), later), coarse=coarse)
            for bins, (noisy, variance) in zip(self.bins, self.means, strict=True)
        ]

    def recount(self) -> None:
        """The same groups with newer counts."""
        for level, (noisy, variance) in zip(self.levels, self.means, strict=True):
            level.recount(noisy, variance, float(self.totals.sum()))

    @property
    def others(self) -> float:
        """Rows that are not of the largest class."""
        return float(self.totals.sum() - self.totals.max(initial=0.0))

    def pairs_worth(self, budget: Fraction) -> int:
        """How many pairs can be measured before noise covers a part of the rows."""
        return min(self.affordable(float(self.totals.sum()) * PAIRED / CELLS**1.5, budget), len(self.bins) - 1)

    def affordable(self, noise: float, budget: Fraction) -> int:
        """Into how many equal parts a budget can be cut so that each count has this deviation."""
        many = noise * float(budget) / sqrt(2) if self.purse.unit == "epsilon" else noise**2 * 2 * float(budget)
        return max(floor(min(many, 1e6)), 1)

    def spread(self, budget: Fraction, parts: int) -> float:
        """The deviation of the noise of a count, for one of so many parts of a budget."""
        part = float(budget) / max(parts, 1)
        return sqrt(2) / part if self.purse.unit == "epsilon" else sqrt(1 / (2 * part))
