"""The state of a search: the cuts and the partitions as they are, and what they have cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event, Sequential
from sfumato.budget.purse import Cost, Purse
from sfumato.ground.work import Work
from sfumato.group.cut_counts import CutCounts, by_value
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.emptiness import Sieve, pure_cost, sifted
from sfumato.publish.diffgen.group_prices import Prices
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.node_column import TreeColumn
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization_scores import Score
from sfumato.publish.diffgen.steps import AnyColumn, specialize, specialize_sets
from sfumato.publish.looking import Mechanisms
from sfumato.publish.noisy_table import Attribute


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
