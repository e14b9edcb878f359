"""Choosing and measuring marginals one after the other: whatever reads rows here is paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sfumato.budget.purse import Purse
from sfumato.data.table import Codes
from sfumato.publish.marginals.binnings import Bins
from sfumato.publish.marginals.marginal_noise import Mechanisms
from sfumato.publish.marginals.marginal_scores import Counts, correct, dependences, hits
from sfumato.publish.marginals.measured_parts import MeasuredParts
from sfumato.publish.marginals.model import Measured, fitted
from sfumato.publish.noisy_table import PrivateTable

CERTAIN = np.arange(0.5, 3.5, 0.5)
"""Where the certainty of a model's answer (a difference of logarithms) is cut into seven parts."""
MOST_CELLS = 2**20
"""No table with a parent is a candidate that has more cells."""
LARGEST = 2**40
"""No price is higher: scores keep their fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What each kind of step costs."""

    choice: Fraction
    """Choosing an attribute and its bins; 0 where nothing is chosen."""
    parent: Fraction
    """Choosing its parent; 0 where there are none."""
    marginal: Fraction
    """Measuring one marginal."""
    last: Fraction
    """Choosing how many attributes are kept; 0 where that was said."""


def shares(epsilon: Fraction, steps: int, *, classes: bool, tree: bool, auto: bool) -> Shares:
    """A quarter of the budget chooses attributes, a twentieth parents, a tenth how many; marginals get the rest."""
    choice = epsilon / (4 * steps) if classes else (epsilon / (4 * (steps - 1)) if tree and steps > 1 else Fraction(0))
    parent = epsilon / (20 * (steps - 1)) if classes and tree and steps > 1 else Fraction(0)
    last = epsilon / 10 if classes and auto and steps > 1 else Fraction(0)
    chosen = choice * (steps if classes else steps - 1) + parent * (steps - 1) + last
    return Shares(choice=choice, parent=parent, marginal=(epsilon - chosen) / steps, last=last)


@dataclass(slots=True, kw_only=True, eq=False)
class Search:
    """What is known so far."""

    table: PrivateTable
    """What is published."""
    parts: MeasuredParts
    """The rows, by what was measured."""
    candidates: tuple[Bins, ...]
    """All attributes in all their binnings."""
    purse: Purse
    """The budget."""
    shares: Shares
    """What steps cost."""
    mechanisms: Mechanisms
    """Where choices and noise come from."""
    kept: list[Measured] = field(default_factory=list)
    """The noisy marginals."""

    def step(self) -> None:
        """Choose one more attribute, perhaps a parent for it, and measure them with the class."""
        if len(self.table.classes) > 1:
            bins = self._useful()
            self._measure(bins, self._parent(bins))
        elif self.shares.choice and self.kept:
            self._measure(*self._pair())
        else:
            self._measure(self._finest()[0], -1)

    def left(self) -> list[Bins]:
        """The candidates of attributes that are not measured yet."""
        gone = {one.bins.place for one in self.kept}
        return [one for one in self.candidates if one.place not in gone]

    def _finest(self) -> list[Bins]:
        """The finest candidate of every attribute that is left."""
        return list({one.place: one for one in self.left()}.values())

    def _useful(self) -> Bins:
        """The attribute and binning with which most rows could be told their class, given what the model says."""
        said, many = self._opinion()
        left = self.left()
        tables = [self.parts.counted(one, said, many) for one in left]
        prices = [self._price(Fraction(one.size * self._kinds, 20)) for one in left]
        place, event = self.mechanisms.choose(correct(tables, prices), self.shares.choice, "choice of an attribute")
        self.purse.pay(event)
        return left[place]

    def _opinion(self) -> tuple[Codes, int]:
        """What the model of the noisy marginals says about each partition's class, and how certainly, as one code."""
        kinds = self._kinds
        if not self.kept:
            return np.zeros(self.parts.count, np.int32), 1
        weights = fitted(self.kept).weighed(self.parts.keys, self.parts.count)
        best = weights.argmax(axis=1)
        top = np.partition(weights, kinds - 2, axis=1)
        sure = np.searchsorted(CERTAIN, top[:, -1] - top[:, -2])
        levels = len(CERTAIN) + 1
        return (best * levels + sure).astype(np.int32), kinds * levels

    def _parent(self, bins: Bins) -> int:
        """Which of those measured the attribute depends on most within the classes, or none of them."""
        if not self.shares.parent or not self.kept:
            return -1
        pairs = [(bins, -1), *self._pairs([bins])]
        return pairs[self._dependent(pairs, self.shares.parent, "choice of a parent")][1]

    def _pair(self) -> tuple[Bins, int]:
        """Without classes: the attribute and the parent that depend on each other most, or an attribute alone."""
        pairs = [*((one, -1) for one in self._finest()), *self._pairs(self.left())]
        return pairs[self._dependent(pairs, self.shares.choice, "choice of a pair")]

    def _pairs(self, some: Sequence[Bins]) -> list[tuple[Bins, int]]:
        """Attributes with the places of their possible parents; public."""
        sizes = [one.bins.size for one in self.kept]
        return [(one, n) for one in some for n, size in enumerate(sizes) if one.size * size * self._kinds <= MOST_CELLS]

    def _dependent(self, pairs: Sequence[tuple[Bins, int]], epsilon: Fraction, what: str) -> int:
        """The place of a pair whose dependence is probably among the highest; one without a parent has none."""
        above = [None if at < 0 else self.kept[at].bins for _, at in pairs]
        found = self._together(pairs)
        prices = [
            0 if up is None else self._price(Fraction(2 * one.size * up.size * self._kinds))
            for (one, _), up in zip(pairs, above, strict=True)
        ]
        place, event = self.mechanisms.choose(dependences(found, prices), epsilon, what)
        self.purse.pay(event)
        return place

    @property
    def _kinds(self) -> int:
        return len(self.table.classes)

    def _price(self, cells: Fraction) -> int:
        """What the noise of so many counts is worth in rows: public."""
        return min(int(cells / self.shares.marginal), LARGEST)

    def _together(self, pairs: Sequence[tuple[Bins, int]]) -> list[Counts | None]:
        """Parent values x values x classes of each pair: the true counts; None without a parent."""
        return [
            None if at < 0 else self.parts.counted(one, self.parts.keys[at], self.kept[at].bins.size)
            for one, at in pairs
        ]

    def _measure(self, bins: Bins, parent: int) -> None:
        """Add noise to the counts of the attribute, of its parent if it has one, and of the class."""
        above, size = np.zeros(self.parts.count, np.int32), 1
        if parent >= 0:
            above, size = self.parts.keys[parent], self.kept[parent].bins.size
        what = f"marginal of {bins.attribute.name}"
        noisy = self.mechanisms.count(self.parts.counted(bins, above, size), self.shares.marginal, what)
        self.purse.pay(noisy.event)
        self.parts.add(bins)
        self.kept.append(Measured(bins=bins, parent=parent, counts=noisy.values.astype(np.float64), scale=noisy.scale))

    def shortest(self) -> int:
        """How many of the attributes, in their order, make the model that gets most rows right."""
        if not self.shares.last:
            return len(self.kept)
        said = []
        for many in range(1, len(self.kept) + 1):
            weights = fitted(self.kept[:many]).weighed(self.parts.keys[:many], self.parts.count)
            said.append(weights.argmax(axis=1).astype(np.int32))
        scores = hits(said, self.parts.counts)
        place, event = self.mechanisms.choose(scores, self.purse.left, "choice of how many attributes")
        self.purse.pay(event)
        return place + 1
