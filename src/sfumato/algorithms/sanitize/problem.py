"""The problem of hiding sensitive sets and rules, and removing items while supports are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.frequent_itemsets import FrequentItemsets, frequent_itemsets
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Holders, ItemCodes, Transactions

# What a method of hiding is given, and what it gives back.


Flags = NDArray[np.bool_]
Items = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedPattern:
    """A sensitive pattern by the numbers of its items."""

    left: Items
    """What a rule begins with; nothing for a set."""
    right: Items
    """What it tells, or the set."""

    @property
    def whole(self) -> Items:
        """The items of both sides, ascending."""
        return tuple(sorted((*self.left, *self.right)))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HidingProblem(Brief):
    """Records, what they must not yield, and what they should keep yielding."""

    transactions: Transactions
    """The records."""
    patterns: tuple[CodedPattern, ...]
    """What must not be found."""
    thresholds: Thresholds
    """Where somebody looks."""
    longest: int | None = None
    """The most items of a set that should be kept; None: of any size."""
    itemsets: FrequentItemsets
    """The frequent sets of the records."""

    @classmethod
    def of(
        cls,
        transactions: Transactions,
        patterns: Sequence[Pattern],
        thresholds: Thresholds,
        *,
        longest: int | None = None,
        work: Work | None = None,
    ) -> HidingProblem:
        """Count the frequent sets, and refuse a pattern that no record has."""
        place = {label: code for code, label in enumerate(transactions.labels)}
        coded = tuple(_coded(pattern, place) for pattern in dict.fromkeys(patterns))
        itemsets = frequent_itemsets(transactions, thresholds.least(transactions.rows), longest=longest, work=work)
        problem = cls(
            transactions=transactions, patterns=coded, thresholds=thresholds, longest=longest, itemsets=itemsets
        )
        _refuse_absent(transactions, dict(zip(dict.fromkeys(patterns), coded, strict=True)))
        return problem

    @cached_property
    def kept(self) -> tuple[tuple[Items, ...], NDArray[np.int64]]:
        """The frequent sets that need not be lost, with their records: those in which no sensitive set lies."""
        secret = [frozenset(pattern.whole) for pattern in self.patterns if not pattern.left]
        touched = frozenset[int]().union(*secret)
        sets, rows = [], []
        for items, many in self.itemsets.each():
            if touched.isdisjoint(items) or not any(secret_items.issubset(items) for secret_items in secret):
                sets.append(items)
                rows.append(many)
        return tuple(sets), np.array(rows, np.int64)


def _coded(pattern: Pattern, place: Mapping[str, int]) -> CodedPattern:
    absent = [item for item in pattern.whole if item not in place]
    if absent:
        raise DataError(f"the sensitive pattern {pattern.words} does not occur: no record has the item {absent[0]!r}")
    left, right = (tuple(sorted(place[item] for item in side)) for side in (pattern.left, pattern.right))
    return CodedPattern(left=left, right=right)


def _refuse_absent(transactions: Transactions, coded: Mapping[Pattern, CodedPattern]) -> None:
    from sfumato.counts.transactions import Holders

    holders = Holders(transactions)
    for pattern, coded_pattern in coded.items():
        if not len(holders.of_all(coded_pattern.whole)):
            raise DataError(f"the sensitive pattern {pattern.words} does not occur: no record has all of its items")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sanitized(Brief):
    """Records that no longer yield the sensitive patterns."""

    shown: Transactions
    """The records with what they surely have; records that were removed are not among them."""
    rows: NDArray[np.int64]
    """Which record of the original each of them was."""
    unknown: Transactions | None = None
    """Where items were blocked: the items that each record may have or not."""
    erased: int
    """How many items were taken out or blocked, records that were removed with all of theirs."""
    lost: int
    """How many of the frequent sets that need not be lost are not frequent any more; unknowns count as not had."""
    proven: bool = False
    """Whether no other choice of items loses fewer sets, or as many with fewer items taken out."""
    gap: float | None = None
    """Where an exact search was cut short: how much better, in lost sets, another choice could be at most."""
    method: str
    """The method."""
    why: str = ""
    """Why this one, where it was chosen for the plan."""
    effort: Mapping[str, int | float | str] = field(default_factory=dict)
    """What the search did."""


def without(transactions: Transactions, kept: Flags) -> tuple[Transactions, NDArray[np.int64]]:
    """The records with some of their entries, and the number of each."""
    return transactions.only(kept), np.arange(transactions.rows)


def entries(transactions: Transactions, rows: ItemCodes, item: int) -> NDArray[np.int64]:
    """Where one item stands in each of some records that have it."""
    starts, codes = transactions.starts, transactions.codes
    low, high = starts[rows].copy(), starts[rows + 1].copy()
    while True:
        open_ = high - low > 1
        if not open_.any():
            return low
        middle = (low + high) // 2
        right = open_ & (codes[middle] <= item)
        low, high = np.where(right, middle, low), np.where(open_ & ~right, middle, high)


# Taking items out of records one by one, while the supports of all sets that should be kept are known.


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
        rows = self.holders.of_all(items)
        for item in items:
            if item in self.touched:
                rows = rows[self.kept[entries(self.transactions, rows, item)]]
        return rows

    def among(self, rows: Rows, item: int) -> Flags:
        """Which of some records, ascending, still have an item."""
        mine = self.holders.of(item)
        if not len(mine):
            return np.zeros(len(rows), np.bool_)
        place = np.minimum(np.searchsorted(mine, rows), len(mine) - 1)
        has_item: Flags = mine[place] == rows
        if item in self.touched:
            has_item[has_item] = self.kept[entries(self.transactions, rows[has_item], item)]
        return has_item

    def holding(self, rows: Rows, items: Items, known: dict[int, Flags]) -> Flags:
        """Which of some records still have all of some items; ``known`` remembers what was asked about each item."""
        has_all = np.ones(len(rows), np.bool_)
        for item in items:
            if item not in known:
                known[item] = self.among(rows, item)
            has_all &= known[item]
        return has_all

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


def chosen(weights: NDArray[np.float64], need: int, sizes: NDArray[np.int64]) -> ItemCodes:
    """The places of the lightest, short records first among equals, ascending."""
    order = np.lexsort((sizes, weights))[:need]
    return np.sort(order).astype(np.int32)
