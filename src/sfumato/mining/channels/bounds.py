"""Bounds on unpublished supports: inclusion-exclusion and derived intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError
from sfumato.counts.frequent_itemsets import Counts, FrequentItemsets
from sfumato.counts.transactions import ItemCodes
from sfumato.mining.channels.published_sets import UNTOLD, Mask, Set, ToldSets, chosen, chunks, grown, windows

# What follows from told supports by inclusion and exclusion: intervals of sets that are told completely.
#
# For I within J, the records that have I and nothing else of J number f(I, J) = sum over I <= X <= J of (-1)^|X - I|
# sup(X). The supports of all sets are coordinates of a table of counts, each free of the others. So among real tables,
# without the knowledge that counts are not negative, f(I, J) follows just where every X between I and J is told.


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A group of few people whose number follows from what is told."""

    have: Set
    """The items that they have."""
    lack: Set
    """The items that they do not have."""
    people: int
    """How many they are."""

    @property
    def whole(self) -> Set:
        """All items that the group is about."""
        return tuple(sorted((*self.have, *self.lack)))

    def between(self) -> Iterator[Set]:
        """The sets from ``have`` to ``whole`` that the number is made of."""
        for mask in range(1 << len(self.lack)):
            yield tuple(sorted((*self.have, *(self.lack[place] for place in chosen(len(self.lack), mask)))))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """All intervals below sets of one size."""

    sets: ItemCodes
    """The larger ends."""
    numbers: Counts
    """One line for each set, one column for every set within: how many records have just that much of the set."""
    known: Mask
    """Whether the number follows."""


def intervals(published: ToldSets) -> Iterator[Intervals]:
    """Every interval of sets, with its number where it is told completely; sizes ascend."""
    for level in published.family.levels:
        size = level.sets.shape[1]
        for part in chunks(len(level.sets), 1 << size):
            sets = level.sets[part]
            numbers = windows(published.family, sets)
            known = numbers >= 0
            for place in range(size):
                numbers, known = _step(numbers, known, place)
            yield Intervals(sets=sets, numbers=numbers, known=known)


def _step(numbers: Counts, known: Mask, place: int) -> tuple[Counts, Mask]:
    """Take the records with one item out of those that may have it."""
    shape = (len(numbers), -1, 2, 1 << place)
    cube, sure = numbers.reshape(shape), known.reshape(shape)
    cube[:, :, 0] -= cube[:, :, 1]
    sure[:, :, 0] &= sure[:, :, 1]
    return numbers, known


def complete_channels(published: ToldSets, k: int) -> tuple[int, list[Channel]]:
    """How many groups of 1 to k - 1 people follow by inclusion and exclusion, and those of the smallest intervals.

    A channel whose interval lies around that of another is counted and not listed: whatever breaks the smaller breaks
    both. Supports that no records can have are refused.
    """
    many, listed_channels = 0, list[Channel]()
    before: Mask = np.zeros((1, 1), bool)
    parts: list[Mask] = []
    size = 0
    for batch in intervals(published):
        _refuse_negative(published, batch)
        if batch.sets.shape[1] != size:
            before, parts, size = np.concatenate(parts) if parts else before, [], batch.sets.shape[1]
        channels = batch.known & (batch.numbers > 0) & (batch.numbers < k)
        within = _within(published, batch.sets, before)
        for mask in range((1 << size) - 1, -1, -1):
            for place in range(size):
                if not mask >> place & 1:
                    within[:, mask] |= within[:, mask | 1 << place] | channels[:, mask | 1 << place]
        many += int(channels.sum())
        listed_channels += [_channel(batch, row, mask) for row, mask in np.argwhere(channels & ~within).tolist()]
        parts.append(within | channels)
    return many, listed_channels


def _within(published: ToldSets, sets: ItemCodes, before: Mask) -> Mask:
    """Whether the set without one item has a channel in the interval from the same smaller end, by mask."""
    size = sets.shape[1]
    flags = np.zeros((len(sets), 1 << size), bool)
    for place in range(size):
        rest = [other for other in range(size) if other != place]
        at = published.family.places(sets[:, rest])
        for mask in range(1 << size):
            if not mask >> place & 1:
                flags[:, mask] |= before[at, (mask >> place + 1 << place) | mask & (1 << place) - 1]
    return flags


def _channel(batch: Intervals, row: int, mask: int) -> Channel:
    items, held = batch.sets[row].tolist(), chosen(batch.sets.shape[1], mask)
    return Channel(
        have=tuple(items[place] for place in held),
        lack=tuple(item for place, item in enumerate(items) if place not in held),
        people=int(batch.numbers[row, mask]),
    )


def _refuse_negative(published: ToldSets, batch: Intervals) -> None:
    wrong = np.argwhere(batch.known & (batch.numbers < 0))
    if len(wrong):
        channel = _channel(batch, *wrong[0].tolist())
        raise DataError(
            f"no records can have these supports: {channel.people:,} of them would be with "
            f"{items_text(published, channel.have) or 'anything'} and without "
            f"{items_text(published, channel.lack) or 'nothing'}"
        )


def items_text(published: ToldSets, items: Set) -> str:
    """Some items as people read them."""
    return ", ".join(published.labels[item] for item in items)


# Supports that are not told and follow all the same: no group has fewer than no people, so told supports bound others.
#
# For every I within J the number f(I, J) is not negative. That bounds each support between I and J by the others from
# one side. Where a lower and an upper bound meet, the support is known, and more follows from it.
#
# Source: Calders and Goethals, Mining all non-derivable frequent itemsets, 2002. With every smaller set known the
# bounds of a set are the tightest that there are.


MOST_WINDOW = 6
"""Bounds are taken from sets of at most so many items at once."""
MOST_BEYOND = 500_000
"""So many sets of one size are looked at that are not within a told one."""
_ROUNDS = 12
"""Bounds are passed on from set to set so many times at most."""
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rules:
    """All intervals of a window: which sets count for and which against their number."""

    plus: Reals
    minus: Reals
    for_: tuple[NDArray[np.int64], ...]
    """For each set of the window the intervals in which it counts for the number."""
    against: tuple[NDArray[np.int64], ...]
    """Those in which it counts against."""


@cache
def _rules(size: int) -> _Rules:
    plus, minus = [], []
    for states in product(range(3), repeat=size):  # out of both ends, in the larger only, in both
        have = sum(1 << place for place, state in enumerate(states) if state == 2)
        free = [place for place, state in enumerate(states) if state == 1]
        if not free and not have and size:
            continue
        line = np.zeros((2, 1 << size))
        for mask in range(1 << len(free)):
            some = have | sum(1 << free[place] for place in chosen(len(free), mask))
            line[mask.bit_count() % 2, some] = 1
        plus.append(line[0])
        minus.append(line[1])
    lines = np.array(plus), np.array(minus)
    ways = [tuple(np.flatnonzero(side[:, mask]) for mask in range(1 << size)) for side in lines]
    return _Rules(plus=lines[0], minus=lines[1], for_=ways[0], against=ways[1])


def tightened(low: Reals, high: Reals) -> tuple[Reals, Reals]:
    """Bounds of every set of some windows (one line each, by mask), tightened once by all intervals of the window.

    >>> one = np.array([[10.0, 7, 8, 0]]), np.array([[10.0, 7, 8, 10]])  # 10 records, 7 with a, 8 with b
    >>> [float(side[0, 3]) for side in tightened(*one)]
    [5.0, 7.0]
    """
    rules = _rules(int(low.shape[1]).bit_length() - 1)
    most = high @ rules.plus.T - low @ rules.minus.T  # the most that each interval's number can be
    lows, highs = low.copy(), high.copy()
    for mask in range(1, low.shape[1]):
        lows[:, mask] = np.maximum(low[:, mask], high[:, mask] - most[:, rules.for_[mask]].min(axis=1, initial=np.inf))
        highs[:, mask] = np.minimum(
            high[:, mask], low[:, mask] + most[:, rules.against[mask]].min(axis=1, initial=np.inf)
        )
    return lows, highs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Derived:
    """What is told, with what follows from bounds."""

    told: ToldSets
    """The told sets, those within, and some beyond; the records where they are told or follow."""
    many: int
    """How many supports follow that are not told."""
    whole: bool
    """Whether every set was looked at whose smaller sets are all known."""


def derived(published: ToldSets) -> Derived:
    """Every support that bounds tell, size by size, with sets beyond the told ones where all smaller are known."""
    family, whole = _beyond(published.family)
    lows = [np.where(level.rows >= 0, level.rows, 0).astype(np.float64) for level in family.levels]
    highs = [np.where(level.rows >= 0, level.rows, family.rows).astype(np.float64) for level in family.levels]
    for _ in range(_ROUNDS):
        if not _passed(family, lows, highs):
            break
    if any((low > high).any() for low, high in zip(lows, highs, strict=True)):
        raise DataError("no records can have these supports: what some of them say of others does not fit together")
    rows = [np.where(low == high, low, UNTOLD).astype(np.int64) for low, high in zip(lows, highs, strict=True)]
    many = sum(int(((counts >= 0) & (level.rows < 0)).sum()) for counts, level in zip(rows, family.levels, strict=True))
    return Derived(told=ToldSets(family=family).filled(rows), many=many, whole=whole)


def _passed(family: FrequentItemsets, lows: list[Reals], highs: list[Reals]) -> bool:
    """Tighten all bounds once; whether any became tighter."""
    moved = False
    for level in family.levels[:MOST_WINDOW]:
        size = level.sets.shape[1]
        for part in chunks(len(level.sets), 3**size):
            places = _places(family, level.sets[part])
            low, high = (_gathered(family, side, places) for side in (lows, highs))
            loose = (low < high).any(axis=1)
            if not loose.any():
                continue
            now = tightened(low[loose], high[loose])
            if (now[0] > low[loose]).any() or (now[1] < high[loose]).any():
                moved = True
                for mask in range(1, 1 << size):
                    depth, at = mask.bit_count() - 1, places[loose, mask]
                    np.maximum.at(lows[depth], at, now[0][:, mask])
                    np.minimum.at(highs[depth], at, now[1][:, mask])
    return moved


def _places(family: FrequentItemsets, sets: ItemCodes) -> Counts:
    size = sets.shape[1]
    places = np.zeros((len(sets), 1 << size), np.int64)
    for mask in range(1, 1 << size):
        places[:, mask] = family.places(sets[:, chosen(size, mask)])
    return places


def _gathered(family: FrequentItemsets, side: list[Reals], places: Counts) -> Reals:
    bounds = np.full(places.shape, float(family.rows))
    for mask in range(1, places.shape[1]):
        bounds[:, mask] = side[mask.bit_count() - 1][places[:, mask]]
    return bounds


def _beyond(family: FrequentItemsets) -> tuple[FrequentItemsets, bool]:
    """The family with sets that are not told and all of whose smaller sets are known, where their bounds meet."""
    extension = known = FrequentItemsets(rows=family.rows, support=0, labels=family.labels, levels=family.levels[:1])
    whole, size = True, 2
    while size <= len(family.levels) or (size == len(known.levels) + 1 and size <= MOST_WINDOW):
        joined, all_ = _joined(known)
        whole &= all_
        new = joined[family.places(joined) < 0]
        met, values = _bound(known, new)
        given = family.levels[size - 1].sets if size <= len(family.levels) else new[:0]
        sets = np.unique(np.concatenate([given, new[met]]), axis=0)
        if not len(sets):
            break
        rows = np.full(len(sets), UNTOLD, np.int64)
        extension = grown(extension, sets, rows)
        if len(given):
            rows[extension.places(given)] = family.levels[size - 1].rows
        filled = rows.copy()
        filled[extension.places(new[met])] = values[met]
        known = grown(known, sets, filled)
        size += 1
    return extension, whole


def _joined(family: FrequentItemsets) -> tuple[ItemCodes, bool]:
    """Sets of one item more, made of two known ones that differ in the last; whether these are all."""
    level = family.levels[-1] if family.levels else None
    if level is None:
        return np.empty((0, 1), np.int32), True
    if level.sets.shape[1] == 1 and not ((level.rows == 0) | (level.rows == family.rows)).any():
        return np.empty((0, 2), np.int32), True  # the bounds of two items meet only where nobody or everybody has one
    known = np.flatnonzero(level.rows >= 0)
    sets = level.sets[known]
    group = level.keys[known] // max(len(family.labels), 1)
    ends = np.searchsorted(group, group, side="right")
    partners = ends - np.arange(len(sets)) - 1
    whole = int(partners.sum()) <= MOST_BEYOND
    if not whole:
        partners = np.where(np.cumsum(partners) <= MOST_BEYOND, partners, 0)
    first = np.repeat(np.arange(len(sets)), partners)
    step = np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
    joined = np.column_stack([sets[first], sets[first + 1 + step][:, -1:]]).astype(np.int32)
    size = joined.shape[1]
    good = np.ones(len(joined), bool)
    for place in range(size - 2):
        good &= family.supports(np.delete(joined, place, axis=1)) >= 0
    return joined[good], whole


def _bound(family: FrequentItemsets, sets: ItemCodes) -> tuple[Mask, Counts]:
    """Whether the bounds of a set meet, all smaller sets being known, and where they do."""
    size = sets.shape[1]
    meets, values = np.zeros(len(sets), bool), np.zeros(len(sets), np.int64)
    if size > MOST_WINDOW:
        return meets, values
    for part in chunks(len(sets), 3**size):
        low = np.empty((len(sets[part]), 1 << size))
        low[:, :-1] = windows(family, sets[part])[:, :-1]
        high = low.copy()
        low[:, -1], high[:, -1] = 0, family.rows
        low, high = tightened(low, high)
        meets[part], values[part] = low[:, -1] == high[:, -1], low[:, -1]
    return meets, values
