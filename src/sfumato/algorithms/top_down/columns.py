"""Columns that are specialized from the top: trees, grown intervals, and the gain of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut, cut_of_intervals, cut_of_nodes
from sfumato.algorithms.problem import Problem
from sfumato.counts.sources import ROWS, CutSource, Figure, Numbers, by_value
from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import TOP, Hierarchy
from sfumato.tables.labels import roundest
from sfumato.tables.table import Codes
from sfumato.tables.taxonomy import Taxonomy

# What columns share: labels by number, what would replace a label, and the records that a column is scored by.
#
# Labels go by number: node numbers of a taxonomy; of intervals, the order in which they were made. 0 is the root.


Score = Literal["gain", "discernibility"]
Rank = tuple[str | float, int]
"""By which labels of one column stand where they are equally good: the label's text or lower end, and its number."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """A label and what would replace it."""

    value: int
    """The label."""
    values: Codes
    """The labels below."""
    child_of: Codes
    """For each value of the column (by code) under the label, which of them."""
    edge: float = nan
    """For an interval, where its second half begins."""
    apart: bool = False
    """Whether the last of the labels below stands for the missing value and is new."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """The records of the whole table by the values of one column."""

    rows: Numbers
    """For each value (by code), its rows."""
    figures: Reals
    """Values x figures: the rows of each class for the gain; for discernibility the rows."""


def counted(problem: Problem, source: CutSource, score: Score) -> tuple[Counted, ...]:
    """All columns, counted."""
    classes = classes_of(problem) if score == "gain" else ()
    walk = source.root((ROWS, *classes))
    tables = [walk.histogram(by_value(place, len(names)))[0] for place, names in enumerate(problem.cells.labels)]
    return tuple(
        Counted(rows=table[:, 0], figures=table[:, 1:].astype(np.float64) if classes else table.astype(np.float64))
        for table in tables
    )


def classes_of(problem: Problem) -> tuple[Figure, ...]:
    """The rows of each class, as figures."""
    if problem.target is None:
        return ()
    return tuple((problem.target, (code,)) for code in range(len(problem.cells.tally(problem.target).values)))


def ruler_of(hierarchy: Hierarchy, sizes: Reals, steps: Reals) -> Ruler:
    """How much labels hide, given their sizes and steps."""
    return Ruler(
        sizes=sizes, steps=steps, total=hierarchy.total, height=hierarchy.height, continuous=hierarchy.continuous
    )


# Information gain, and where an interval is best split.


_TIE = 1e-12


def bits(counts: NDArray[np.float64]) -> Reals:
    """Rows times entropy of the class, along the last axis.

    >>> (bits(np.array([[5.0, 6.0], [5.0, 1.0], [0.0, 5.0]])) / [11, 6, 5]).round(4).tolist()
    [0.994, 0.65, 0.0]
    """
    return np.asarray(_each(counts.sum(axis=-1)) - _each(counts).sum(axis=-1))


def gain(whole: NDArray[np.float64], parts: NDArray[np.float64]) -> float:
    """The information gain of dividing records with these class counts into parts with those.

    >>> round(gain(np.array([5.0, 6.0]), np.array([[5.0, 1.0], [0.0, 5.0]])), 4)
    0.6395
    """
    rows = float(whole.sum())
    return float(bits(whole) - bits(parts).sum()) / rows if rows else 0.0


def best_by_gain(counts: NDArray[np.float64], apart: NDArray[np.float64], window: tuple[int, int]) -> tuple[int, float]:
    """After which of the values (lines of class counts) the gain is highest, and that gain; of equals the first.

    ``apart`` are the class counts of records that have none of the values and are a part of their own. Only places in
    the window are looked at.
    """
    before = np.cumsum(counts, axis=0)[:-1]
    known = counts.sum(axis=0)
    rows = float(known.sum() + apart.sum())
    left = bits(known + apart) - bits(apart) - bits(before) - bits(known - before)
    seen = left[window[0] : window[1]]
    place = window[0] + int(np.argmax(seen >= seen.max() - _TIE * rows))
    return place, float(left[place]) / rows


def best_by_size(rows: NDArray[np.float64], window: tuple[int, int]) -> int:
    """After which of the values in the window the squares of both halves' rows add up to least; of equals the first.

    >>> best_by_size(np.array([5.0, 1.0, 3.0, 1.0]), (0, 3))
    0
    """
    before = np.cumsum(rows)[:-1]
    squares = before**2 + (rows.sum() - before) ** 2
    return window[0] + int(np.argmin(squares[window[0] : window[1]]))


def _each(x: NDArray[np.float64]) -> Reals:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))


# A column of numbers with nothing between number and top: an interval is replaced by two halves.


class GrownColumn:
    """The current intervals; below the root the missing value has a label of its own."""

    def __init__(self, hierarchy: Hierarchy, counted: Counted, numbers: Reals, score: Score) -> None:
        """Everything in the root interval."""
        self.hierarchy, self.numbers = hierarchy, numbers
        self.of_code: Codes = np.zeros(len(numbers), np.int32)
        self._missing, self._by_gain = np.isnan(numbers), score == "gain"
        seen = ~self._missing & (counted.rows > 0)
        self._points, places = np.unique(numbers[seen], return_inverse=True)
        self._figures = np.zeros((len(self._points), counted.figures.shape[1]))
        np.add.at(self._figures, places.reshape(-1), counted.figures[seen])
        self._apart = counted.figures[self._missing].sum(axis=0)
        self._edges: list[float] = []
        self._spans, self._bounds, self._unknown = [(0, len(self._points))], [(-np.inf, np.inf)], [False]
        self._names, self._sizes, self._steps = [TOP], [hierarchy.total], [float(hierarchy.height)]
        self._best: dict[int, tuple[int, float]] = {}
        self._window: dict[int, tuple[int, int]] = {}

    @property
    def values(self) -> int:
        """How many labels were made: the root, intervals, and the missing value's."""
        return len(self._spans)

    def is_open(self, value: int) -> bool:
        """Whether an interval holds at least two numbers."""
        first, last = self._spans[value]
        return last - first > 1

    def gain(self, value: int) -> float:
        """The information gain of an interval's best split."""
        return self._split(value)[1]

    def rank(self, value: int) -> Rank:
        """Of equally good intervals the lowest comes first."""
        return self._bounds[value][0], value

    def split(self, value: int) -> Split:
        """An interval and its halves; under the root also the missing value."""
        place = self._spans[value][0] + self._split(value)[0]
        return self.split_at(value, roundest(float(self._points[place]), float(self._points[place + 1])))

    def split_at(self, value: int, edge: float) -> Split:
        """An interval and its halves, where it is known at which number the second one begins."""
        apart = not value and bool(self._missing.any())
        child_of = np.where(self._missing, 2 * apart, self.numbers >= edge).astype(np.int32)
        values = self.values + np.arange(2 + apart, dtype=np.int32)
        return Split(value=value, values=values, child_of=child_of, edge=edge, apart=apart)

    def retry(self, value: int) -> bool:
        """Give up an interval's best split and all that leave its smaller half still smaller; whether any is left."""
        first, last = self._spans[value]
        place = self._split(value)[0]
        rows = self._figures[first:last].sum(axis=1)
        return self.narrow(value, smaller_left=bool(2 * rows[: place + 1].sum() <= rows.sum()))

    def narrow(self, value: int, *, smaller_left: bool) -> bool:
        """The same, where it is known which half of the best split is the smaller one."""
        low, high = self.window(value)
        place = self._best.pop(value)[0]
        self._window[value] = (place + 1, high) if smaller_left else (low, place)
        return self._window[value][0] < self._window[value][1]

    def window(self, value: int) -> tuple[int, int]:
        """At which places an interval may be split: from the first to below the second."""
        first, last = self._spans[value]
        return self._window.get(value, (0, last - first - 1))

    def assume_every_number(self) -> None:
        """Take all declared numbers for ones that occur: where it is hidden which do."""
        self._points = np.unique(self.numbers[~self._missing])
        self._figures = np.zeros((len(self._points), self._figures.shape[1]))
        self._spans = [(0, len(self._points))]

    def inside(self, value: int) -> Reals:
        """The numbers of an interval, ascending."""
        first, last = self._spans[value]
        return np.asarray(self._points[first:last])

    def settle(self, value: int, place: int) -> None:
        """Say after which of its numbers an interval is best split, where that was found elsewhere."""
        self._best[value] = (place, 0.0)

    def take(self, split: Split) -> None:
        """Replace the interval."""
        under = self.of_code == split.value
        self.of_code[under] = split.values[split.child_of[under]]
        first, last = self._spans[split.value]
        low, high = self._bounds[split.value]
        middle, n_values = int(np.searchsorted(self._points, split.edge)), len(split.values)
        self._spans += [(first, middle), (middle, last), (0, 0)][:n_values]
        self._bounds += [(low, split.edge), (split.edge, high), (np.inf, np.inf)][:n_values]
        self._unknown += [False, False, True][:n_values]
        self._edges = sorted([*self._edges, split.edge])
        near = cut_of_intervals(self.hierarchy, self.numbers, [e for e in (low, split.edge, high) if np.isfinite(e)])
        places = [int(near.of_code[np.argmax(self.of_code == value)]) for value in split.values]
        self._names += [near.labels[place] for place in places]
        self._sizes += near.sizes[places].tolist()
        self._steps += near.steps[places].tolist()

    def names(self) -> list[str]:
        """What each label is called."""
        return self._names

    def cut(self) -> ColumnCut:
        """The labels that are shown."""
        return cut_of_intervals(self.hierarchy, self.numbers, self._edges)

    def unknown(self) -> NDArray[np.bool_]:
        """Which label stands for the missing value."""
        return np.array(self._unknown, np.bool_)

    def ruler(self) -> Ruler:
        """How much each label hides."""
        return ruler_of(self.hierarchy, np.array(self._sizes), np.array(self._steps))

    def _split(self, value: int) -> tuple[int, float]:
        """After which number of the interval it is best split, and the gain where that is the score."""
        if value not in self._best:
            first, last = self._spans[value]
            figures = self._figures[first:last]
            apart = self._apart if not value else np.zeros(figures.shape[1])
            window = self.window(value)
            best = best_by_gain(figures, apart, window) if self._by_gain else (best_by_size(figures[:, 0], window), 0.0)
            self._best[value] = best
        return self._best[value]


# A column with a taxonomy: a node is replaced by all its children.


class TreeColumn:
    """The current cut through a taxonomy."""

    def __init__(self, hierarchy: Hierarchy, counted: Counted) -> None:
        """Everything at the root."""
        self.hierarchy = hierarchy
        self.tree: Taxonomy = hierarchy.tree()
        self.of_code: Codes = np.zeros(len(self.tree.leaf), np.int32)
        self.values = len(self.tree.labels)
        self._figures = _below(self.tree, counted.figures)
        self._ends = frozenset(self.tree.leaf.tolist())

    def is_open(self, value: int) -> bool:
        """Whether there is anything below; a node that is itself a value of the column stays."""
        return bool(self.tree.children[value]) and value not in self._ends

    def gain(self, value: int) -> float:
        """The information gain of replacing a node."""
        return gain(self._figures[value], self._figures[list(self.tree.children[value])])

    def rank(self, value: int) -> Rank:
        """Of equally good nodes the first by name comes first."""
        return self.tree.labels[value], value

    def split(self, value: int) -> Split:
        """A node and its children."""
        children = np.array(self.tree.children[value], np.int32)
        child_of = np.searchsorted(children, self.tree.leaf, side="right") - 1
        return Split(value=value, values=children, child_of=np.clip(child_of, 0, None).astype(np.int32))

    def retry(self, value: int) -> bool:
        """A node can be replaced in one way only."""
        return False

    def take(self, split: Split) -> None:
        """Replace the node."""
        under = self.of_code == split.value
        self.of_code[under] = split.values[split.child_of[under]]

    def names(self) -> list[str]:
        """What each node is called: as in the cut if it is shown, else by its parent too if two have its name."""
        times = Counter(self.tree.labels)
        above = [self.tree.labels[node] for node in self.tree.parent]
        names = [
            name if times[name] == 1 else f"{name} ({parent})"
            for name, parent in zip(self.tree.labels, above, strict=True)
        ]
        cut = self.cut()
        for node, place in zip(self.of_code.tolist(), cut.of_code.tolist(), strict=True):
            names[node] = cut.labels[place]
        return names

    def cut(self) -> ColumnCut:
        """The labels that are shown."""
        return cut_of_nodes(self.tree, self.of_code)

    def unknown(self) -> NDArray[np.bool_]:
        """Which nodes stand for the missing value."""
        flags = np.zeros(self.values, np.bool_)
        if self.hierarchy.missing is not None:
            flags[self.tree.leaf[self.hierarchy.missing]] = True
        return flags

    def ruler(self) -> Ruler:
        """How much each node hides."""
        return ruler_of(self.hierarchy, self.tree.sizes, self.tree.steps)


def _below(tree: Taxonomy, figures: Reals) -> Reals:
    """Nodes x figures: the sums below each node."""
    own = np.zeros((len(tree.labels) + 1, figures.shape[1]))
    np.add.at(own, tree.leaf + 1, figures)
    upto = np.cumsum(own, axis=0)
    return np.asarray(upto[tree.last + 1] - upto[np.arange(len(tree.labels))])


# The columns of a problem as trees to be cut from the root downwards.


Column = TreeColumn | GrownColumn


def columns(problem: Problem, score: Score, counted: Sequence[Counted]) -> tuple[Column, ...]:
    """The columns, all at the root; intervals are grown where a number has nothing but the top above it."""
    columns: list[Column] = []
    for place, (hierarchy, mine) in enumerate(zip(problem.hierarchies, counted, strict=True)):
        numbers = problem.number(place)
        if numbers is not None and hierarchy.height == 1:
            columns.append(GrownColumn(hierarchy, mine, numbers, score))
        else:
            columns.append(TreeColumn(hierarchy, mine))
    return tuple(columns)
