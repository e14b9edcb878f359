"""Sets of items whose records are told, in one order with all sets within them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError
from sfumato.group.frequent_itemsets import Counts, FrequentItemsets, FrequentLevel
from sfumato.group.transactions import Codes

UNTOLD = -1
"""The records of a set that are not told."""
MOST_ITEMS = 12
"""A told set has at most so many items: all sets within it are looked at."""
MOST_HELD = 30_000_000
"""Sets within sets are looked at while they make no more numbers than this."""
Set = tuple[int, ...]
"""Items by code, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ToldSets(Brief):
    """Supports that a publication tells, and the number of all records, which it tells too."""

    family: FrequentItemsets
    """The told sets and every set within one; the records are ``UNTOLD`` where only a larger set is told."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.family.rows

    @property
    def labels(self) -> tuple[str, ...]:
        """The items as written."""
        return self.family.labels

    @property
    def count(self) -> int:
        """How many sets are told."""
        return sum(int((level.rows >= 0).sum()) for level in self.family.levels)

    def each(self) -> Iterator[tuple[Set, int]]:
        """Every told set with its records, the small ones first."""
        return ((items, rows) for items, rows in self.family.each() if rows >= 0)

    def items(self) -> Set:
        """The items that some told set has."""
        return tuple(self.family.levels[0].sets[:, 0].tolist()) if self.family.levels else ()

    def without(self, gone: Sequence[Set]) -> ToldSets:
        """The same without some sets: nothing is left of those that were only within them."""
        left = set(gone)
        return told_sets(self.records, self.labels, {items: n for items, n in self.each() if items not in left})

    def filled(self, rows: Sequence[Counts]) -> ToldSets:
        """The same sets with other records, one array for each size."""
        levels = tuple(
            FrequentLevel(sets=level.sets, rows=some, keys=level.keys)
            for level, some in zip(self.family.levels, rows, strict=True)
        )
        return ToldSets(
            family=FrequentItemsets(rows=self.records, support=self.family.support, labels=self.labels, levels=levels)
        )


def of_frequent(itemsets: FrequentItemsets) -> ToldSets:
    """All frequent sets: every set within one is frequent too."""
    if len(itemsets.levels) > MOST_ITEMS:
        raise DataError(f"a set has {len(itemsets.levels)} items; sets of at most {MOST_ITEMS} are looked at")
    return ToldSets(family=itemsets)


def told_sets(records: int, labels: Sequence[str], told: Mapping[Set, int]) -> ToldSets:
    """From sets with their records; each set has different items, ascending.

    >>> some = told_sets(9, ("a", "b"), {(0,): 5, (0, 1): 3})
    >>> some.count, [level.rows.tolist() for level in some.family.levels]
    (2, [[5, -1], [3]])
    """
    longest = max(map(len, told), default=0)
    if longest > MOST_ITEMS:
        raise DataError(f"a set has {longest} items; sets of at most {MOST_ITEMS} are looked at")
    sized = {size: [one for one in told if len(one) == size] for size in range(1, longest + 1)}
    closed: dict[int, Codes] = {}
    above = np.empty((0, longest + 1), np.int32)
    for size in range(longest, 0, -1):
        within = [np.delete(above, place, axis=1) for place in range(size + 1)]
        given = np.array(sized[size], np.int32).reshape(-1, size)
        above = closed[size] = np.unique(np.concatenate([given, *within]), axis=0)
    family = FrequentItemsets(rows=records, support=0, labels=tuple(labels), levels=())
    for size in range(1, longest + 1):
        family = grown(family, closed[size], np.full(len(closed[size]), UNTOLD, np.int64))
        given = np.array(sized[size], np.int32).reshape(-1, size)
        family.levels[-1].rows[family.places(given)] = [told[one] for one in sized[size]]
    return ToldSets(family=family)


def grown(family: FrequentItemsets, sets: Codes, rows: Counts) -> FrequentItemsets:
    """One more level: sets in order, each without its last item in the level before."""
    before = family.places(sets[:, :-1]) if sets.shape[1] > 1 else np.zeros(len(sets), np.int64)
    keys = before * np.int64(len(family.labels)) + sets[:, -1]
    level = FrequentLevel(sets=np.asarray(sets, np.int32), rows=rows, keys=keys)
    return FrequentItemsets(
        rows=family.rows, support=family.support, labels=family.labels, levels=(*family.levels, level)
    )


def chosen(size: int, mask: int) -> list[int]:
    """The places of a set of so many items that a mask stands for.

    >>> chosen(3, 0b101)
    [0, 2]
    """
    return [place for place in range(size) if mask >> place & 1]


def windows(family: FrequentItemsets, sets: Codes) -> Counts:
    """For each set the records of every set within it, by mask; those of no items first."""
    size = sets.shape[1]
    found = np.empty((len(sets), 1 << size), np.int64)
    for mask in range(1 << size):
        found[:, mask] = family.supports(sets[:, chosen(size, mask)])
    return found


def chunks(many: int, width: int) -> Iterator[slice]:
    """Runs of rows so that a run of so many columns is held at once."""
    step = max(1, MOST_HELD // (8 * max(width, 1)))
    return (slice(at, min(at + step, many)) for at in range(0, many, step))


Mask = NDArray[np.bool_]
