"""rho-uncertainty: no items of somebody tell a sensitive item too surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.arguments import at_least, between
from sfumato.ground.errors import ParameterError, listed
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets, Level, known_sets
from sfumato.group.transactions import Codes, Transactions
from sfumato.models.item_model import numbered
from sfumato.models.laws import texts
from sfumato.models.verdict import Verdict, stands

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
        found = []
        for sets, rows, share in self._inferences(transactions, most, work):
            bad = ~stands(share, self.rho, "at most")
            found.append((sets[bad], rows[bad], rows[bad]))
        return Itemsets.joined(found)

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
    ) -> Iterator[tuple[Codes, NDArray[np.int64], NDArray[np.float64]]]:
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


def _numbers(levels: list[Level], sets: Codes, count: int) -> NDArray[np.int64]:
    """The place of each set, all of one size, in the last level."""
    found = np.zeros(len(sets), np.int64)
    for level, items in zip(levels, sets.T, strict=True):
        found = np.searchsorted(level.keys, found * count + items)
    return found


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
