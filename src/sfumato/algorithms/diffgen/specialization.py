"""The state of a DiffGen search: cuts, scores, costs, and how far to specialize."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, log2, pi, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen.columns import Candidate, NumberColumn, SetColumn, TreeColumn
from sfumato.algorithms.diffgen.partitions import (
    AnyColumn,
    Partitions,
    Sieve,
    pure_cost,
    sifted,
    specialize,
    specialize_sets,
)
from sfumato.algorithms.private_table import Attribute, Mechanisms, Scores
from sfumato.core.run_context import Work
from sfumato.counts.sources import CutCounts, by_value
from sfumato.dp.accounting import Cost, Purse
from sfumato.dp.events import Event, Pure, Sequential

# How much a specialization tells about the class, and how far one record can move that.


Reals = NDArray[np.float64]
ScoreName = Literal["gini", "max", "gain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What tables (… x child partitions x classes) are worth, and how far one record can move that."""

    of: Callable[[NDArray[Any]], Reals]
    """The worth of each table."""
    sensitivity: float
    """The most that a score changes by one record."""
    monotonic: bool
    """Whether one more record moves the scores of all candidates in the same direction."""

    def on(self, values: Reals) -> Scores:
        """Some scores, as a mechanism is asked about them."""
        return Scores(values=values, sensitivity=self.sensitivity, monotonic=self.monotonic)


def score(name: ScoreName, classes: int) -> Score:
    """A score by its name."""
    if name == "max":
        return Score(of=highest, sensitivity=1.0, monotonic=True)
    if name == "gini":
        return Score(of=purity, sensitivity=2.0 + ROUNDING, monotonic=True)
    most = log2(classes) if classes > 1 else 1.0
    return Score(of=lambda table: np.clip(information_gain(table), 0.0, most), sensitivity=most, monotonic=False)


ROUNDING = 1e-6
"""More than rounding can move a sum of impurities of up to a thousand million records."""


def highest(table: NDArray[Any]) -> Reals:
    """Max: the records of the most frequent class of each child partition, added up (equation 6.4).

    One more record adds 0 or 1 to one addend, so no score moves by more than 1, and none moves down.
    """
    return np.asarray(table.max(axis=-1).sum(axis=-1), np.float64)


def information_gain(table: NDArray[Any]) -> Reals:
    """InfoGain: the entropy of the class less its mean entropy in the child partitions, in bits (equation 6.3).

    It lies between 0 and log2 of the number of classes, so it cannot change by more than that. The bound is reached:
    two records of two classes, apart, gain one bit; one of them alone gains nothing.
    """
    whole = table.sum(axis=-2)
    total = whole.sum(axis=-1)
    bits = _bits(whole) - _bits(table).sum(axis=-1)
    return np.asarray(np.divide(bits, total, out=np.zeros(np.shape(total)), where=total > 0))


def purity(table: NDArray[Any]) -> Reals:
    """Minus the impurities of all partitions of a table."""
    return np.asarray(-impurity(table).sum(axis=-1))


def impurity(table: NDArray[Any]) -> Reals:
    """The Gini impurity of each partition times its records: how many a guess by class frequencies gets wrong.

    With n_i records of class i of n it is n - sum(n_i^2)/n. One more record adds between 0 and 2: for class i the
    derivative is (1-p_i)^2 plus the squares of the other shares, and these are at most (1-p_i)^2 together.
    """
    total = table.sum(axis=-1).astype(np.float64)
    squares = (table.astype(np.float64) ** 2).sum(axis=-1)
    return np.asarray(total - np.divide(squares, total, out=np.zeros(total.shape), where=total > 0))


def _bits(table: NDArray[Any]) -> Reals:
    """The entropy of each row times its total."""
    total = table.sum(axis=-1).astype(np.float64)
    return np.asarray(_x_log_x(total) - _x_log_x(table.astype(np.float64)).sum(axis=-1))


def _x_log_x(x: Reals) -> Reals:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))


# How far to specialize, and what a group costs: public rules on a noisy number of records and the noise to come.


PART = Fraction(1, 50)
"""The part of the budget that the noisy number of records costs."""
RECORDS = 25.0
"""So many times the noise of a count should be in a group where it is specialized by halves."""
PRICE = 0.1
"""The score that a new group must bring, in times the noise of its counts."""
FEW = 4
"""So many groups are possible however few records there seem to be: of a small table their number is mostly noise."""
MOST_STEPS = 30
MOST_GROUPS = 2**20
"""No specialization is a candidate that would make more leaf partitions than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a search may make, and what it costs there: public."""

    steps: int
    """The most specializations."""
    most: int = MOST_GROUPS
    """The most groups."""
    group: float = 0.0
    """What one more group takes off a score."""
    records: int | None = None
    """The noisy number of records, where it was bought."""
    halves: bool = False
    """Whether nodes with many nodes below may be specialized by halves."""
    stops: bool = False
    """Whether to stop is one more candidate."""


def noise_of(cost: Cost) -> float:
    """The mean absolute noise of a count that costs so much.

    >>> noise_of(Pure(epsilon=Fraction(1, 4)))
    4.0
    """
    return float(1 / cost.epsilon) if isinstance(cost, Pure) else 1 / sqrt(pi * float(cost.rho))


def supported(records: int, noise: float, classes: int, *, stops: bool, unit: float = 1.0) -> Prices:
    """What so many records support where counts have so much noise; ``unit`` is the score of one record.

    Steps: as many as halve the records into groups of 25 times the noise; then noise hardly changes a group's majority.
    Groups: their noise together, over all classes, is not more than the records; but four in any case. A new group
    takes a tenth of its own noise off the score of what makes it.

    >>> [supported(30_000, 4 / e, 2, stops=True).steps for e in (0.1, 0.25, 0.5, 1)]
    [4, 6, 7, 8]
    >>> supported(60_000, 4.0, 2, stops=True).most, supported(-5, 4.0, 2, stops=True).most
    (7500, 4)
    """
    there = max(records, 1)
    halvings = floor(log2(max(there / (RECORDS * noise), 1.0)))
    return Prices(
        steps=min(max(halvings, 1), MOST_STEPS),
        most=min(max(floor(there / (classes * noise)), FEW), MOST_GROUPS),
        group=PRICE * noise * classes * unit,
        records=there,
        halves=True,
        stops=stops,
    )


# The state of a search: the cuts and the partitions as they are, and what they have cost.


@dataclass(slots=True, kw_only=True)
class Search(ABC):
    """What all searches share: candidates, and how one of them is specialized."""

    columns: tuple[AnyColumn, ...]
    """The attributes."""
    parts: Partitions
    """The leaf partitions."""
    score: Score
    """By which choices are made."""
    purse: Purse
    """The budget."""
    share: Fraction
    """What one choice or test costs, in the purse's unit."""
    prices: Prices
    """How far it may go."""
    mechanisms: Mechanisms
    """Where choices and noise come from."""
    sieve: Sieve = sifted
    """Which child partitions of sets are taken to be non-empty."""
    said: list[str] = field(default_factory=list)
    """The specializations in words."""

    def begin(self) -> None:  # noqa: B027  nothing is a good answer
        """Whatever is to be done before the first specialization."""

    @abstractmethod
    def choose(self, candidates: list[Candidate]) -> tuple[Candidate | None, list[Event]]:
        """Which candidate is to be specialized, or none any more, and what it cost to find that out."""

    def follow(self, column: int, values: tuple[int, ...]) -> list[Event]:
        """Whatever is to be done about new values."""
        return []

    def leaf_counts(self) -> NDArray[np.int64]:
        """Partitions x classes, as they are counted in the end; several parties have shares of them."""
        return self.parts.counts

    def run(self, work: Work) -> None:
        """Specialize as often as the prices allow, or until stopping is chosen or nothing is left to specialize."""
        self.begin()
        for step in range(self.prices.steps):
            work.advance("specializing", step, self.prices.steps)
            candidates = self.candidates()
            if not candidates:
                break
            at, bought = self.choose(candidates)
            if at is None:
                self.purse.pay(Sequential(parts=tuple(bought), what="no further specialization"))
                break
            bought = [*bought, *self._specialized(at)]
            if bought:
                self.purse.pay(Sequential(parts=tuple(bought), what=f"specialization {step + 1}: {self.said[-1]}"))

    def cost(self, what: str) -> Cost:
        """What one choice costs."""
        return self.purse.cost(self.share, what)

    def price(self, at: Candidate) -> float:
        """What its new groups take off the score of a candidate: public."""
        return self.prices.group * self._more(at)

    def may_stop(self, candidates: list[Candidate]) -> bool:
        """Whether to stop is one more candidate: not as long as there are sets, whose tests drop groups of noise."""
        return self.prices.stops and not any(isinstance(self.columns[at.column], SetColumn) for at in candidates)

    def candidates(self) -> list[Candidate]:
        """All values of the cuts that can be specialized without too many partitions; public."""
        return [
            at
            for c, column in enumerate(self.columns)
            for value in (column.nodes(self.parts.keys[c]) if isinstance(column, SetColumn) else column.shown)
            if column.is_open(value)
            for at in self._ways(c, value)
            if self._fits(at)
        ]

    def _ways(self, c: int, value: int) -> list[Candidate]:
        """How a value can be specialized: a node with many nodes below in two ways."""
        column = self.columns[c]
        halves = self.prices.halves and isinstance(column, TreeColumn) and column.is_wide(value)
        return [Candidate(column=c, value=value, halves=way) for way in (False, *[True] * halves)]

    def _fits(self, at: Candidate) -> bool:
        """Whether any partition has the value and there is room for more."""
        column = self.columns[at.column]
        if isinstance(column, SetColumn):
            more = 1.0 if self.prices.records is None else self._more(at)
            return self.parts.count + more <= self.prices.most
        more = self._more(at)
        return more > 0 and self.parts.count + more <= self.prices.most

    def _more(self, at: Candidate) -> float:
        """How many more partitions there will be; of sets, about as many as that at most.

        A child partition of sets needs sqrt(2)/e' records to pass, so there cannot be many more than records allow.
        """
        column = self.columns[at.column]
        if not isinstance(column, SetColumn):
            return float(self.parts.having(at.column, at.value).sum() * (column.width(at) - 1))
        first, last = column.masks(at.value)
        every = float(column.having(self.parts.keys[at.column], at.value).sum()) * (last - first)
        if self.prices.records is None:
            return every
        epsilon = float(pure_cost(self.purse.unit, self.share, "").epsilon)
        return min(every, self.prices.records * epsilon / sqrt(2))

    def _specialized(self, at: Candidate) -> list[Event]:
        """Specialize in all partitions, and say so."""
        column = self.columns[at.column]
        name = column.attribute.name
        if isinstance(column, SetColumn):
            below = ", ".join(column.names[child] for child in column.below(at.value))
            self.said.append(f"{name}: {column.names[at.value]} -> subsets of {below}")
            cost = pure_cost(self.purse.unit, self.share, f"non-empty parts of {column.names[at.value]}")
            specialize_sets(column, at, self.parts, cost, self.prices.most, self.mechanisms, self.sieve)
            return [cost]
        values = specialize(column, at, self.parts)
        self.said.append(f"{name}: {column.name(at.value)} -> {', '.join(map(column.name, values))}")
        return self.follow(at.column, values)


def column_of(attribute: Attribute, place: int, walk: CutCounts) -> AnyColumn:
    """An attribute as the search sees it; its place is that of its column in the walk."""
    if attribute.kind == "set":
        assert attribute.tree is not None
        return SetColumn(attribute, attribute.tree, place, walk)
    return counted_column(attribute, walk.histogram(by_value(place, len(attribute.values)))[0])


def counted_column(attribute: Attribute, counts: NDArray[np.int64]) -> TreeColumn | NumberColumn:
    """An attribute that is no set, with the counts (values x classes) by which it is scored."""
    if attribute.kind == "number":
        return NumberColumn(attribute, counts)
    assert attribute.tree is not None
    return TreeColumn(attribute, attribute.tree, counts)
