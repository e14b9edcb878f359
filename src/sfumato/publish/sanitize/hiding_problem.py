"""What a method of hiding is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError
from sfumato.ground.work import Work
from sfumato.group.frequent_itemsets import FrequentItemsets, frequent_itemsets
from sfumato.group.sensitive_patterns import Pattern, Thresholds
from sfumato.group.transactions import Codes, Transactions

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
        coded = tuple(_coded(one, place) for one in dict.fromkeys(patterns))
        found = frequent_itemsets(transactions, thresholds.least(transactions.rows), longest=longest, work=work)
        made = cls(transactions=transactions, patterns=coded, thresholds=thresholds, longest=longest, itemsets=found)
        _refuse_absent(transactions, dict(zip(dict.fromkeys(patterns), coded, strict=True)))
        return made

    @cached_property
    def kept(self) -> tuple[tuple[Items, ...], NDArray[np.int64]]:
        """The frequent sets that need not be lost, with their records: those in which no sensitive set lies."""
        secret = [frozenset(one.whole) for one in self.patterns if not one.left]
        touched = frozenset[int]().union(*secret)
        sets, rows = [], []
        for items, many in self.itemsets.each():
            if touched.isdisjoint(items) or not any(one.issubset(items) for one in secret):
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
    from sfumato.group.holders import Holders

    holders = Holders(transactions)
    for pattern, one in coded.items():
        if not len(holders.of_all(one.whole)):
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


def entries(transactions: Transactions, rows: Codes, item: int) -> NDArray[np.int64]:
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
