"""Publications without inference channels: some sets are withheld, or supports are raised by records that nobody is.

Withholding keeps every told number true. A publication without channels stays so when less of it is told, so the fewest
sets to withhold are the fewest that meet the reasons of all channels. Raising keeps every set, and tells numbers of a
table to which records were added; every number of a group is then 0, as it was, or at least k.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.sanitize.exact_hiding import Program
from sfumato.core.arguments import at_least
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import PACE, Work
from sfumato.core.short_repr import Brief
from sfumato.mining.channels.bounds import Channel
from sfumato.mining.channels.detection import Because, Found, Reach, find_channels
from sfumato.mining.channels.published_sets import Set, ToldSets, chosen, told_sets

MOST_TERMS = 300_000
"""The fewest sets are searched by an integer program where reasons name no more sets than this in all."""
SECONDS = 20.0
"""How long one program may be searched, counted in steps."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Repaired(Brief):
    """A publication without inference channels, as far as they are looked for."""

    told: ToldSets
    """What is told."""
    before: Found
    """What would have followed from everything."""
    withheld: int
    """How many sets are not told."""
    added: int
    """How many records were added that nobody is."""
    least: int
    """No fewer sets, or records, do; this many may."""
    reach: Reach
    """What was looked at."""

    @property
    def proven(self) -> bool:
        """Whether nothing smaller would do."""
        return self.withheld + self.added == self.least


def withhold(published: ToldSets, k: int, *, work: Work | None = None) -> Repaired:
    """The publication without the fewest sets that leave no group of 1 to ``k`` - 1 people to follow.

    How: every channel has a reason, told sets of which one must be withheld. The fewest sets that meet all reasons are
        an integer program, solved by HiGHS; where what is left has a channel still, its reason is added. Reasons of
        channels that need bounds are not always the smallest: ``least`` counts without those.
    """
    work = work or Work()
    _refuse(published, k)
    reasons: list[Because] = []
    seen: set[frozenset[Set]] = set()
    gone: tuple[Set, ...] = ()
    before = result = find_channels(published, k)
    least = 0
    while result.listed:
        for reason in result.listed:
            if frozenset(reason.sets) not in seen:
                seen.add(frozenset(reason.sets))
                reasons.append(reason)
        work.advance("withholding", len(gone), len(gone) + len(result.listed))
        gone, bound = _fewest([reason.sets for reason in reasons])
        sure = [reason.sets for reason in reasons if reason.proven]
        least = max(least, bound if len(sure) == len(reasons) else _fewest(sure)[1])
        result = find_channels(published.without(gone), k)
    work.advance("withholding", 1, 1)
    return Repaired(
        told=published.without(gone), before=before, withheld=len(gone), added=0, least=least, reach=result.reach
    )


def _refuse(published: ToldSets, k: int) -> None:
    at_least("k", k, 1)
    if 0 < published.records < k:
        raise Infeasible(
            f"there are {published.records:,} records, and their number is public: k can be {published.records} at most"
        )


def _fewest(reasons: list[tuple[Set, ...]]) -> tuple[tuple[Set, ...], int]:
    """Sets, few of them, so that every reason has one; and how many it takes at least."""
    if not reasons:
        return (), 0
    begun = _greedy(reasons)
    least = len(_apart(reasons))
    if len(begun) == least or sum(map(len, reasons)) > MOST_TERMS:
        return begun, least
    program, variables = Program(), dict[Set, int]()
    for reason in reasons:
        for itemset in reason:
            if itemset not in variables:
                variables[itemset] = program.variable(1.0)
        program.bound({variables[itemset]: 1.0 for itemset in reason}, low=1.0)
    values, bound, _ = program.solved(SECONDS * PACE)
    least = max(least, 0 if bound is None else ceil(bound - 1e-6))
    solution = (
        begun
        if values is None
        else tuple(sorted(itemset for itemset, place in variables.items() if values[place] > 0.5))
    )
    return min((begun, solution), key=len), least


def _greedy(reasons: list[tuple[Set, ...]]) -> tuple[Set, ...]:
    """One after the other the set that most open reasons have, a larger one first among equals; then none too many."""
    where: dict[Set, list[int]] = {}
    for place, reason in enumerate(reasons):
        for itemset in reason:
            where.setdefault(itemset, []).append(place)
    met, cover = [0] * len(reasons), list[Set]()
    heap = [(-len(places), -len(itemset), itemset) for itemset, places in where.items()]
    heapify(heap)
    while heap:
        stated, size, itemset = heappop(heap)
        open_ = sum(not met[place] for place in where[itemset])
        if open_ < -stated:
            if open_:
                heappush(heap, (-open_, size, itemset))
            continue
        cover.append(itemset)
        for place in where[itemset]:
            met[place] += 1
    kept = []
    for itemset in cover:
        if all(met[place] > 1 for place in where[itemset]):
            for place in where[itemset]:
                met[place] -= 1
        else:
            kept.append(itemset)
    return tuple(sorted(kept))


def _apart(reasons: Iterable[tuple[Set, ...]]) -> list[tuple[Set, ...]]:
    """Reasons without a common set, small ones first: each takes a set of its own."""
    used: set[Set] = set()
    disjoint = []
    for reason in sorted(reasons, key=len):
        if not used.intersection(reason):
            used.update(reason)
            disjoint.append(reason)
    return disjoint


def raise_supports(published: ToldSets, k: int, *, work: Work | None = None) -> Repaired:
    """All sets, with the supports of a table to which records were added so that no group has 1 to ``k`` - 1 people.

    How: a channel is filled by ``k`` records that have just the items which its group has. Every group then gets no
        record or at least ``k``, so no new channel comes up; one such record may fill several channels.
    Claim: the told numbers are those of one table, so they agree with each other; and none is less than the true one.
    Source: the additive sanitization of Atzori, Bonchi, Giannotti, Pedreschi 2008.
    """
    work = work or Work()
    _refuse(published, k)
    before = result = find_channels(published, k)
    least, added = _least_added(result, k), 0
    while result.listed:
        work.advance("raising", added, added + len(result.listed))
        rows = dict(published.each())
        fillers = _fillers([reason.channel for reason in result.listed])
        for filler in fillers:
            for mask in range(1, 1 << len(filler)):
                items = tuple(filler[place] for place in chosen(len(filler), mask))
                if items in rows:
                    rows[items] += k
        added += k * len(fillers)
        published = told_sets(published.records + k * len(fillers), published.labels, rows)
        result = find_channels(published, k)
    work.advance("raising", 1, 1)
    return Repaired(told=published, before=before, withheld=0, added=added, least=least, reach=result.reach)


def _least_added(result: Found, k: int) -> int:
    """Groups about the same items have nobody in common, so each needs records of its own."""
    needed: dict[Set, int] = {}
    for reason in result.listed:
        whole = reason.channel.whole
        needed[whole] = needed.get(whole, 0) + k - reason.channel.people
    return max(needed.values(), default=0)


def _fillers(channels: list[Channel]) -> list[Set]:
    """Records that fill all channels: sets of items, those of groups with many items first."""
    ordered = sorted(channels, key=lambda channel: (-len(channel.have), channel.have))
    items = sorted({item for channel in ordered for item in channel.whole})
    have, whole = (_marked([getattr(channel, end) for channel in ordered], items) for end in ("have", "whole"))
    open_, fillers = np.ones(len(ordered), bool), []
    for place, channel in enumerate(ordered):
        if open_[place]:
            fillers.append(channel.have)
            open_ &= ((whole & have[place]) != have).any(axis=1)
    return fillers


def _marked(sets: Sequence[Set], items: Sequence[int]) -> NDArray[np.bool_]:
    """One line for each set: which items it has."""
    code = {item: place for place, item in enumerate(items)}
    membership = np.zeros((len(sets), len(items)), bool)
    for line, itemset in enumerate(sets):
        membership[line, [code[item] for item in itemset]] = True
    return membership
