"""Every group of few people whose number follows from told supports, as far as it is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.arguments import at_least
from sfumato.mine.channels.complete_intervals import Channel, complete_channels, said
from sfumato.mine.channels.derived_supports import derived
from sfumato.mine.channels.pinned_counts import CountSystem
from sfumato.mine.channels.told_sets import Set, ToldSets, told_sets, windows

MOST_WHOLE = 6
"""Publications about at most so many items are decided as a whole."""
MOST_GAPS = 1_000
"""Where sets within told ones are not told, at most so many of these are decided each as a whole."""
Reach = Literal["exact", "bounds", "some bounds"]
REACHES: dict[Reach, str] = {
    "exact": "every group was decided, by integer programs over all tables that agree",
    "bounds": "groups were found by inclusion and exclusion, completely, by the bounds of sets of up to 6 items, and "
    "by integer programs around sets that are not told",
    "some bounds": "groups were found by inclusion and exclusion, completely, and by bounds and integer programs for "
    "some sets, because there are too many",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Because:
    """A channel, with the told sets that it follows from."""

    channel: Channel
    """The group and its number."""
    sets: tuple[Set, ...]
    """Told sets; where one of them is not told, the channel does not follow from the others."""
    proven: bool
    """Whether they alone tell it; else they are where to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a publication tells about groups of few people."""

    many: int
    """How many groups of 1 to k - 1 people follow."""
    listed: tuple[Because, ...]
    """Those whose number follows from the fewest sets; breaking them breaks all."""
    reach: Reach
    """What was looked at."""


def find_channels(told: ToldSets, k: int) -> Found:
    """Every group of 1 to ``k`` - 1 people whose number follows from the told supports and the number of records.

    A group is all records that have some items and lack others, of the items of told sets. Its number follows if it is
    the same in all tables with these supports.

    Claim: every channel by inclusion and exclusion is found; with at most ``MOST_WHOLE`` items every channel at all.
        With more, those are found too that follow from supports which bounds of up to 6 items pin; and where none of
        these is there, those about the items of a told set of up to 6 that has a set within which is not told.
    Source: Atzori, Bonchi, Giannotti, Pedreschi, Anonymity preserving pattern discovery, 2008; Calders, Goethals 2002.
    """
    at_least("k", k, 1)
    many, direct = complete_channels(told, k)
    sets = dict(told.each())
    listed = [Because(channel=one, sets=_told(sets, one), proven=True) for one in direct]
    if len(told.items()) <= MOST_WHOLE:
        rest = _decided(told, k)
        return Found(many=many + len(rest), listed=(*listed, *rest), reach="exact")
    more = derived(told)
    if more.many:
        many, wider = complete_channels(more.told, k)
        known = {(one.have, one.lack) for one in direct}
        listed += [_because(sets, one) for one in wider if (one.have, one.lack) not in known]
    around = _around_gaps(told)
    whole = more.whole and len(around) <= MOST_GAPS
    if not listed:
        found = {one.channel: one for items in around[:MOST_GAPS] for one in _decided(_about(told, items), k)}
        many, listed = len(found), list(found.values())
    return Found(many=many, listed=tuple(listed), reach="bounds" if whole else "some bounds")


def _around_gaps(told: ToldSets) -> list[Set]:
    """Told sets of a few items that have a set within which is not told, the largest first and none within another."""
    found: list[Set] = []
    for level in reversed(told.family.levels[:MOST_WHOLE]):
        sets = level.sets[level.rows >= 0]
        gaps = sets[(windows(told.family, sets) < 0).any(axis=1)].tolist()
        found += [tuple(one) for one in gaps if not any(set(one) <= set(other) for other in found[: MOST_GAPS + 1])]
    return found


def _about(told: ToldSets, items: Set) -> ToldSets:
    """What is told about some items alone."""
    whole = set(items)
    return told_sets(told.records, told.labels, {one: rows for one, rows in told.each() if whole.issuperset(one)})


def _told(sets: Mapping[Set, int], channel: Channel) -> tuple[Set, ...]:
    """The told sets that the number of a channel is made of."""
    return tuple(one for one in channel.between() if one in sets)


def _because(sets: Mapping[Set, int], channel: Channel) -> Because:
    """A channel that needs bounds: the told sets that its number is made of; where there are none, all within it."""
    whole = set(channel.whole)
    near = _told(sets, channel) or tuple(one for one in sets if set(one) <= whole)
    return Because(channel=channel, sets=near, proven=False)


def _decided(told: ToldSets, k: int) -> list[Because]:
    """All channels but those by inclusion and exclusion, by integer programs."""
    items, sets = told.items(), list(told.each())
    if not items:
        return []
    where = {item: place for place, item in enumerate(items)}
    masks = np.array([sum(1 << where[item] for item in one) for one, _ in sets])
    cells = np.arange(1 << len(items))
    counts = np.vstack([np.ones((1, len(cells))), (cells & masks[:, None]) == masks[:, None]])
    system = CountSystem(counts, np.array([told.records, *(rows for _, rows in sets)]))
    groups, have, whole = _groups(len(items))
    direct = np.array(
        [_complete(int(low), int(high), {0, *masks.tolist()}) for low, high in zip(have, whole, strict=True)]
    )
    found = []
    for one in system.pinned(groups, k, skip=direct):
        low, high = int(have[one.group]), int(whole[one.group])
        channel = Channel(
            have=tuple(item for item in items if low >> where[item] & 1),
            lack=tuple(item for item in items if (high & ~low) >> where[item] & 1),
            people=one.people,
        )
        used = range(1, len(sets) + 1) if one.used is None else one.used
        found.append(
            Because(
                channel=channel, sets=tuple(sets[line - 1][0] for line in used if line), proven=one.used is not None
            )
        )
    return found


@cache
def _groups(items: int) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.int64]]:
    """All groups over some items: their cells, the items that they have, and all that they are about."""
    states = np.array(list(product(range(3), repeat=items)), np.int64)
    powers = 1 << np.arange(items)
    have, whole = (states == 2) @ powers, (states > 0) @ powers
    cells = np.arange(1 << items)
    return ((cells & whole[:, None]) == have[:, None]).astype(np.int8), have, whole


def _complete(have: int, whole: int, told: set[int]) -> bool:
    """Whether every set between two is told."""
    free, some = whole & ~have, 0
    while True:
        if have | some not in told:
            return False
        if some == free:
            return True
        some = (some - free) & free


def group_text(told: ToldSets, channel: Channel) -> str:
    """The group of a channel as people read it."""
    parts = [f"with {said(told, channel.have)}"] * bool(channel.have)
    parts += [f"without {said(told, channel.lack)}"] * bool(channel.lack)
    return " and ".join(parts)
