"""Models for records that are sets of items: k^m-anonymity and rho-uncertainty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, between
from sfumato.core.errors import ParameterError, listed
from sfumato.core.run_context import Work
from sfumato.counts.itemsets import Itemsets, Level, known_sets, violating
from sfumato.counts.transactions import ItemCodes, Transactions
from sfumato.models.model import Verdict, stands, texts

# What a model of bounded knowledge says about records that are sets of items.


class ItemModel(Protocol):
    """A privacy model for baskets, paths and mixed records: which sets of items must not stand as they are.

    ``transactions.secret`` is the model's sensitive column where it has one.
    """

    name: ClassVar[str]
    """The model's name in the literature, as the catalog lists it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column that it looks at, if any."""

    @property
    def generalizes(self) -> bool:
        """Whether showing coarser items can mend what it refuses."""

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        """Minimal sets of items of which one must go; of at most ``most`` items, where that is less than it asks."""

    def allows(self, rows: int, top: int) -> bool:
        """Whether a set that so many rows have, of which so many share one watched value, may stand."""

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        """Judge records."""


def extremes(levels: Iterable[Level], rows: int) -> tuple[int, float, int]:
    """The fewest rows of a known set, the largest share of a watched value, and how many sets are beyond the limits."""
    fewest, surest, bad = rows, 0.0, 0
    for level in levels:
        if len(level.rows):
            fewest, surest = min(fewest, int(level.rows.min())), max(surest, float((level.top / level.rows).max()))
        bad += int((~level.good).sum())
    return fewest, surest, bad


def numbered(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """So many failing sets, as a verdict names them."""
    return np.arange(count, dtype=np.int64)


# k^m-anonymity: whoever knows up to m items of somebody finds at least k records.


@dataclass(frozen=True, slots=True, kw_only=True)
class KMAnonymity:
    """Every set of at most ``m`` items that a record has, at least ``k`` records have.

    Claim: whoever knows at most ``m`` items of a person finds at least ``k`` records that may be theirs. Where an item
        is shown differently in different records this holds for labels that cover what they know: the labels of one
        such record that cover it are at most ``m``, and ``k`` records have them.
    Cost: the number of sets of up to ``m`` items that records have.
    Source: Terrovitis, Mamoulis, Kalnis 2008.
    Does not protect against: an adversary who knows more items, or that an item is not there; what the ``k`` records
        have in common.

    Example:
        >>> table = Transactions.of([["beer", "bread"], ["beer", "bread"], ["bread"]])
        >>> KMAnonymity(k=2, m=2).check_items(table).holds
        True
    """

    name: ClassVar[str] = "km-anonymity"
    """As the catalog lists it."""

    k: int
    """How many records every known set must have."""
    m: int
    """The most items that an adversary knows."""

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)
        at_least("m", self.m, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """It looks at no sensitive column."""
        return ()

    @property
    def generalizes(self) -> bool:
        """Coarser items have more records."""
        return True

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        """The minimal sets of at most ``m`` items that fewer than ``k`` records have."""
        return violating(transactions, l=min(self.m, most or self.m), k=self.k, c=1.0, listed=listed, work=work)

    def allows(self, rows: int, top: int) -> bool:
        """Whether a set with so many rows may stand."""
        return rows >= self.k

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        """Judge every set of up to ``m`` items."""
        levels = known_sets(transactions, l=self.m, k=self.k, c=1.0, work=work)
        fewest, _, bad = extremes(levels, transactions.rows)
        return Verdict(
            holds=not bad, reached=float(fewest), limit=float(self.k), sense="at least", failing=numbered(bad)
        )


# rho-uncertainty: no items of somebody tell a sensitive item too surely.


MOST_SETS = 50_000_000
"""More sets of items than this are not looked at; then the adversary's knowledge must be bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RhoUncertainty:
    """Of the records that have some items, at most a share ``rho`` has any one sensitive item besides.

    Claim: whoever knows items of a person, sensitive ones among them or not, infers another sensitive item with
        confidence at most ``rho``. With ``l``, whoever knows at most ``l`` items. Where items are shown coarser, alike
        in all records and none of the sensitive ones, the original items that somebody knows are at most as many
        labels, so that judging sets of labels judges them too.
    Cost: the number of sets of up to ``l`` + 1 items that records have; without ``l`` of all of them, so it is for
        short records only.
    Source: Cao, Karras, Raissi, Tan 2010.
    Does not protect against: finding somebody's record; items that are not named as sensitive.

    Example:
        >>> table = Transactions.of([["tea", "test"], ["tea"], ["tea"]])
        >>> RhoUncertainty(rho=0.5, sensitive=("test",)).check_items(table).holds
        True
    """

    name: ClassVar[str] = "rho-uncertainty"
    """As the catalog lists it."""

    rho: float
    """The largest confidence."""
    sensitive: tuple[str, ...]
    """The sensitive items."""
    l: int | None = None
    """The most items that an adversary knows; none means any number."""

    def __post_init__(self) -> None:
        between("rho", self.rho, 0, 1, open_low=True)
        texts("sensitive", self.sensitive)
        if not self.sensitive:
            raise ParameterError("sensitive must name at least one item")
        if self.l is not None:
            at_least("l", self.l, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """It looks at no sensitive column."""
        return ()

    @property
    def generalizes(self) -> bool:
        """A coarser item may tell more surely than each below it, so that letting items rise mends nothing for sure.

        Of {a, s}, {a, b}, {b, s}, one of two with a has s, and one of two with b, but two of three with a or b.
        """
        return False

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        """The known items together with the sensitive one, for every inference that is too sure."""
        parts = []
        for sets, rows, share in self._inferences(transactions, most, work):
            bad = ~stands(share, self.rho, "at most")
            parts.append((sets[bad], rows[bad], rows[bad]))
        return Itemsets.joined(parts)

    def allows(self, rows: int, top: int) -> bool:
        """Whether a share may stand."""
        return bool(stands(top / rows, self.rho, "at most"))

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        """Judge every inference of a sensitive item."""
        shares = [share for _, _, share in self._inferences(transactions, None, work)]
        whole = np.concatenate([np.zeros(1), *shares])
        bad = int((~stands(whole, self.rho, "at most")).sum())
        absent = [item for item in self.sensitive if item not in transactions.labels]
        return Verdict(
            holds=not bad,
            reached=float(whole.max()),
            limit=float(self.rho),
            sense="at most",
            failing=numbered(bad),
            note=f"no record has {listed(absent)}" if absent else "",
        )

    def _inferences(
        self, transactions: Transactions, most: int | None, work: Work | None
    ) -> Iterator[tuple[ItemCodes, NDArray[np.int64], NDArray[np.float64]]]:
        """Known items with a sensitive one, the rows that have all of them, and the confidence."""
        longest = int(np.diff(transactions.starts).max(initial=0))
        l = min(self.l or longest, most or longest, longest)
        _refuse_many(transactions, l + 1)
        secret = np.array([label in self.sensitive for label in transactions.labels], np.bool_)
        levels: list[Level] = []
        for level in known_sets(replace(transactions, secret=None), l=l + 1, k=1, c=1.0, work=work):
            for place in range(level.sets.shape[1] if levels else 0):
                some = secret[level.sets[:, place]]
                known = np.delete(level.sets[some], place, axis=1)
                rows = level.rows[some]
                yield level.sets[some], rows, rows / levels[-1].rows[_numbers(levels, known, transactions.count)]
            levels.append(level)


def _numbers(levels: list[Level], sets: ItemCodes, count: int) -> NDArray[np.int64]:
    """The place of each set, all of one size, in the last level."""
    places = np.zeros(len(sets), np.int64)
    for level, items in zip(levels, sets.T, strict=True):
        places = np.searchsorted(level.keys, places * count + items)
    return places


def _refuse_many(transactions: Transactions, size: int) -> None:
    """Refuse to look at more sets than can be looked at."""
    lengths, many = np.unique(np.diff(transactions.starts), return_counts=True)
    sets = sum(int(times) * sets_of(int(n), size) for n, times in zip(lengths, many, strict=True))
    if sets > MOST_SETS:
        raise ParameterError(
            f"l must be smaller, or given: the records have {sets:.3g} sets of up to {size} items, more than the "
            f"{MOST_SETS:,} that are looked at"
        )


def sets_of(length: int, size: int) -> int:
    """How many sets of 1 to ``size`` items a record of some length has.

    >>> sets_of(4, 2)
    10
    """
    return sum(comb(length, r) for r in range(1, size + 1))
