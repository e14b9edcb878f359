"""What is known about a table so far, and what it cost: every attribute alone, and what later looks are worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.purse import Purse
from sfumato.ground.work import Work
from sfumato.publish.looking import Counts, Mechanisms, Scores
from sfumato.publish.marginals.binnings import Bins
from sfumato.publish.marginals.coded_levels import Grouping, Levels, levels_of
from sfumato.publish.marginals.core_table import Core
from sfumato.publish.marginals.pair_counts import Coded, counts_of
from sfumato.publish.marginals.shrinking import TINY, mean_of, nearest
from sfumato.publish.marginals.tree_model import ClassTable, Edge
from sfumato.publish.noisy_table import Errors, PrivateTable

Reals = NDArray[np.float64]
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
    alone: list[list[tuple[Reals, float]]] = field(default_factory=list)
    """For every attribute, and last the class, its noisy counts with their variances."""
    levels: list[Levels] = field(default_factory=list)
    """Every attribute with its groups."""
    means: list[tuple[Reals, float]] = field(default_factory=list)
    """For every attribute, what its own counts say together, with the variance."""
    totals: Reals = field(default_factory=lambda: np.zeros(0))
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

    def count(self, counts: Counts, amount: Fraction, what: str) -> tuple[Reals, float]:
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
        labels = [(place, one.cut.of_code, one.size) for place, one in enumerate(self.bins)]
        classes = amount * COUNTED if self.kinds > 1 else Fraction(0)
        self.alone = self.alone or [[] for _ in range(len(labels) + (self.kinds > 1))]
        for place, one in enumerate(labels):
            counts, name = counts_of(self.table, one).sum(axis=1), self.bins[place].attribute.name
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
        means = [mean_of(one) for one in self.alone]
        total = max(float(mean_of([(np.array(m.sum()), v * m.size) for m, v in means])[0]), 0.0)
        if self.kinds > 1:
            tables: list[Core | ClassTable] = [*([] if self.core is None else [self.core]), *self.tables]
            sums = [(one.counts.sum(axis=0), one.variance * len(one.counts)) for one in tables]
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
        for one, (noisy, variance) in zip(self.levels, self.means, strict=True):
            one.recount(noisy, variance, float(self.totals.sum()))

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
