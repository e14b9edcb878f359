"""Cuts of Mondrian's groups, all groups of a round at once, and the lookahead of small groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.mondrian_columns import (
    Columns,
    Costs,
    Flags,
    Held,
    Values,
    bits,
    by_class,
    informed,
    priced,
    values_of,
)
from sfumato.counts.keys import Ids, ranges, weighed
from sfumato.counts.tally import Tally
from sfumato.metrics.metric import Reals

# By what rule groups are cut.


Cut = Literal["balanced", "median", "any"]
"""A column is cut where it is best balanced (elsewhere only afterwards), at the median only, or anywhere alike."""
Choose = Literal["metric", "width", "gain"]
"""A cut is better by the price that it wins, by the width of its column, by what it tells about the class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Where groups may be cut, and what makes a cut better."""

    ordered: bool
    """Whether cuts lie between any two values; otherwise between the children of a group's label, frequent first."""
    relaxed: bool
    """Whether a cut may divide the rows of one value."""
    cut: Cut
    """Where columns are cut."""
    choose: Choose
    """What makes a cut better."""
    least: int
    """How many rows each side must have."""


# Groups as slices of the cells' order.


Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices:
    """Groups, the cut that each was given last, and what they cost."""

    ends: NDArray[np.int64]
    """First cell, end, and where the second side of the cut begins: -1 if there is none."""
    tried: Reals
    """The key of the cut."""
    numbers: Ids
    """The number of the cut, -1 before the first."""
    loss: Reals
    """What the group costs uncut, where that was asked for."""

    @classmethod
    def of(cls, starts: Ids, ends: Ids) -> Slices:
        """Groups that were never cut."""
        none = np.full(len(starts), -1, np.int64)
        return cls(
            ends=np.array([starts, ends, none]),
            tried=np.full(len(starts), -np.inf),
            numbers=none.copy(),
            loss=np.zeros(len(starts)),
        )

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    @property
    def lengths(self) -> Ids:
        """How many cells each has."""
        return np.asarray(self.ends[1] - self.ends[0])

    @property
    def cut(self) -> Marks:
        """Which of them have a cut."""
        return np.asarray(self.ends[2] >= 0)

    @property
    def places(self) -> Ids:
        """The places of all their cells, group after group."""
        return ranges(self.ends[0], self.ends[1])[1]

    def take(self, which: Marks) -> Slices:
        """Some of them."""
        return Slices(
            ends=np.ascontiguousarray(self.ends[:, which]),
            tried=self.tried[which],
            numbers=self.numbers[which],
            loss=self.loss[which],
        )

    def copy(self) -> Slices:
        """The same, to be cut on."""
        return self.take(np.ones(self.count, np.bool_))

    def packed(self) -> Slices:
        """The same as slices of an order that holds only their cells."""
        ends = self.ends - self.ends[0] + np.cumsum(self.lengths) - self.lengths
        return Slices(ends=ends, tried=self.tried, numbers=self.numbers, loss=self.loss)

    def halves(self, shift: int = 0) -> Slices:
        """The two sides of every group, so many cells further on: all first sides, then all second sides."""
        start, end, middle = self.ends + shift
        return Slices.of(np.append(start, middle), np.append(middle, end))

    def __add__(self, other: Slices) -> Slices:
        return Slices(
            ends=np.concatenate([self.ends, other.ends], axis=1),
            tried=np.append(self.tried, other.tried),
            numbers=np.append(self.numbers, other.numbers),
            loss=np.append(self.loss, other.loss),
        )


# Cuts of groups in two, all groups of a round at once: which column, where, and what the sides then cost.
#
# The cells of a group are a slice of an order. The values of all columns are numbered through, each column's in their
# order. For one group and one column the values are counted and put in the order in which they are cut; a cut lies
# after one of them or, relaxed, inside one. Every cut has a key: zero or less for the cuts that are tried first, the
# best one lowest, and above zero for those that are tried when all others were refused. Keys are rounded. The number
# tells equal ones apart, the lowest first: column, place in the order, and whether it lies inside.


_HOPE = 0.3
"""What later cuts may win, as a share of the price."""
_CUT_PRECISION = 2.0**40
"""Two cuts are equally good to one part in so many: less than that is left by rounding."""
_SPLINTER = 16
"""Where all ordered cuts compete, those that part fewer than one in so many rows come last: they could go on long."""


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The best cut of each group so far: its key and number; and what a row of the group costs as it is."""

    keys: Reals
    numbers: Ids
    prices: Reals


class Knife:
    """Cuts groups of cells by a rule."""

    def __init__(self, columns: Columns, sizes: Ids, rule: Rule, target: Tally | None = None) -> None:
        self._made, self._sizes, self._rule, self._target = columns, sizes.astype(np.int64), rule, target

    def __call__(self, order: Ids, out: Ids, groups: Slices, *, weighed: bool = False) -> None:
        """Give every group its next cut, and write its cells to ``out`` with the first side first.

        ``out`` may be ``order`` itself. Where it is asked for, every group gets what it costs uncut.
        """
        every = Held.of(order, self._sizes, groups.ends[0], groups.ends[1])
        groups.ends[2] = -1
        able = np.flatnonzero((every.whole >= 2 * self._rule.least) | weighed)
        if not len(able):
            return
        held = every if len(able) == len(every.whole) else self._held(order, groups, able)
        cuts = self._search(held, groups.tried[able], groups.numbers[able])
        groups.tried[able], groups.numbers[able] = cuts.keys, cuts.numbers
        groups.loss[able] = cuts.prices * held.whole
        column = np.where(cuts.numbers < 0, -1, cuts.numbers // self._stride)
        for c in np.unique(column[column >= 0]).tolist():
            chosen = np.flatnonzero(column == c)
            here = able[chosen]
            part = self._held(order, groups, here)
            values = self._values(part, c, cells=True)
            groups.ends[2, here] = _divide(part, values, cuts.numbers[chosen] % self._stride, out)

    @property
    def _stride(self) -> int:
        """Numbers of cuts from one column to the next."""
        return 2 * self._made.labels.shape[1]

    def _held(self, order: Ids, groups: Slices, which: Ids) -> Held:
        return Held.of(order, self._sizes, groups.ends[0, which], groups.ends[1, which])

    def _values(self, held: Held, column: int, *, cells: bool) -> Values:
        """The values of a column; a single one can be cut only where rows of one value may be divided."""
        rule = self._rule
        return values_of(self._made, held, column, ordered=rule.ordered, single=rule.relaxed, cells=cells)

    def _search(self, held: Held, tried: Reals, numbers: Ids) -> _Found:
        """The best cut of every group after the one that was tried; among equal ones that of the first column."""
        groups, target = len(held.whole), self._target
        cuts = _Found(np.full(groups, np.inf), np.full(groups, -1, np.int64), np.zeros(groups))
        for c in range(len(self._made.keys)):
            values = self._values(held, c, cells=target is not None)
            if not len(values.groups):
                continue
            costs = priced(self._made, c, values)
            gains = informed(values, by_class(target, held, values), held.whole) if target is not None else None
            cuts.prices[values.groups] += costs.front[values.ends - 1]
            key, place = _best(self._rule, held, values, costs, gains, tried, numbers - c * self._stride)
            better = key < cuts.keys[values.groups]
            cuts.keys[values.groups[better]] = key[better]
            cuts.numbers[values.groups[better]] = c * self._stride + place[better]
        return cuts


def _best(
    rule: Rule, held: Held, values: Values, costs: Costs, gains: tuple[Reals, Reals] | None, tried: Reals, here: Ids
) -> tuple[Reals, Ids]:
    """The best cut of a column in each of its groups: key and number, those that were tried left out."""
    whole = held.whole[values.groups][values.at]
    first = _preferred(rule, values, whole)[values.at]
    keys, places = np.full(len(values.codes), np.inf), np.zeros(len(values.codes), np.int64)
    half = (whole + 1) // 2
    for inside in range(2 if rule.relaxed else 1):
        cut = half if inside else values.upto
        there = (values.upto - values.rows < half) & (half < values.upto) if inside else values.parted
        there = there & (cut >= rule.least) & (whole - cut >= rule.least)
        compete = cut == first
        if rule.cut == "any":
            compete |= ~((_SPLINTER * np.minimum(cut, whole - cut) < whole) & rule.ordered)
        elif rule.cut == "median":
            there &= compete
        at = np.flatnonzero(there)
        key = 1.0 + np.abs(2 * cut[at] - whole[at])
        early = compete[at]
        top = at[early]
        worth = _worth(rule, values, costs, gains, top, cut[top] / whole[top], inside)
        key[early] = np.rint(-worth * _CUT_PRECISION) / _CUT_PRECISION
        number = 2 * (at - values.starts[values.at[at]]) + inside
        group = values.groups[values.at[at]]
        left = (key > tried[group]) | ((key == tried[group]) & (number > here[group]))
        at, key, number = at[left], key[left], number[left]
        better = key < keys[at]  # of a cut after a value and one inside it, the former is first among equals
        keys[at[better]], places[at[better]] = key[better], number[better]
    best = _first(keys, values)
    return keys[best], places[best]


def _worth(
    rule: Rule, values: Values, costs: Costs, gains: tuple[Reals, Reals] | None, at: Ids, share: Reals, inside: int
) -> Reals:
    """How good cuts are; for the metric, the price won and the hope of more, for what the cut uses up."""
    price = costs.front[values.ends[values.at[at]] - 1]
    if rule.choose == "metric":
        back = costs.back[np.minimum(at + 1 - inside, len(costs.back) - 1)]
        won = price - share * costs.front[at] - (1.0 - share) * back
        spent = -bits(share) - bits(1.0 - share)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.maximum(won + _HOPE * price, 0.0) / np.sqrt(np.sqrt(spent)))
    if rule.choose == "width" or gains is None:
        return np.asarray(price)
    return np.asarray(gains[inside][at] + 1e-9 * price)


def _preferred(rule: Rule, values: Values, whole: Ids) -> Ids:
    """How many rows come before the cut that a column tries first; 0 if all its cuts are alike."""
    if rule.cut == "any":
        return np.zeros(len(values.groups), np.int64)
    if rule.relaxed:
        return np.asarray((whole[values.starts] + 1) // 2)
    off = 2 * values.upto - whole
    allowed = values.parted & (off >= 0) if rule.cut == "median" else values.parted
    rank = np.where(allowed, np.abs(off), np.iinfo(np.int64).max)  # upto grows: the median is the nearest above half
    return np.where(_any(allowed, values), values.upto[_first(rank, values)], 0)


def _first(keys: Reals | Ids, values: Values) -> Ids:
    """For each group, the place of its lowest key, the first among equals."""
    hits = np.flatnonzero(keys == np.minimum.reduceat(keys, values.starts)[values.at])
    lead = np.ones(len(hits), np.bool_)
    lead[1:] = np.diff(values.at[hits]) > 0
    return hits[lead]


def _any(marks: Flags, values: Values) -> Flags:
    """For each group, whether some value is marked."""
    return np.asarray(np.logical_or.reduceat(marks, values.starts))


def _divide(held: Held, values: Values, numbers: Ids, out: Ids) -> Ids:
    """Write the groups' cells with the first side first, each side in its old order; where the second sides begin.

    Rows of a value that the cut divides are dealt out evenly along their order.
    """
    of = values.of_cells
    inside, place = numbers % 2 == 1, numbers // 2
    half = ((held.whole + 1) // 2)[values.at]
    before = values.upto - values.rows
    rank = np.arange(len(values.at)) - values.starts[values.at]
    through = np.where(rank <= place[values.at], values.rows, 0)
    share = np.where(inside[values.at], np.clip(half - before, 0, values.rows), through)
    if inside.any():
        dealt = _dealt(of, held.sizes)
        had = (dealt - held.sizes) * share[of] // values.rows[of]
        first = dealt * share[of] // values.rows[of] > had
    else:
        first = share[of] > 0
    counts = np.asarray(np.bincount(held.at[first], minlength=len(held.whole)), np.int64)
    middles = held.starts + counts
    # a first-side cell goes after those of its group before it; a second-side one likewise behind the middle
    seen = np.cumsum(first) - first
    ahead = seen - np.repeat(seen[held.firsts], held.lengths)
    index = np.arange(len(first)) - np.repeat(held.firsts, held.lengths)
    target = np.where(first, held.starts[held.at] + ahead, middles[held.at] + index - ahead)
    out[target] = held.cells
    return middles


def _dealt(of: Ids, sizes: Ids) -> Ids:
    """For each cell, the rows of its value up to it, itself included, in the cells' order."""
    order = np.argsort(of, kind="stable")
    upto = np.cumsum(sizes[order])
    begins = np.flatnonzero(np.diff(of[order], prepend=-1))
    base = np.repeat(upto[begins] - sizes[order][begins], np.diff(np.append(begins, len(of))))
    dealt = np.empty(len(of), np.int64)
    dealt[order] = upto - base
    return dealt


# Small groups try a few cuts out to the end, and take the one that leads to the lowest loss.


_TRIALS = 3
"""How many cuts are tried out; more gain little."""

_LOSS_PRECISION = 2.0**30
"""Losses, in rows, are equal to one part in so many; of equal ones the cut that was better by itself is taken."""


def tried_out(knife: Knife, order: Ids, moved: Ids, groups: Slices, small: Marks) -> None:
    """Replace the cuts of small groups, written to ``moved``, by better ones.

    A group with another cut than its first forgets what it has tried: if this one is refused, it starts at the first.
    """
    if not small.any():
        return
    chosen = groups.take(small)
    places, lengths = chosen.places, chosen.lengths
    trials = [chosen.packed()]
    written = [moved[places]]
    for _ in range(1, _TRIALS):
        trials.append(trials[-1].copy())
        written.append(order[places])
        knife(order[places], written[-1], trials[-1])
    best = _least_loss(knife, np.concatenate(written), trials)
    every = np.arange(chosen.count)
    moved[places] = np.array(written)[np.repeat(best, lengths), np.arange(len(places))]
    middles, numbers = np.array([trial.ends[2] for trial in trials]), np.array([trial.numbers for trial in trials])
    groups.ends[2, small] = chosen.ends[0] + middles[best, every] - trials[0].ends[0]
    groups.numbers[small] = numbers[best, every]
    groups.tried[small] = np.where(best == 0, chosen.tried, -np.inf)


def _least_loss(knife: Knife, order: Ids, trials: list[Slices]) -> Ids:
    """For each group, which of its trials loses least when its sides are cut on until no cut is left."""
    able = np.array([trial.cut & (trial.tried <= 0) for trial in trials])
    able &= able[1]
    shift = len(order) // len(trials)
    sides = [
        trial.take(here).halves(number * shift) for number, (trial, here) in enumerate(zip(trials, able, strict=True))
    ]
    owner = np.concatenate([np.tile(np.flatnonzero(here) + n * able.shape[1], 2) for n, here in enumerate(able)])
    groups = sum(sides[1:], start=sides[0])
    loss = _to_the_end(knife, order, groups, owner, able.size).reshape(able.shape)
    return np.asarray(np.argmin(np.where(able, np.round(loss * _LOSS_PRECISION), np.inf), axis=0), np.int64)


def _to_the_end(knife: Knife, order: Ids, groups: Slices, owner: Ids, owners: int) -> Reals:
    """What the groups of each owner cost together, cut until no cut is left."""
    loss = np.zeros(owners)
    while groups.count:
        knife(order, order, groups, weighed=True)
        closed = ~groups.cut
        loss += weighed(owner[closed], groups.loss[closed], owners)
        owner = np.tile(owner[~closed], 2)
        groups = groups.take(~closed).halves()
    return loss
