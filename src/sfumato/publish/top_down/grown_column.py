"""A column of numbers with nothing between number and top: an interval is replaced by two halves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.describe.rounding import roundest
from sfumato.publish.cut import ColumnCut, cut_of_intervals
from sfumato.publish.top_down.gain import best_by_gain, best_by_size
from sfumato.publish.top_down.splits import Counted, Rank, Score, Split, ruler_of
from sfumato.utility.view import Reals, Ruler


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
        middle, made = int(np.searchsorted(self._points, split.edge)), len(split.values)
        self._spans += [(first, middle), (middle, last), (0, 0)][:made]
        self._bounds += [(low, split.edge), (split.edge, high), (np.inf, np.inf)][:made]
        self._unknown += [False, False, True][:made]
        self._edges = sorted([*self._edges, split.edge])
        near = cut_of_intervals(self.hierarchy, self.numbers, [e for e in (low, split.edge, high) if np.isfinite(e)])
        shown = [int(near.of_code[np.argmax(self.of_code == value)]) for value in split.values]
        self._names += [near.labels[place] for place in shown]
        self._sizes += near.sizes[shown].tolist()
        self._steps += near.steps[shown].tolist()

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
