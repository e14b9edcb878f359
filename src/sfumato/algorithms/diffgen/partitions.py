"""Leaf partitions, one specialization of them, and the noisy test for empty children."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, isqrt, log, log1p

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen.columns import Candidate, NumberColumn, SetColumn, TreeColumn
from sfumato.algorithms.private_table import Mechanisms
from sfumato.core.errors import ParameterError
from sfumato.counts.keys import Ids
from sfumato.counts.sources import CutCounts, Divided, Division
from sfumato.dp.accounting import Unit
from sfumato.dp.events import Pure
from sfumato.tables.table import Codes

# The leaf partitions: what each is called in every attribute, and how many records of each class it has.


class Partitions:
    """All partitions, also those without a record; they stand in the order of the tree of specializations.

    Which record is in which partition is known to the walk alone. There only partitions with records have a number.
    """

    def __init__(self, columns: int, walk: CutCounts) -> None:
        """One partition, with the topmost value of every attribute, that has all records."""
        self.walk = walk
        self.keys = np.zeros((columns, 1), np.int32)
        """Columns x partitions: the value of each partition."""
        self.counts: NDArray[np.int64] = walk.total()[None]
        """Partitions x classes: private."""
        self.places: Ids = np.where(self.counts.any(axis=1), 0, -1)
        """The number of each partition in the walk; -1 if it has no record: private."""
        self.parents: list[Codes] = []
        """For every step, the partition that each new partition was before."""
        self._numbers = 1

    @property
    def count(self) -> int:
        """How many there are: public."""
        return self.keys.shape[1]

    def having(self, column: int, value: int) -> NDArray[np.bool_]:
        """Which of them have a value."""
        return np.asarray(self.keys[column] == value)

    def split(self, column: int, value: int, values: tuple[int, ...], child_of: Codes) -> None:
        """Every partition that has a value becomes one for each child value."""
        has = self.having(column, value)
        parents = np.repeat(np.arange(self.count, dtype=np.int32), np.where(has, len(values), 1))
        first = np.searchsorted(parents, np.arange(self.count)).astype(np.int32)
        child = np.arange(len(parents)) - first[parents]
        keys = np.where(has[parents], np.asarray(values, np.int32)[child % len(values)], self.keys[column][parents])
        filled = np.flatnonzero(has & (self.places >= 0))
        division = Division(column=column, parts=self.places[filled], child_of=child_of, children=len(values))
        divided = self.walk.refine(division).occupied()
        self.replace(parents, column, keys, has, divided, first[filled[divided.owner]] + divided.child)

    def replace(
        self, parents: Codes, column: int, keys: Codes, gone: NDArray[np.bool_], divided: Divided, at: Ids
    ) -> None:
        """Other partitions, each from one of the old ones, with a new value in one column.

        Of those that are ``gone``, the pairs with records go to the new partitions ``at`` these places.
        """
        numbers = divided.places(self._numbers)
        self.walk.apply(divided, numbers)
        self._numbers = max(self._numbers, int(numbers.max(initial=0)) + 1)
        fresh = gone[parents]
        counts = np.where(fresh[:, None], 0, self.counts[parents])
        places = np.where(fresh, -1, self.places[parents])
        counts[at], places[at] = divided.counts, numbers
        self.keys = self.keys[:, parents]
        self.keys[column] = keys
        self.counts, self.places = counts, places
        self.parents.append(parents)


# Which child partitions of sets are taken to be non-empty: a noisy test that never lists the empty ones.
#
# A specialization of a node with m child nodes makes 2^m - 1 child partitions of every partition, nearly all of them
# without a record. All get the same test: count plus discrete Laplace noise against one threshold. For an empty one
# this is a coin with the probability p = P[noise >= threshold], independent of all others. So the empty ones are gone
# through by the waiting times between successes, which are geometric, and only those that pass are ever named.
#
# The coin may come up with a probability slightly above p, never below. The test stays e'-differentially private: let
# a record be added to an empty partition. Passing becomes e^e' p, at most e^e' times as likely as p or anything above;
# failing becomes less likely, from at most 1 - p to 1 - e^e' p, by less than e^e' just as with the noise itself; and
# the other way round there is room. Nor is a probability ever below 2^-100, however small p is: the threshold makes p
# at least e^-(e' + 42) / 2, so with one record more at least e^-42 / 2 pass, and 2^-100 is far below.


Masks = NDArray[np.int64]
Waits = Callable[[int, Fraction], Masks]
_ABOVE = 1 + 1e-11
"""Rounding moves probabilities by less than this; they are rounded up."""
SPURIOUS = 16.0
"""So many empty partitions may pass a test on average: each is a group that nobody is in."""
_RAREST = 2.0**-100
"""The least probability of a success: among all partitions there can be, none is to be expected."""
_LEAST = Fraction(1, 10**9)
"""Above this share of the budget, rounding up is far within what the test may differ by."""
_DIGITS = 12
"""To so many digits the epsilon of a share of rho is rounded down."""
_MOST = 1000
"""Above this share of the budget, a test hides nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupied:
    """The child partitions that have records."""

    parent: Masks
    """The place of their partition among those that have the node, ascending."""
    mask: Masks
    """Their child nodes, as bits; ascending within a partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emptiness:
    """A test of all child partitions of some partitions: public."""

    parents: int
    """How many partitions have the node."""
    first: int
    """The first subset of child nodes there can be, as bits."""
    last: int
    """The last one."""
    least: int
    """The least noisy count that passes."""
    cost: Pure
    """What the test costs: its noise is discrete Laplace also where the budget is counted in rho."""


Sieve = Callable[[Occupied, Masks, Emptiness, Mechanisms], Occupied]
"""Of the child partitions that have records, with their counts, and of all others: those that pass."""


def sifted(occupied: Occupied, counts: Masks, emptiness: Emptiness, mechanisms: Mechanisms) -> Occupied:
    """The child partitions that pass, ascending: with and without records."""
    kept = mechanisms.count(counts, emptiness.cost).values >= emptiness.least
    chance = passing(emptiness.cost.epsilon, emptiness.least)
    empty = empty_that_pass(occupied, emptiness.first, emptiness.last, emptiness.parents, chance, mechanisms.waits)
    parent = np.concatenate([occupied.parent[kept], empty.parent])
    mask = np.concatenate([occupied.mask[kept], empty.mask])
    order = np.lexsort((mask, parent))
    return Occupied(parent=parent[order], mask=mask[order])


def pure_cost(unit: Unit, share: Fraction, what: str) -> Pure:
    """A test for a share of the budget; for a share of rho the epsilon whose square is twice as much, rounded down.

    >>> pure_cost("rho", Fraction(1, 8), "").epsilon, float(pure_cost("rho", Fraction(1), "").epsilon)
    (Fraction(1, 2), 1.414213562373)
    """
    if unit == "epsilon":
        return Pure(epsilon=share, what=what)
    above, under = 2 * share.numerator, share.denominator
    digits = _DIGITS + max(len(str(under)) - len(str(above)), 0) // 2
    return Pure(epsilon=Fraction(isqrt(above * 100**digits // under), 10**digits), what=what)


def refuse_untestable(share: Fraction) -> None:
    """Refuse a share of the budget that is too small or too large for a test."""
    if share < _LEAST:
        raise ParameterError(f"epsilon must leave at least {float(_LEAST):g} for a test of sets, not {float(share):g}")
    if share > _MOST:
        raise ParameterError(f"epsilon must leave at most {_MOST} for a test of sets; take a smaller one")


def threshold(share: Fraction, subsets: int, room: int) -> int:
    """The least noisy count that passes: sqrt(2)/e', the noise's standard deviation.

    Where more than a few empty partitions would pass on average, or more than half of ``room``, it is raised until they
    do not; that is decided by the number of all ``subsets``, which is public.
    """
    refuse_untestable(share)
    plain = isqrt(2 * share.denominator**2 // share.numerator**2) + 1
    most = min(max(room, 2) / 2, SPURIOUS)
    if subsets * passing(share, plain) <= most:
        return plain
    return max(plain, ceil(log(subsets / most) / float(share)))


def passing(share: Fraction, least: int) -> float:
    """The probability that discrete Laplace noise of scale 1/e' is at least so much, rounded up."""
    q = exp(-float(share))
    return max(exp(-float(share) * least) / (1 + q) * _ABOVE, _RAREST)


def empty_that_pass(occupied: Occupied, first: int, last: int, parents: int, chance: float, waits: Waits) -> Occupied:
    """Empty child partitions (a mask from ``first`` to ``last``), each one with a probability of ``chance``."""
    taken = np.bincount(occupied.parent, minlength=parents)
    free = np.concatenate([[0], np.cumsum(last - first + 1 - taken)])
    hits = successes(int(free[-1]), chance, waits)
    parent = np.searchsorted(free, hits, side="right") - 1
    begun = np.cumsum(taken) - taken
    rank = np.arange(len(occupied.parent)) - begun[occupied.parent]
    ahead = free[occupied.parent] + occupied.mask - first - rank
    passed_over = np.searchsorted(ahead, hits, side="right") - begun[parent]
    return Occupied(parent=parent, mask=first + (hits - free[parent]) + passed_over)


def successes(trials: int, chance: float, waits: Waits) -> Masks:
    """The places of the successes among so many independent trials, ascending; ``chance`` is met or passed by a bit."""
    if trials <= 0:
        return np.zeros(0, np.int64)
    rate = Fraction(-log1p(-chance) * _ABOVE)
    batches: list[Masks] = []
    at = -1
    while at < trials:
        ahead = ceil((trials - at) * chance * 1.1) + 16
        places = at + _summed(waits(ahead, rate), trials)
        batches.append(places)
        at = int(places[-1])
    places = np.concatenate(batches)
    return places[places < trials]


def _summed(waits: Masks, trials: int) -> Masks:
    """How far each success is ahead, up to the first one beyond twice the trials: whole numbers that do not overflow.

    A wait of all trials or more ends them, so it may be cut off there. Trials are at most 2^60.
    """
    steps = np.minimum(waits, trials) + 1
    beyond = int(np.searchsorted(np.cumsum(steps, dtype=np.float64), 2.0 * trials, side="right"))
    return np.cumsum(steps[: beyond + 1])


# One specialization: of a value in every partition that has it.


AnyColumn = TreeColumn | NumberColumn | SetColumn


def specialize(column: TreeColumn | NumberColumn, at: Candidate, parts: Partitions) -> tuple[int, ...]:
    """Divide the partitions by the child values; no record decides anything here."""
    child_of = column.child_of(at)
    values = column.split(at)
    parts.split(at.column, at.value, values, child_of)
    return values


def specialize_sets(
    column: SetColumn, at: Candidate, parts: Partitions, cost: Pure, most: int, mechanisms: Mechanisms, sieve: Sieve
) -> None:
    """Divide the partitions by subsets of the child nodes, and keep those that pass the noisy test."""
    has = column.having(parts.keys[at.column], at.value)
    owners, filled = np.flatnonzero(has), np.flatnonzero(has & (parts.places >= 0))
    first, last = column.masks(at.value)
    pairs = parts.walk.refine(column.division(at.value, parts.places[filled])).occupied()
    occupied = Occupied(parent=(np.cumsum(has) - 1)[filled[pairs.owner]], mask=pairs.child)
    least = threshold(cost.epsilon, len(owners) * (last + 1 - first), most - parts.count)
    emptiness = Emptiness(parents=len(owners), first=first, last=last, least=least, cost=cost)
    passed = sieve(occupied, pairs.counts.sum(axis=1), emptiness, mechanisms)
    others = np.flatnonzero(~has)
    parents = np.concatenate([owners[passed.parent], others])
    order = np.lexsort((np.append(passed.mask, np.zeros(len(others), np.int64)), parents))
    keys = parts.keys[at.column][parents].copy()
    keys[: len(passed.mask)] = column.values_of(keys[: len(passed.mask)], passed.mask, at.value)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    numbers, wanted = (children.parent.astype(np.int64) * (last + 1) + children.mask for children in (occupied, passed))
    kept = np.isin(numbers, wanted)
    at_new = place[np.searchsorted(wanted, numbers[kept])]
    parts.replace(parents[order].astype(np.int32), at.column, keys[order], has, pairs.kept(kept), at_new)
