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


def withhold(told: ToldSets, k: int, *, work: Work | None = None) -> Repaired:
    """The publication without the fewest sets that leave no group of 1 to ``k`` - 1 people to follow.

    How: every channel has a reason, told sets of which one must be withheld. The fewest sets that meet all reasons are
        an integer program, solved by HiGHS; where what is left has a channel still, its reason is added. Reasons of
        channels that need bounds are not always the smallest: ``least`` counts without those.
    """
    work = work or Work()
    _refuse(told, k)
    reasons: list[Because] = []
    seen: set[frozenset[Set]] = set()
    gone: tuple[Set, ...] = ()
    before = found = find_channels(told, k)
    least = 0
    while found.listed:
        for one in found.listed:
            if frozenset(one.sets) not in seen:
                seen.add(frozenset(one.sets))
                reasons.append(one)
        work.advance("withholding", len(gone), len(gone) + len(found.listed))
        gone, bound = _fewest([one.sets for one in reasons])
        sure = [one.sets for one in reasons if one.proven]
        least = max(least, bound if len(sure) == len(reasons) else _fewest(sure)[1])
        found = find_channels(told.without(gone), k)
    work.advance("withholding", 1, 1)
    return Repaired(told=told.without(gone), before=before, withheld=len(gone), added=0, least=least, reach=found.reach)


def _refuse(told: ToldSets, k: int) -> None:
    at_least("k", k, 1)
    if 0 < told.records < k:
        raise Infeasible(
            f"there are {told.records:,} records, and their number is public: k can be {told.records} at most"
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
        for one in reason:
            if one not in variables:
                variables[one] = program.variable(1.0)
        program.bound({variables[one]: 1.0 for one in reason}, low=1.0)
    values, bound, _ = program.solved(SECONDS * PACE)
    least = max(least, 0 if bound is None else ceil(bound - 1e-6))
    found = begun if values is None else tuple(sorted(one for one, place in variables.items() if values[place] > 0.5))
    return min((begun, found), key=len), least


def _greedy(reasons: list[tuple[Set, ...]]) -> tuple[Set, ...]:
    """One after the other the set that most open reasons have, a larger one first among equals; then none too many."""
    where: dict[Set, list[int]] = {}
    for place, reason in enumerate(reasons):
        for one in reason:
            where.setdefault(one, []).append(place)
    met, found = [0] * len(reasons), list[Set]()
    heap = [(-len(places), -len(one), one) for one, places in where.items()]
    heapify(heap)
    while heap:
        stated, size, one = heappop(heap)
        open_ = sum(not met[place] for place in where[one])
        if open_ < -stated:
            if open_:
                heappush(heap, (-open_, size, one))
            continue
        found.append(one)
        for place in where[one]:
            met[place] += 1
    kept = []
    for one in found:
        if all(met[place] > 1 for place in where[one]):
            for place in where[one]:
                met[place] -= 1
        else:
            kept.append(one)
    return tuple(sorted(kept))


def _apart(reasons: Iterable[tuple[Set, ...]]) -> list[tuple[Set, ...]]:
    """Reasons without a common set, small ones first: each takes a set of its own."""
    used: set[Set] = set()
    found = []
    for reason in sorted(reasons, key=len):
        if not used.intersection(reason):
            used.update(reason)
            found.append(reason)
    return found


def raise_supports(told: ToldSets, k: int, *, work: Work | None = None) -> Repaired:
    """All sets, with the supports of a table to which records were added so that no group has 1 to ``k`` - 1 people.

    How: a channel is filled by ``k`` records that have just the items which its group has. Every group then gets no
        record or at least ``k``, so no new channel comes up; one such record may fill several channels.
    Claim: the told numbers are those of one table, so they agree with each other; and none is less than the true one.
    Source: the additive sanitization of Atzori, Bonchi, Giannotti, Pedreschi 2008.
    """
    work = work or Work()
    _refuse(told, k)
    before = found = find_channels(told, k)
    least, added = _least_added(found, k), 0
    while found.listed:
        work.advance("raising", added, added + len(found.listed))
        rows = dict(told.each())
        fillers = _fillers([one.channel for one in found.listed])
        for filler in fillers:
            for mask in range(1, 1 << len(filler)):
                items = tuple(filler[place] for place in chosen(len(filler), mask))
                if items in rows:
                    rows[items] += k
        added += k * len(fillers)
        told = told_sets(told.records + k * len(fillers), told.labels, rows)
        found = find_channels(told, k)
    work.advance("raising", 1, 1)
    return Repaired(told=told, before=before, withheld=0, added=added, least=least, reach=found.reach)


def _least_added(found: Found, k: int) -> int:
    """Groups about the same items have nobody in common, so each needs records of its own."""
    needed: dict[Set, int] = {}
    for one in found.listed:
        whole = one.channel.whole
        needed[whole] = needed.get(whole, 0) + k - one.channel.people
    return max(needed.values(), default=0)


def _fillers(channels: list[Channel]) -> list[Set]:
    """Records that fill all channels: sets of items, those of groups with many items first."""
    ordered = sorted(channels, key=lambda one: (-len(one.have), one.have))
    items = sorted({item for one in ordered for item in one.whole})
    have, whole = (_marked([getattr(one, end) for one in ordered], items) for end in ("have", "whole"))
    open_, found = np.ones(len(ordered), bool), []
    for place, one in enumerate(ordered):
        if open_[place]:
            found.append(one.have)
            open_ &= ((whole & have[place]) != have).any(axis=1)
    return found


def _marked(sets: Sequence[Set], items: Sequence[int]) -> NDArray[np.bool_]:
    """One line for each set: which items it has."""
    code = {item: place for place, item in enumerate(items)}
    found = np.zeros((len(sets), len(items)), bool)
    for line, one in enumerate(sets):
        found[line, [code[item] for item in one]] = True
    return found
