"""Supports that are not told and follow all the same: no group has fewer than no people, so told supports bound others.

For every I within J the number f(I, J) is not negative. That bounds each support between I and J by the others from one
side. Where a lower and an upper bound meet, the support is known, and more follows from it.

Source: Calders and Goethals, Mining all non-derivable frequent itemsets, 2002. With every smaller set known the bounds
of a set are the tightest that there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import DataError
from sfumato.group.frequent_itemsets import Counts, FrequentItemsets
from sfumato.group.transactions import Codes
from sfumato.mine.channels.told_sets import UNTOLD, Mask, ToldSets, chosen, chunks, grown, windows

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
        have = sum(1 << place for place, one in enumerate(states) if one == 2)
        free = [place for place, one in enumerate(states) if one == 1]
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


def derived(told: ToldSets) -> Derived:
    """Every support that bounds tell, size by size, with sets beyond the told ones where all smaller are known."""
    family, whole = _beyond(told.family)
    lows = [np.where(one.rows >= 0, one.rows, 0).astype(np.float64) for one in family.levels]
    highs = [np.where(one.rows >= 0, one.rows, family.rows).astype(np.float64) for one in family.levels]
    for _ in range(_ROUNDS):
        if not _passed(family, lows, highs):
            break
    if any((low > high).any() for low, high in zip(lows, highs, strict=True)):
        raise DataError("no records can have these supports: what some of them say of others does not fit together")
    rows = [np.where(low == high, low, UNTOLD).astype(np.int64) for low, high in zip(lows, highs, strict=True)]
    many = sum(int(((one >= 0) & (level.rows < 0)).sum()) for one, level in zip(rows, family.levels, strict=True))
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


def _places(family: FrequentItemsets, sets: Codes) -> Counts:
    size = sets.shape[1]
    found = np.zeros((len(sets), 1 << size), np.int64)
    for mask in range(1, 1 << size):
        found[:, mask] = family.places(sets[:, chosen(size, mask)])
    return found


def _gathered(family: FrequentItemsets, side: list[Reals], places: Counts) -> Reals:
    found = np.full(places.shape, float(family.rows))
    for mask in range(1, places.shape[1]):
        found[:, mask] = side[mask.bit_count() - 1][places[:, mask]]
    return found


def _beyond(family: FrequentItemsets) -> tuple[FrequentItemsets, bool]:
    """The family with sets that are not told and all of whose smaller sets are known, where their bounds meet."""
    found = known = FrequentItemsets(rows=family.rows, support=0, labels=family.labels, levels=family.levels[:1])
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
        found = grown(found, sets, rows)
        if len(given):
            rows[found.places(given)] = family.levels[size - 1].rows
        filled = rows.copy()
        filled[found.places(new[met])] = values[met]
        known = grown(known, sets, filled)
        size += 1
    return found, whole


def _joined(family: FrequentItemsets) -> tuple[Codes, bool]:
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


def _bound(family: FrequentItemsets, sets: Codes) -> tuple[Mask, Counts]:
    """Whether the bounds of a set meet, all smaller sets being known, and where they do."""
    size = sets.shape[1]
    found, values = np.zeros(len(sets), bool), np.zeros(len(sets), np.int64)
    if size > MOST_WINDOW:
        return found, values
    for part in chunks(len(sets), 3**size):
        low = np.empty((len(sets[part]), 1 << size))
        low[:, :-1] = windows(family, sets[part])[:, :-1]
        high = low.copy()
        low[:, -1], high[:, -1] = 0, family.rows
        low, high = tightened(low, high)
        found[part], values[part] = low[:, -1] == high[:, -1], low[:, -1]
    return found, values
