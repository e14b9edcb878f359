"""What an interval of a column's values shows, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from sfumato.describe.hierarchy import TOP
from sfumato.group.classes import Classes
from sfumato.group.keys import representatives
from sfumato.publish.k_optimize.ambiguity import apart, word_values
from sfumato.publish.k_optimize.boxes import Boxes
from sfumato.publish.k_optimize.cuts import Cuts, Flags, Places
from sfumato.publish.labels import Output, recoded_by_column
from sfumato.publish.problem import Problem, Recoded
from sfumato.publish.set_labels import SetLabels
from sfumato.utility.view import Reals, Ruler

Cost = Callable[[Ruler], Reals]
Interval = tuple[int, int]
Found = TypeVar("Found", str, float)
_TOGETHER = 256
"""How many intervals are worded at once."""


class Intervals:
    """The words of intervals and their costs, each found once."""

    def __init__(self, problem: Problem, cuts: Cuts, output: Output, cost: Cost | None = None) -> None:
        """``cost`` says what each label of a ruler costs; without it every interval costs nothing."""
        self.cuts, self.output, self._cost = cuts, output, cost
        self.hierarchies = problem.hierarchies
        self._numbers = [problem.scale(c) is not None for c in range(cuts.columns)]
        boxed = [output == "boxes" and numbers for numbers in self._numbers]
        self._meanings = [{} if b else word_values(h) for b, h in zip(boxed, problem.hierarchies, strict=True)]
        self._listed = all(
            numbers or SetLabels(h).always_listed(order.tolist())
            for numbers, h, order in zip(self._numbers, problem.hierarchies, cuts.orders, strict=True)
        )
        self._values = [_values(problem, c, order) for c, order in enumerate(cuts.orders)]
        self._boxes = [Boxes(problem, c, order) for c, order in enumerate(cuts.orders)]
        self._words: list[dict[Interval, str]] = [{} for _ in cuts.orders]
        self._costs: list[dict[Interval, float]] = [{} for _ in cuts.orders]

    def costs(self, column: int, lows: Places, highs: Places) -> Reals:
        """What a cell in each interval costs."""
        if self._cost is None:
            return np.zeros(len(lows))
        price = self._boxed if self.output == "boxes" else self._labelled
        return np.array(_known(self._costs[column], lows, highs, lambda fresh: price(column, fresh)))

    def words(self, column: int, lows: Places, highs: Places) -> list[str]:
        """What each interval shows."""
        return _known(self._words[column], lows, highs, lambda fresh: [word for word, _ in self._made(column, fresh)])

    def apart(self, chosen: Flags) -> bool:
        """Whether no two intervals of one column read alike."""
        if self.always_apart:
            return True
        words = (self.words(c, *self.cuts.limits(chosen, c)) for c in range(self.cuts.columns))
        return all(len(set(mine)) == len(mine) for mine in words)

    @cached_property
    def always_apart(self) -> bool:
        """Whether disjoint intervals of one column can never read alike."""
        return self.output == "boxes" and self._listed and all(map(apart, self._meanings))

    def shown(self, chosen: Flags, column: int) -> Recoded:
        """The labels of one column's values, one value per cell, in their order."""
        groups = self.cuts.intervals(chosen, column).astype(np.int64)
        return recoded_by_column(self._values[column], [groups], [int(groups[-1]) + 1], self.output)

    def unknown(self, column: int, words: list[str]) -> Flags:
        """Which words of a column tell nothing: that of the missing value, and ``*``."""
        hierarchy = self.hierarchies[column]
        nothing = {TOP} if hierarchy.missing is None else {TOP, hierarchy.levels[0].labels[hierarchy.missing]}
        return np.array([word in nothing for word in words], np.bool_)

    def _boxed(self, column: int, fresh: list[Interval]) -> list[float]:
        costs = self._boxes[column].ruler(*np.array(fresh, np.int64).reshape(-1, 2).T)
        return [] if self._cost is None else self._cost(costs).tolist()

    def _labelled(self, column: int, fresh: list[Interval]) -> list[float]:
        return [cost for _, cost in self._made(column, fresh)]

    def _made(self, column: int, fresh: list[Interval]) -> list[tuple[str, float]]:
        """Word and cost of intervals, many at once where each word stands for one set of values."""
        step = _TOGETHER if all(len(sets) == 1 for sets in self._meanings[column].values()) else 1
        parts = [fresh[first : first + step] for first in range(0, len(fresh), step)]
        return [one for part in parts for one in self._recoded(column, part)]

    def _recoded(self, column: int, fresh: list[Interval]) -> list[tuple[str, float]]:
        """Word and cost of some intervals, as if each of them were a group of a table.

        The ends tell all about a box of numbers, and about the lowest label over values in the order of their taxonomy.
        """
        whole = self._values[column]
        ends = self._numbers[column] == (self.output == "boxes")
        inside: list[Sequence[int]] = [[low, high] if ends else range(low, high + 1) for low, high in fresh]
        groups = np.repeat(np.arange(len(fresh)), [len(places) for places in inside])
        keys = whole.cells.keys[:, np.concatenate(inside)]
        cells = replace(whole.cells, keys=keys, sizes=np.ones(len(groups), np.int64))
        made = recoded_by_column(replace(whole, cells=cells), [groups], [len(fresh)], self.output)
        labels = made.keys[0][representatives(groups, len(fresh))]
        costs = np.zeros(len(made.labels[0])) if self._cost is None else self._cost(made.rulers[0])
        return [(made.labels[0][label], float(costs[label])) for label in labels]


def _known(
    known: dict[Interval, Found], lows: Places, highs: Places, find: Callable[[list[Interval]], list[Found]]
) -> list[Found]:
    """What is known of each interval, after what is not has been found."""
    asked = list(zip(lows.tolist(), highs.tolist(), strict=True))
    fresh = [one for one in dict.fromkeys(asked) if one not in known]
    if fresh:
        known.update(zip(fresh, find(fresh), strict=True))
    return [known[one] for one in asked]


def _values(problem: Problem, column: int, order: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Problem:
    """One column's values as a table of their own, a cell for each, in their order."""
    cells = Classes(
        quasi=problem.cells.quasi[column : column + 1],
        keys=order.reshape(1, -1),
        labels=problem.cells.labels[column : column + 1],
        sizes=np.ones(len(order), np.int64),
    )
    here = slice(column, column + 1)
    return replace(
        problem,
        cells=cells,
        hierarchies=problem.hierarchies[here],
        numbers=problem.numbers[here],
        days=problem.days[here],
    )
