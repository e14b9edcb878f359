"""The labels of a column as they are joined, and what a generalization costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut
from sfumato.algorithms.problem import Problem
from sfumato.counts.keys import weighed
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import TOP
from sfumato.tables.table import Codes

# What a generalization costs: information about the class, or a share of the domain.


Score = Literal["information-privacy", "information", "loss-privacy", "loss"]
DECIMALS = 12
"""Scores are compared after rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Weighs a generalization by one of the scores."""

    score: Score
    """Which one."""
    rows: int
    """The rows of the table."""

    @property
    def private(self) -> bool:
        """Whether the gain in anonymity counts."""
        return self.score.endswith("privacy")

    @property
    def informed(self) -> bool:
        """Whether information about the class is weighed; otherwise the domain's share is."""
        return self.score.startswith("information")

    def joined(self, counts: Reals, prices: Reals, price: float) -> float:
        """What it costs to join some labels: rows by class of each, what a row costs under each, and what it then does.

        >>> scale = Scale(score="information", rows=4)
        >>> scale.joined(np.array([[2.0, 0.0], [0.0, 2.0]]), np.zeros(2), 0.0)
        1.0
        """
        rows = counts.sum(axis=1)
        whole = counts.sum(axis=0)
        if not self.informed:
            return float(rows.sum() * price - rows @ prices) / max(self.rows, 1)
        return float(entropy(whole[np.newaxis])[0] - rows @ entropy(counts) / max(whole.sum(), 1.0))

    def paired(
        self, counts: Reals, prices: Reals, left: NDArray[np.int64], right: NDArray[np.int64], price: Reals
    ) -> Reals:
        """The same for many pairs at once; ``left`` and ``right`` are places among the labels."""
        rows = counts.sum(axis=1)
        both = rows[left] + rows[right]
        if not self.informed:
            lost = both * price - rows[left] * prices[left] - rows[right] * prices[right]
            return np.asarray(lost / max(self.rows, 1))
        bits = entropy(counts)
        parted = rows[left] * bits[left] + rows[right] * bits[right]
        return np.asarray(entropy(counts[left] + counts[right]) - parted / np.maximum(both, 1.0))


def entropy(counts: Reals) -> Reals:
    """The entropy in bits of each line of counts; 0 for a line without any.

    >>> entropy(np.array([[1.0, 1.0], [2.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(np.abs((shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)))


# The labels of one column as they are joined step by step.


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A valid generalization: some labels of a column that one label would replace."""

    column: int
    """Which quasi-identifier."""
    kind: str
    """Whether it makes a ``node``, a ``set`` of siblings, an ``interval``, or puts a value under ``star``."""
    parts: tuple[int, ...]
    """The numbers of the labels that are replaced, in order."""
    cost: float
    """What is lost, by the score, without regard to anonymity."""
    label: str
    """The new label."""
    order: tuple[Any, ...]
    """Of offers that score alike in a column, the one with the smallest comes first."""
    node: int = -1
    """The node of the tree that it makes, or below which it does; or its place among the intervals."""


Mark = tuple[str, int, bytes]
"""What a generalization is, whichever others were made before it: its kind, its node and the values that it joins."""


class Parts(ABC):
    """All labels of one column, numbered; which are in use, and which generalizations are valid."""

    def __init__(self, problem: Problem, column: int, scale: Scale, capacity: int) -> None:
        """No label is there yet."""
        self.column, self.hierarchy, self.scale = column, problem.hierarchies[column], scale
        self.labels = [""] * capacity
        self.counts = np.zeros((capacity, self._classes(problem)))
        self.sizes, self.steps = np.zeros(capacity), np.zeros(capacity)
        self.prices = np.zeros(capacity)
        self.cost: Any = getattr(problem.metric, "cost", None)
        self.spent = 0.0
        self.live = np.zeros(capacity, np.bool_)
        self.above = np.arange(capacity, dtype=np.int32)
        self.first: Codes = np.zeros(0, np.int32)
        self.used = 0

    @abstractmethod
    def offers(self) -> Iterator[Offer]:
        """Every valid generalization."""

    @abstractmethod
    def cheapest(self) -> Offer | None:
        """The valid generalization that costs least, the first of those that cost the same."""

    @abstractmethod
    def holding(self, part: int) -> Iterator[Offer]:
        """Every valid generalization that replaces a label."""

    @abstractmethod
    def count(self) -> int:
        """How many valid generalizations there are."""

    @abstractmethod
    def take(self, offer: Offer) -> int:
        """Make a generalization; the number of the new label."""

    @abstractmethod
    def mark(self, offer: Offer) -> Mark:
        """By what a generalization is known again in another state of this column."""

    @abstractmethod
    def offered(self, mark: Mark) -> Offer | None:
        """The valid generalization that has a mark, if there is one."""

    @abstractmethod
    def again(self, marks: Sequence[Mark]) -> set[Mark]:
        """Make generalizations from the start, in order; which of them could be made."""

    @abstractmethod
    def cut(self) -> ColumnCut:
        """The labels in use, as a cut."""

    def copied(self) -> Self:
        """The same column, to be changed apart from this one."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray | list | dict):
                setattr(other, name, value.copy())
        return other

    @property
    def current(self) -> Codes:
        """For each label, the one that stands in its place now."""
        current = self.above
        while (current != (higher := current[current])).any():
            current = higher
        return current

    @property
    def now(self) -> Codes:
        """For each value of the column, the number of its label."""
        return self.current[self.first]

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which labels tell nothing: the top, and the missing value by itself."""
        missing = self.hierarchy.missing
        nothing = {TOP} if missing is None else {TOP, self.hierarchy.levels[0].labels[missing]}
        return np.array([label in nothing for label in self.labels], np.bool_)

    def ruler(self, parts: Sequence[int] | slice = slice(None)) -> Ruler:
        """How much labels hide; all of them, or some."""
        where = self.hierarchy
        return Ruler(
            sizes=self.sizes[parts],
            steps=self.steps[parts],
            total=where.total,
            height=where.height,
            continuous=where.continuous,
        )

    def price(self, sizes: Reals) -> Reals:
        """What a row costs under labels of such sizes, by the loss metric."""
        where = self.hierarchy
        ruler = Ruler(sizes=sizes, steps=sizes, total=where.total, height=where.height, continuous=where.continuous)
        return LossMetric().cost(ruler)

    def named(self, part: int, label: str, size: float, step: float) -> None:
        """Say what a label is."""
        self.labels[part], self.sizes[part], self.steps[part] = label, size, step
        self.prices[part] = self.price(np.array([size]))[0]

    def join(self, parts: Sequence[int], new: int) -> None:
        """Put a new label in the place of others."""
        chosen = list(parts)
        self.above[chosen] = new
        self.counts[new] = self.counts[chosen].sum(axis=0)
        self.spent += self._lost([new]) - self._lost(chosen)
        self.live[chosen] = False
        self.live[new] = True

    def begin(self) -> None:
        """The labels of single values are there."""
        self.live[self.first] = True
        self.spent = self._lost(np.flatnonzero(self.live).tolist())

    def _lost(self, parts: Sequence[int]) -> float:
        """What all rows of some labels cost, where the problem's metric adds up cells."""
        if self.cost is None:
            return 0.0
        return float(self.counts[parts].sum(axis=1) @ self.cost(self.ruler(parts)))

    def histogram(self, problem: Problem) -> Reals:
        """Rows by value and class."""
        cells, codes = problem.cells, problem.cells.keys[self.column].astype(np.int64)
        values, classes = len(self.hierarchy.levels[0].labels), self._classes(problem)
        if not self.scale.informed or problem.target is None:
            return weighed(codes, cells.sizes.astype(np.float64), values).reshape(values, 1)
        tally = cells.tally(problem.target)
        entries = codes[tally.owners] * classes + tally.codes
        return weighed(entries, tally.counts.astype(np.float64), values * classes).reshape(values, classes)

    def _classes(self, problem: Problem) -> int:
        if not self.scale.informed or problem.target is None:
            return 1
        return len(problem.cells.tally(problem.target).values)
