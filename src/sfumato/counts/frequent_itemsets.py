"""Frequent item sets: all of them, the maximal ones, and those counted elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, between
from sfumato.core.errors import ParameterError
from sfumato.core.fractions import exact
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.itemsets import Itemsets, known_sets, repeats, slots_of
from sfumato.counts.transactions import ItemCodes, Transactions

# All sets of items that many records have.


Counts = NDArray[np.int64]
_DEEPEST = 4096
"""No set has more items than this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrequentLevel:
    """The frequent sets of one size, in the order of their items."""

    sets: ItemCodes
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

    def places(self, sets: ItemCodes) -> Counts:
        """The number of each set (a row of ascending items) among those of its size; -1 where it is not frequent."""
        many, size = sets.shape
        numbers = np.zeros(many, np.int64)
        for depth in range(size):
            if depth >= len(self.levels):
                return np.full(many, -1, np.int64)
            keys = self.levels[depth].keys
            wanted = numbers * np.int64(len(self.labels)) + sets[:, depth]
            place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            numbers = np.where((numbers >= 0) & (keys[place] == wanted), place, -1)
        return numbers

    def supports(self, sets: ItemCodes) -> Counts:
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
    How: level by level on lists of records that shrink with every item (``counts.itemsets``); a set is looked at if all
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
        for level in known_sets(some, l=min(deepest, longest or deepest, _DEEPEST), k=support, c=1.0, work=work):
            good = level.good
            levels += [FrequentLevel(sets=level.sets[good], rows=level.rows[good], keys=level.keys[good])] * bool(
                good.any()
            )
    except ParameterError as error:
        raise ParameterError(
            f"too many sets of {len(levels) + 1} items are had by {support:,} records to hold them all; a larger least "
            f"support, or longest = {len(levels)}, would do"
        ) from error
    return FrequentItemsets(rows=transactions.rows, support=support, labels=transactions.labels, levels=tuple(levels))


# Frequent sets whose records were counted elsewhere; and counts of any sets of items in some records.


Sets = Sequence[tuple[int, ...]]
_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.int64)


class SetBits:
    """Which records have each of some items, as bits: the records of a set are the meeting of its items'."""

    def __init__(self, records: Transactions, labels: Sequence[str]) -> None:
        """The items are known by their place among ``labels``; records need not have all of them."""
        place = {label: code for code, label in enumerate(labels)}
        moved = np.array([place.get(label, -1) for label in records.labels], np.int64)
        code = moved[records.codes] if len(records.codes) else np.empty(0, np.int64)
        self._bits = np.zeros((len(labels), (records.rows + 7) // 8), np.uint8)
        held = code >= 0
        row = records.row_of[held].astype(np.int64)
        np.bitwise_or.at(self._bits, (code[held], row // 8), (128 >> (row % 8)).astype(np.uint8))

    def row_bits(self, items: Sequence[int]) -> NDArray[np.uint8]:
        """The records that have all of some items, eight a byte."""
        return np.asarray(np.bitwise_and.reduce(self._bits[list(items)], axis=0))

    def supports(self, sets: Sets) -> Counts:
        """The records that have each set."""
        return np.array([int(_BITS[self.row_bits(itemset)].sum()) for itemset in sets], np.int64).reshape(len(sets))


def next_sets(frequent: Sets) -> list[tuple[int, ...]]:
    """The sets of one item more whose every part of this size is frequent, in order (Apriori).

    >>> next_sets([(0, 1), (0, 2), (1, 2), (1, 3)])
    [(0, 1, 2)]
    """
    known, longer_sets = set(frequent), []
    ends: dict[tuple[int, ...], list[int]] = {}
    for itemset in sorted(known):
        ends.setdefault(itemset[:-1], []).append(itemset[-1])
    for start, last in ends.items():
        for pair in combinations(last, 2):
            longer = (*start, *pair)
            if all((*longer[:n], *longer[n + 1 :]) in known for n in range(len(longer))):
                longer_sets.append(longer)
    return longer_sets


def counted_itemsets(
    *, rows: int, support: int, labels: tuple[str, ...], levels: Iterable[tuple[Sets, Counts]]
) -> FrequentItemsets:
    """Frequent sets from their items and counts, size by size; every part of a set must be among the smaller ones."""
    frequent_levels: list[FrequentLevel] = []
    for sets, counts in levels:
        if not len(sets):
            break
        codes: ItemCodes = np.array(sets, np.int32)
        order = np.lexsort(codes.T[::-1])
        codes = codes[order]
        so_far = FrequentItemsets(rows=rows, support=support, labels=labels, levels=tuple(frequent_levels))
        keys = so_far.places(codes[:, :-1]) * np.int64(len(labels)) + codes[:, -1]
        frequent_levels.append(FrequentLevel(sets=codes, rows=np.asarray(counts)[order], keys=keys))
    return FrequentItemsets(rows=rows, support=support, labels=labels, levels=tuple(frequent_levels))


# The longest sets of items that many records have.


def maximal_frequent(transactions: Transactions, support: int, *, work: Work | None = None) -> Itemsets:
    """All maximal sets of items that at least ``support`` records have; for paths, the maximal frequent sequences.

    Claim: complete, each once, none within another.
    How: depth first over the items in their order, on lists of slots that shrink with every item. An item that all
        rows of a set have joins it at once; what lies within a maximal set already found is not looked at again.
    Source: MAFIA (Burdick, Calimlim, Gehrke 2001) with the projections of PrefixSpan (Pei et al. 2001); used in
        Mohammed 2012, algorithm 4.2.
    """
    itemsets = maximal_within(transactions, support, sys.maxsize, work=work)
    return _collected([], [], [], np.empty(0, np.int32)) if itemsets is None else itemsets


def maximal_within(transactions: Transactions, support: int, most: int, *, work: Work | None = None) -> Itemsets | None:
    """The same, or None where more than ``most`` places in records would have to be looked at."""
    from sfumato.core.kernels.maximal_itemsets import maximal_from

    work, support = work or Work(), max(support, 1)
    frequent = transactions.supports() >= support
    once = repeats(replace(transactions.only(frequent[transactions.codes]), secret=None))
    names = np.flatnonzero(frequent).astype(np.int32)
    new = np.cumsum(frequent).astype(np.int32) - 1
    slots, row_of, stop = slots_of(once.records)
    slots[slots >= 0] = new[slots[slots >= 0]]
    order = np.argsort(slots, kind="stable").astype(np.int32)
    bounds = np.searchsorted(slots[order], np.arange(len(names) + 1))
    records, members = (slots, stop, once.times[row_of]), np.zeros((len(names), 4), np.uint64)
    codes: list[ItemCodes] = []
    sizes: list[ItemCodes] = []
    rows: list[ItemCodes] = []
    number = 0
    for item in range(len(names)):
        work.advance("maximal frequent sets", item, len(names))
        begin = (item, order[bounds[item] : bounds[item + 1]])
        members, set_codes, long, many, looked = maximal_from(records, begin, support, members, number, most)
        most -= looked
        if most < 0:
            return None
        number += len(long)
        codes.append(set_codes)
        sizes.append(long)
        rows.append(many)
    return _collected(codes, sizes, rows, names)


def _collected(codes: list[ItemCodes], sizes: list[ItemCodes], rows: list[ItemCodes], names: ItemCodes) -> Itemsets:
    none = np.empty(0, np.int32)
    starts = np.concatenate(([0], np.cumsum(np.concatenate([none, *sizes]), dtype=np.int64)))
    items = np.concatenate([none, *codes])
    set_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    items = items[np.lexsort((items, set_of))]
    counts = np.concatenate([none, *rows]).astype(np.int64)
    return Itemsets(starts=starts, codes=names[items], rows=counts, top=np.zeros(len(counts), np.int64))
