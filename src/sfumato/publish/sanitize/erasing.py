"""Taking items out of records one by one, while the supports of all sets that should be kept are known."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sfumato.group.holders import Holders
from sfumato.group.transactions import Codes
from sfumato.publish.sanitize.hiding_problem import CodedPattern, Flags, HidingProblem, Items, Sanitized, entries

Rows = NDArray[np.int32]


class Erasing:
    """The records of a problem with what was taken out so far."""

    def __init__(self, problem: HidingProblem) -> None:
        self.problem = problem
        self.transactions = problem.transactions
        self.kept: Flags = np.ones(len(self.transactions.codes), np.bool_)
        self.holders = Holders(self.transactions)
        self.sets, supports = problem.kept
        self.supports = supports.copy()
        self.of_item: dict[int, list[int]] = {}
        for place, items in enumerate(self.sets):
            for item in items:
                self.of_item.setdefault(item, []).append(place)
        self.least = problem.thresholds.least(self.transactions.rows)
        self.touched: set[int] = set()

    @property
    def slack(self) -> NDArray[np.int64]:
        """How many records each set can still lose; below zero where it is lost."""
        return self.supports - self.least

    def rows_with(self, items: Iterable[int]) -> Rows:
        """The records that still have all of some items."""
        items = tuple(items)
        found = self.holders.of_all(items)
        for item in items:
            if item in self.touched:
                found = found[self.kept[entries(self.transactions, found, item)]]
        return found

    def among(self, rows: Rows, item: int) -> Flags:
        """Which of some records, ascending, still have an item."""
        mine = self.holders.of(item)
        if not len(mine):
            return np.zeros(len(rows), np.bool_)
        place = np.minimum(np.searchsorted(mine, rows), len(mine) - 1)
        found: Flags = mine[place] == rows
        if item in self.touched:
            found[found] = self.kept[entries(self.transactions, rows[found], item)]
        return found

    def holding(self, rows: Rows, items: Items, known: dict[int, Flags]) -> Flags:
        """Which of some records still have all of some items; ``known`` remembers what was asked about each item."""
        found = np.ones(len(rows), np.bool_)
        for item in items:
            if item not in known:
                known[item] = self.among(rows, item)
            found &= known[item]
        return found

    def erase(self, rows: Rows, item: int) -> None:
        """Take an item out of records that have it, ascending."""
        known: dict[int, Flags] = {}
        for place in self.of_item.get(item, ()):
            self.supports[place] -= int(self.holding(rows, self.sets[place], known).sum())
        self.kept[entries(self.transactions, rows, item)] = False
        self.touched.add(item)

    def need(self, pattern: CodedPattern, *, by_support: bool = False) -> int:
        """How many records must lose an item of the right side (``by_support``: of either) to hide a pattern."""
        whole = len(self.rows_with(pattern.whole))
        left = len(self.rows_with(pattern.left)) if pattern.left and not by_support else None
        return fewest(self.problem, whole, left, self.transactions.rows)

    def done(self, pattern: CodedPattern) -> bool:
        """Whether a pattern is hidden."""
        return self.need(pattern) == 0

    def result(self, method: str, **more: object) -> Sanitized:
        """The records as they are now."""
        return Sanitized(
            shown=self.transactions.only(self.kept),
            rows=np.arange(self.transactions.rows),
            erased=int((~self.kept).sum()),
            lost=int((self.slack < 0).sum()),
            method=method,
            **more,  # type: ignore[arg-type]
        )


def fewest(problem: HidingProblem, whole: int, left: int | None, rows: int) -> int:
    """How many of ``whole`` records must lose an item of the right side, so that the pattern is hidden."""
    thresholds = problem.thresholds
    if whole == 0 or thresholds.hidden(whole, left, rows):
        return 0
    by_support = whole - thresholds.most_hidden(rows)
    if left is None:
        return by_support
    limit = thresholds.sure * left
    most = -(-limit.numerator // limit.denominator) - 1  # the largest whole number below the limit
    return min(by_support, whole - max(int(most), 0))


def chosen(weights: NDArray[np.float64], need: int, sizes: NDArray[np.int64]) -> Codes:
    """The places of the lightest, short records first among equals, ascending."""
    order = np.lexsort((sizes, weights))[:need]
    return np.sort(order).astype(np.int32)
