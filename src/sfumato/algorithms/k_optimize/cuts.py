"""Where columns can be cut, the table under some cuts, and the labels of the intervals between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.labels import Output, SetLabels, climbed, ranks, recoded_by_column, spans
from sfumato.algorithms.lattice.nodes import below
from sfumato.algorithms.problem import Problem, Recoded
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, representatives
from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import TOP, Hierarchy

# Where columns can be cut: between any two neighbours in the order of their values.


Flags = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cuts:
    """Every place where a column's ordered values can be cut, numbered through all columns.

    A set of cuts is an array of flags. It parts each column into intervals of values that follow each other.
    """

    orders: tuple[NDArray[np.int32], ...]
    """For each column, the codes of the values that occur, in their order."""
    places: NDArray[np.int32]
    """Columns x cells: the place of each cell's value in that order."""
    starts: tuple[int, ...]
    """The number of each column's first cut, and at the end how many cuts there are."""

    @classmethod
    def of(cls, problem: Problem) -> Cuts:
        """The cuts of a problem's table."""
        orders, places = [], []
        for column, codes in enumerate(problem.cells.keys):
            rank = ranks(problem, column)
            present = np.unique(codes)
            order = present[np.argsort(rank[present], kind="stable")]
            place = np.zeros(len(rank), np.int32)
            place[order] = np.arange(len(order), dtype=np.int32)
            orders.append(order.astype(np.int32))
            places.append(place[codes])
        starts = np.cumsum([0, *(max(len(order) - 1, 0) for order in orders)])
        return cls(
            orders=tuple(orders),
            places=np.array(places, np.int32).reshape(problem.cells.keys.shape),
            starts=tuple(int(start) for start in starts),
        )

    @property
    def count(self) -> int:
        """How many cuts there are."""
        return self.starts[-1]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.orders)

    def column(self, cut: int) -> int:
        """The column of a cut."""
        return int(np.searchsorted(self.starts, cut, side="right")) - 1

    def part(self, chosen: Flags, column: int) -> Flags:
        """The flags of one column's cuts."""
        return chosen[self.starts[column] : self.starts[column + 1]]

    def edges(self, chosen: Flags, column: int) -> Places:
        """The numbers of the chosen cuts of one column."""
        return np.flatnonzero(self.part(chosen, column)) + self.starts[column]

    def limits(self, chosen: Flags, column: int) -> tuple[Places, Places]:
        """The first and the last place of each interval of one column."""
        inner = self.part(chosen, column).nonzero()[0]
        lows, highs = np.zeros(len(inner) + 1, np.int64), np.zeros(len(inner) + 1, np.int64)
        lows[1:], highs[:-1], highs[-1] = inner + 1, inner, len(self.orders[column]) - 1
        return lows, highs

    def intervals(self, chosen: Flags, column: int) -> NDArray[np.int32]:
        """The interval of each place of one column."""
        return counted(self.part(chosen, column))


def counted(flags: Flags) -> NDArray[np.int32]:
    """How many flags are set before each place, one place more than there are flags.

    >>> counted(np.array([True, False, True])).tolist()
    [0, 1, 1, 2]
    """
    counts = np.zeros(len(flags) + 1, np.int32)
    flags.cumsum(out=counts[1:])
    return counts


# The table cut at some places, the finest that a part of the tree can still reach.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """The classes of the table cut at a set of places: no smaller set makes finer ones."""

    cuts: Cuts
    """All cuts of the table."""
    chosen: Flags
    """Those that are made here."""
    edges: tuple[Places, ...]
    """For each column, the numbers of its chosen cuts."""
    classes: Classes
    """The classes; their keys are interval numbers."""

    @classmethod
    def whole(cls, problem: Problem, cuts: Cuts) -> Frame:
        """The table cut everywhere, with the histograms that models and metric read."""
        needs, cells = problem.metric.needs, problem.cells
        read = [column for model in problem.models for column in model.columns]
        wanted = {*read, problem.target} if "target" in needs else {*read}
        chosen = np.ones(cuts.count, np.bool_)
        classes = replace(
            cells,
            keys=cuts.places,
            labels=_nameless(cuts, chosen),
            tallies={name: tally for name, tally in cells.tallies.items() if name in wanted},
            measures={name: cells.measures[name] for name in needs if name in cells.measures},
            wild=None,
            population=None,
        )
        return cls(cuts=cuts, chosen=chosen, edges=_edges(cuts, chosen), classes=classes)

    def coarser(self, chosen: Flags) -> tuple[Frame, Ids]:
        """The table cut at fewer places; also tells where each class went."""
        classes, ids = self.classes.recoded(self.lifts(chosen), _nameless(self.cuts, chosen))
        return Frame(cuts=self.cuts, chosen=chosen, edges=_edges(self.cuts, chosen), classes=classes), ids

    def lifts(self, chosen: Flags) -> list[NDArray[np.int32]]:
        """For each column, from the intervals here to those of fewer cuts."""
        return [counted(chosen[mine]) for mine in self.edges]

    def after(self, cut: int) -> Flags:
        """Which classes lie behind a cut."""
        column = self.cuts.column(cut)
        return np.asarray(self.classes.keys[column] > np.searchsorted(self.edges[column], cut))


def _edges(cuts: Cuts, chosen: Flags) -> tuple[Places, ...]:
    return tuple(cuts.edges(chosen, column) for column in range(cuts.columns))


def _nameless(cuts: Cuts, chosen: Flags) -> tuple[tuple[str, ...], ...]:
    """As many labels as there are intervals; their words do not matter before a release is made."""
    return tuple(("",) * (int(cuts.part(chosen, column).sum()) + 1) for column in range(cuts.columns))


# The best set of cuts so far.


class Best:
    """Keeps the set of cuts that loses least."""

    def __init__(self) -> None:
        """Nothing is found yet."""
        self.loss = np.inf
        self.head: Flags | None = None
        self.after = 0
        """How many nodes of the tree had been visited when it was found; 0 where the start found it."""

    @property
    def beaten(self) -> float:
        """Whatever cannot lose less than this is of no interest."""
        return below(self.loss) if np.isfinite(self.loss) else np.inf

    def offer(self, head: Flags, loss: float, after: int = 0) -> bool:
        """Take a set of cuts if it really loses less; tells whether it does."""
        better = loss < self.beaten
        if better:
            self.loss, self.head, self.after = loss, head, after
        return better


# What the words of a hierarchy stand for, and whether they can be mistaken for each other.


Sets = Sequence[frozenset[int]]


def word_values(hierarchy: Hierarchy) -> dict[str, list[frozenset[int]]]:
    """The sets of values that each word below the top stands for."""
    meanings: dict[str, list[frozenset[int]]] = {}
    for level in hierarchy.levels[:-1]:
        order = np.argsort(level.parent, kind="stable")
        parts = np.split(order, np.searchsorted(level.parent[order], np.arange(1, len(level.labels))))
        for label, part in zip(level.labels, parts, strict=True):
            covered = frozenset(part.tolist())
            if covered not in meanings.setdefault(label, []):
                meanings[label].append(covered)
    return meanings


def apart(words: Mapping[str, Sets]) -> bool:
    """Whether sets with the same word always share a value, and no word looks like a list of values.

    >>> apart({"a": [frozenset({1}), frozenset({1, 2})]}), apart({"a": [frozenset({1}), frozenset({2})]})
    (True, False)
    """
    shared = (all(first & other for first in sets for other in sets) for sets in words.values())
    return all(shared) and not any(word.startswith("{") or word == TOP for word in words)


# How much a box over values that follow each other hides, without making its words.


class Boxes:
    """The boxes of one column: the same figures as ``labels.recoded`` gives for them."""

    def __init__(self, problem: Problem, column: int, order: NDArray[np.int32]) -> None:
        """``order`` holds the codes of the column's values in their order."""
        self.hierarchy, self.order = problem.hierarchies[column], order
        numbers = problem.scale(column)
        self._sets = SetLabels(self.hierarchy)
        self._widths = None if numbers is None else spans(self.hierarchy, numbers)
        absent = -1 if self.hierarchy.missing is None else self.hierarchy.missing
        self._missing = order.tolist().index(absent) if absent in order else -1

    def ruler(self, lows: Places, highs: Places) -> Ruler:
        """One label for each run of values from a first to a last place."""
        figures = np.array([self._figures(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)])
        hierarchy = self.hierarchy
        return Ruler(
            sizes=figures[:, 0],
            steps=figures[:, 1],
            total=hierarchy.total,
            height=hierarchy.height,
            continuous=hierarchy.continuous,
        )

    def _figures(self, low: int, high: int) -> tuple[float, float]:
        """Size and steps: a leaf for one value, everything for ``*``, else as much as the values span."""
        hierarchy, many = self.hierarchy, high - low + 1
        if many == 1:
            return (0.0 if hierarchy.continuous and self._widths is not None else 1.0), 0.0
        if low <= self._missing <= high:
            return hierarchy.total, float(hierarchy.height)
        if self._widths is not None:
            size = self._widths(int(self.order[low]), int(self.order[high]))
        else:
            size = self._sets.of_run(self.order[low : high + 1].tolist()).size
        return size, climbed(hierarchy, size)


# What an interval of a column's values shows, and what it costs.


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
        return [entry for part in parts for entry in self._recoded(column, part)]

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
        recoding = recoded_by_column(replace(whole, cells=cells), [groups], [len(fresh)], self.output)
        labels = recoding.keys[0][representatives(groups, len(fresh))]
        costs = np.zeros(len(recoding.labels[0])) if self._cost is None else self._cost(recoding.rulers[0])
        return [(recoding.labels[0][label], float(costs[label])) for label in labels]


def _known(
    known: dict[Interval, Found], lows: Places, highs: Places, find: Callable[[list[Interval]], list[Found]]
) -> list[Found]:
    """What is known of each interval, after what is not has been found."""
    intervals = list(zip(lows.tolist(), highs.tolist(), strict=True))
    fresh = [interval for interval in dict.fromkeys(intervals) if interval not in known]
    if fresh:
        known.update(zip(fresh, find(fresh), strict=True))
    return [known[interval] for interval in intervals]


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
