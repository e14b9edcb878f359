"""All sets of items that many records have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.arguments import at_least, between
from sfumato.ground.brief import Brief
from sfumato.ground.errors import ParameterError
from sfumato.ground.shares import exact
from sfumato.ground.work import Work
from sfumato.group.itemsets import known_sets
from sfumato.group.transactions import Codes, Transactions

Counts = NDArray[np.int64]
_DEEPEST = 4096
"""No set has more items than this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrequentLevel:
    """The frequent sets of one size, in the order of their items."""

    sets: Codes
    """A row of items, ascending, for each set."""
    rows: Counts
    """The records that have each set."""
    keys: Counts
    """The number of the set without its last item, one level before, and the last item, as one number; ascending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FrequentItemsets(Brief):
    """Every set of items that at least ``support`` of ``rows`` records have, size by size."""

    rows: int
    """How many records there are."""
    support: int
    """The fewest records that a frequent set has."""
    labels: tuple[str, ...]
    """The items as written, by code."""
    levels: tuple[FrequentLevel, ...]
    """The sets of one item, of two, and so on."""

    @property
    def count(self) -> int:
        """How many frequent sets there are."""
        return sum(len(level.rows) for level in self.levels)

    def places(self, sets: Codes) -> Counts:
        """The number of each set (a row of ascending items) among those of its size; -1 where it is not frequent."""
        many, size = sets.shape
        found = np.zeros(many, np.int64)
        for depth in range(size):
            if depth >= len(self.levels):
                return np.full(many, -1, np.int64)
            keys = self.levels[depth].keys
            wanted = found * np.int64(len(self.labels)) + sets[:, depth]
            place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            found = np.where((found >= 0) & (keys[place] == wanted), place, -1)
        return found

    def supports(self, sets: Codes) -> Counts:
        """The records that have each set; -1 where it is not frequent."""
        place = self.places(sets)
        size = sets.shape[1]
        if size == 0:
            return np.full(len(sets), self.rows, np.int64)
        if size > len(self.levels):
            return place
        return np.where(place >= 0, self.levels[size - 1].rows[place], -1)

    def each(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Every frequent set with its records, the small ones first."""
        for level in self.levels:
            yield from zip(map(tuple, level.sets.tolist()), level.rows.tolist(), strict=True)

    def named(self, items: Sequence[int]) -> tuple[str, ...]:
        """A set as labels."""
        return tuple(self.labels[item] for item in items)


def least_rows(min_support: float, rows: int) -> int:
    """The fewest records that make up at least a share ``min_support`` of ``rows``, and one at least.

    >>> least_rows(0.07, 100), least_rows(0.001, 100)
    (7, 1)
    """
    between("min_support", min_support, 0, 1, open_low=True)
    return max(ceil(exact(min_support) * rows), 1)


def frequent_itemsets(
    transactions: Transactions, support: int, *, longest: int | None = None, work: Work | None = None
) -> FrequentItemsets:
    """All sets of 1 to ``longest`` items that at least ``support`` records have.

    Claim: complete, each once, with exact counts.
    How: level by level on lists of records that shrink with every item (``group.itemsets``); a set is looked at if all
        its smaller sets are frequent.
    Source: Apriori (Agrawal, Srikant 1994).
    """
    at_least("support", support, 1)
    if longest is not None:
        at_least("longest", longest, 1)
    frequent = transactions.supports() >= support
    some = transactions.only(frequent[transactions.codes])
    deepest = int(np.diff(some.starts).max(initial=0))
    levels: list[FrequentLevel] = []
    try:
        for one in known_sets(some, l=min(deepest, longest or deepest, _DEEPEST), k=support, c=1.0, work=work):
            good = one.good
            levels += [FrequentLevel(sets=one.sets[good], rows=one.rows[good], keys=one.keys[good])] * bool(good.any())
    except ParameterError as error:
        raise ParameterError(
            f"too many sets of {len(levels) + 1} items are had by {support:,} records to hold them all; a larger least "
            f"support, or longest = {len(levels)}, would do"
        ) from error
    return FrequentItemsets(rows=transactions.rows, support=support, labels=transactions.labels, levels=tuple(levels))
