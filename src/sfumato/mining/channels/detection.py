"""Finds every small group whose size follows from published supports, by integer programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError
from sfumato.core.extras import extra
from sfumato.mining.channels.bounds import Channel, complete_channels, derived, items_text
from sfumato.mining.channels.published_sets import Set, ToldSets, told_sets, windows

# Numbers of people that are the same in every table that agrees with told counts, decided by integer programs.
#
# A table divides people into cells, and every told count is the sum of some cells. The number of a group follows just
# where its least and its largest value over all tables of whole numbers that agree are equal.


Whole = NDArray[np.int64]
_NEAR = 1e-6
FREE = 1_000_000
"""As many people as are tried in cells that no told count is about: they can be any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A group whose number follows."""

    group: int
    """Which group."""
    people: int
    """The number."""
    used: tuple[int, ...] | None
    """The told counts that it follows from by linear inequalities; None where it takes whole numbers."""


class CountSystem:
    """Counts over cells, each told exactly."""

    def __init__(self, counts: Any, totals: NDArray[Any]) -> None:
        """``counts`` has one line for every told count and one column for every cell, zeros and ones."""
        self._optimize = extra("scipy.optimize", "deciding what published counts tell")
        self._counts = extra("scipy.sparse", "deciding what published counts tell").csr_matrix(counts, dtype=float)
        self._totals = np.asarray(totals, np.float64)
        self._most = np.full(self._counts.shape[1], np.inf)
        at = self._counts.tocoo()
        np.minimum.at(self._most, at.col, self._totals[at.row])

    def pinned(self, groups: Any, k: int, *, skip: NDArray[np.bool_] | None = None) -> list[Pinned]:
        """The groups, lines over cells, of 1 to k - 1 people whose number follows; those to skip are not looked at.

        A table that agrees rules out every group that has none there, too many, or not the number it had in another.
        Each group that is left is made as small and as large as can be; what that finds rules out others.
        """
        lines = extra("scipy.sparse", "deciding what published counts tell").csr_matrix(groups, dtype=float)
        first = self._table(np.zeros(lines.shape[1]))
        if first is None:
            raise DataError("no records agree with all published counts; they are not about the same people")
        values = np.rint(lines @ first).astype(np.int64)
        open_ = (values > 0) & (values < k)
        if skip is not None:
            open_ &= ~skip
        together = np.asarray(lines[open_].sum(axis=0)).ravel()
        for aim in (together, -together):
            self._rule_out(lines, values, open_, aim)
        results = []
        for group in np.flatnonzero(open_).tolist():
            aim = lines[group].toarray().ravel()
            for sign in (1, -1):
                if open_[group]:
                    self._rule_out(lines, values, open_, sign * aim)
            if open_[group]:
                results.append(Pinned(group=group, people=int(values[group]), used=self._used(aim, values[group])))
        return results

    def _rule_out(self, lines: Any, values: Whole, open_: NDArray[np.bool_], aim: NDArray[np.float64]) -> None:
        table = self._table(aim)
        if table is not None:
            open_ &= np.rint(lines @ table).astype(np.int64) == values

    def _table(self, aim: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The table of whole numbers that agrees and has the least of something; None where none agrees."""
        most = np.where(np.isinf(self._most), FREE, self._most)
        solution = self._optimize.milp(
            aim,
            integrality=np.ones(len(aim)),
            bounds=self._optimize.Bounds(0, most),
            constraints=self._optimize.LinearConstraint(self._counts, self._totals, self._totals),
            options={"mip_rel_gap": 0.0},
        )
        if solution.x is None:
            return None
        table = np.rint(solution.x)
        return table if np.array_equal(self._counts @ table, self._totals) else None

    def _used(self, aim: NDArray[np.float64], people: int) -> tuple[int, ...] | None:
        """Told counts that pin a group by themselves: those with a multiplier in the dual of either end."""
        used: set[int] = set()
        for sign in (1, -1):
            solution = self._optimize.linprog(sign * aim, A_eq=self._counts, b_eq=self._totals, method="highs")
            if solution.status != 0 or abs(sign * solution.fun - people) > _NEAR:
                return None
            used.update(np.flatnonzero(np.abs(solution.eqlin.marginals) > _NEAR).tolist())
        return tuple(sorted(used))


# Every group of few people whose number follows from told supports, as far as it is decided.


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


def find_channels(published: ToldSets, k: int) -> Found:
    """Every group of 1 to ``k`` - 1 people whose number follows from the told supports and the number of records.

    A group is all records that have some items and lack others, of the items of told sets. Its number follows if it is
    the same in all tables with these supports.

    Claim: every channel by inclusion and exclusion is found; with at most ``MOST_WHOLE`` items every channel at all.
        With more, those are found too that follow from supports which bounds of up to 6 items pin; and where none of
        these is there, those about the items of a told set of up to 6 that has a set within which is not told.
    Source: Atzori, Bonchi, Giannotti, Pedreschi, Anonymity preserving pattern discovery, 2008; Calders, Goethals 2002.
    """
    at_least("k", k, 1)
    many, direct = complete_channels(published, k)
    sets = dict(published.each())
    listed = [Because(channel=channel, sets=_told(sets, channel), proven=True) for channel in direct]
    if len(published.items()) <= MOST_WHOLE:
        rest = _decided(published, k)
        return Found(many=many + len(rest), listed=(*listed, *rest), reach="exact")
    more = derived(published)
    if more.many:
        many, wider = complete_channels(more.told, k)
        known = {(channel.have, channel.lack) for channel in direct}
        listed += [_because(sets, channel) for channel in wider if (channel.have, channel.lack) not in known]
    around = _around_gaps(published)
    whole = more.whole and len(around) <= MOST_GAPS
    if not listed:
        reasons = {
            reason.channel: reason for items in around[:MOST_GAPS] for reason in _decided(_about(published, items), k)
        }
        many, listed = len(reasons), list(reasons.values())
    return Found(many=many, listed=tuple(listed), reach="bounds" if whole else "some bounds")


def _around_gaps(published: ToldSets) -> list[Set]:
    """Told sets of a few items that have a set within which is not told, the largest first and none within another."""
    itemsets: list[Set] = []
    for level in reversed(published.family.levels[:MOST_WHOLE]):
        sets = level.sets[level.rows >= 0]
        gaps = sets[(windows(published.family, sets) < 0).any(axis=1)].tolist()
        itemsets += [
            tuple(gap) for gap in gaps if not any(set(gap) <= set(other) for other in itemsets[: MOST_GAPS + 1])
        ]
    return itemsets


def _about(published: ToldSets, items: Set) -> ToldSets:
    """What is told about some items alone."""
    whole = set(items)
    return told_sets(
        published.records,
        published.labels,
        {itemset: rows for itemset, rows in published.each() if whole.issuperset(itemset)},
    )


def _told(sets: Mapping[Set, int], channel: Channel) -> tuple[Set, ...]:
    """The told sets that the number of a channel is made of."""
    return tuple(itemset for itemset in channel.between() if itemset in sets)


def _because(sets: Mapping[Set, int], channel: Channel) -> Because:
    """A channel that needs bounds: the told sets that its number is made of; where there are none, all within it."""
    whole = set(channel.whole)
    near = _told(sets, channel) or tuple(itemset for itemset in sets if set(itemset) <= whole)
    return Because(channel=channel, sets=near, proven=False)


def _decided(published: ToldSets, k: int) -> list[Because]:
    """All channels but those by inclusion and exclusion, by integer programs."""
    items, sets = published.items(), list(published.each())
    if not items:
        return []
    where = {item: place for place, item in enumerate(items)}
    masks = np.array([sum(1 << where[item] for item in itemset) for itemset, _ in sets])
    cells = np.arange(1 << len(items))
    counts = np.vstack([np.ones((1, len(cells))), (cells & masks[:, None]) == masks[:, None]])
    system = CountSystem(counts, np.array([published.records, *(rows for _, rows in sets)]))
    groups, have, whole = _groups(len(items))
    direct = np.array(
        [_complete(int(low), int(high), {0, *masks.tolist()}) for low, high in zip(have, whole, strict=True)]
    )
    reasons = []
    for pin in system.pinned(groups, k, skip=direct):
        low, high = int(have[pin.group]), int(whole[pin.group])
        channel = Channel(
            have=tuple(item for item in items if low >> where[item] & 1),
            lack=tuple(item for item in items if (high & ~low) >> where[item] & 1),
            people=pin.people,
        )
        used = range(1, len(sets) + 1) if pin.used is None else pin.used
        reasons.append(
            Because(
                channel=channel, sets=tuple(sets[line - 1][0] for line in used if line), proven=pin.used is not None
            )
        )
    return reasons


@cache
def _groups(items: int) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.int64]]:
    """All groups over some items: their cells, the items that they have, and all that they are about."""
    states = np.array(list(product(range(3), repeat=items)), np.int64)
    powers = 1 << np.arange(items)
    have, whole = (states == 2) @ powers, (states > 0) @ powers
    cells = np.arange(1 << items)
    return ((cells & whole[:, None]) == have[:, None]).astype(np.int8), have, whole


def _complete(have: int, whole: int, masks: set[int]) -> bool:
    """Whether every set between two is told."""
    free, some = whole & ~have, 0
    while True:
        if have | some not in masks:
            return False
        if some == free:
            return True
        some = (some - free) & free


def group_text(published: ToldSets, channel: Channel) -> str:
    """The group of a channel as people read it."""
    parts = [f"with {items_text(published, channel.have)}"] * bool(channel.have)
    parts += [f"without {items_text(published, channel.lack)}"] * bool(channel.lack)
    return " and ".join(parts)
