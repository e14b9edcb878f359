"""What follows from told supports by inclusion and exclusion: intervals of sets that are told completely.

For I within J, the records that have I and nothing else of J number f(I, J) = sum over I <= X <= J of (-1)^|X - I|
sup(X). The supports of all sets are coordinates of a table of counts, each free of the others. So among real tables,
without the knowledge that counts are not negative, f(I, J) follows just where every X between I and J is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.ground.errors import DataError
from sfumato.group.frequent_itemsets import Counts
from sfumato.group.transactions import Codes
from sfumato.mine.channels.told_sets import Mask, Set, ToldSets, chosen, chunks, windows


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

    sets: Codes
    """The larger ends."""
    numbers: Counts
    """One line for each set, one column for every set within: how many records have just that much of the set."""
    known: Mask
    """Whether the number follows."""


def intervals(told: ToldSets) -> Iterator[Intervals]:
    """Every interval of sets, with its number where it is told completely; sizes ascend."""
    for level in told.family.levels:
        size = level.sets.shape[1]
        for part in chunks(len(level.sets), 1 << size):
            sets = level.sets[part]
            numbers = windows(told.family, sets)
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


def complete_channels(told: ToldSets, k: int) -> tuple[int, list[Channel]]:
    """How many groups of 1 to k - 1 people follow by inclusion and exclusion, and those of the smallest intervals.

    A channel whose interval lies around that of another is counted and not listed: whatever breaks the smaller breaks
    both. Supports that no records can have are refused.
    """
    many, found = 0, list[Channel]()
    before: Mask = np.zeros((1, 1), bool)
    parts: list[Mask] = []
    size = 0
    for one in intervals(told):
        _refuse_negative(told, one)
        if one.sets.shape[1] != size:
            before, parts, size = np.concatenate(parts) if parts else before, [], one.sets.shape[1]
        channels = one.known & (one.numbers > 0) & (one.numbers < k)
        within = _within(told, one.sets, before)
        for mask in range((1 << size) - 1, -1, -1):
            for place in range(size):
                if not mask >> place & 1:
                    within[:, mask] |= within[:, mask | 1 << place] | channels[:, mask | 1 << place]
        many += int(channels.sum())
        found += [_channel(one, row, mask) for row, mask in np.argwhere(channels & ~within).tolist()]
        parts.append(within | channels)
    return many, found


def _within(told: ToldSets, sets: Codes, before: Mask) -> Mask:
    """Whether the set without one item has a channel in the interval from the same smaller end, by mask."""
    size = sets.shape[1]
    found = np.zeros((len(sets), 1 << size), bool)
    for place in range(size):
        rest = [other for other in range(size) if other != place]
        at = told.family.places(sets[:, rest])
        for mask in range(1 << size):
            if not mask >> place & 1:
                found[:, mask] |= before[at, (mask >> place + 1 << place) | mask & (1 << place) - 1]
    return found


def _channel(one: Intervals, row: int, mask: int) -> Channel:
    items, held = one.sets[row].tolist(), chosen(one.sets.shape[1], mask)
    return Channel(
        have=tuple(items[place] for place in held),
        lack=tuple(item for place, item in enumerate(items) if place not in held),
        people=int(one.numbers[row, mask]),
    )


def _refuse_negative(told: ToldSets, one: Intervals) -> None:
    wrong = np.argwhere(one.known & (one.numbers < 0))
    if len(wrong):
        channel = _channel(one, *wrong[0].tolist())
        raise DataError(
            f"no records can have these supports: {channel.people:,} of them would be with "
            f"{said(told, channel.have) or 'anything'} and without {said(told, channel.lack) or 'nothing'}"
        )


def said(told: ToldSets, items: Set) -> str:
    """Some items as people read them."""
    return ", ".join(told.labels[item] for item in items)
