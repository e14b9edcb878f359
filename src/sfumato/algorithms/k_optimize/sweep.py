"""What each remaining cut would do to a node, for all cuts at once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np

from sfumato.algorithms.k_optimize.cuts import Flags, Places
from sfumato.algorithms.k_optimize.nodes import IntervalPrice, Node, Nodes, Price
from sfumato.counts.keys import Ids, distinct, representatives, total, weighed
from sfumato.counts.tally import Counts, Tally
from sfumato.metrics.metric import Reals

# Both sides of every cut of one column at once, in every group that it parts.


_MOST = 2**24
"""The most numbers of a histogram that is held densely."""
Figures = TypeVar("Figures", Counts, Reals)


class Sides:
    """For each group and each two intervals that follow each other in it, what lies before and behind a cut there.

    All cuts between the same two neighbours part the group in the same way; ``spread`` tells it to each of them.
    """

    def __init__(self, node: Node, live: Ids, column: int) -> None:
        """Count the rows of every group and interval; ``live`` are the classes that matter."""
        self.live, self.width = live, len(node.frame.edges[column]) + 1
        groups, keys = node.ids[live], node.frame.classes.keys[column][live]
        self.ids, self.count = distinct((groups.astype(np.int32), keys), (len(node.sizes), self.width), len(live))
        place = representatives(self.ids, self.count)
        groups, keys = groups[place], keys[place]
        self._pair = (groups[1:] == groups[:-1]).nonzero()[0]
        self._ends = np.concatenate([keys[self._pair], keys[self._pair + 1]])
        self.owner = groups[self._pair]
        """The group of each two neighbours."""
        self._first = groups.searchsorted(self.owner, side="left")
        self._last = groups.searchsorted(self.owner, side="right") - 1
        self.left, self.right = self._both(total(self.ids, node.frame.classes.sizes[live], self.count))

    def parts(self, weights: Reals) -> tuple[Reals, Reals]:
        """A weight of classes summed up before and behind the cut of each two neighbours."""
        return self._both(weighed(self.ids, weights[self.live], self.count))

    def histograms(self, tally: Tally) -> tuple[Counts, Counts] | None:
        """A column's counts before and behind the cut of each two neighbours; None where they would not fit."""
        values = max(len(tally.values), 1)
        if self.count * values > _MOST:
            return None
        entry = np.full(tally.classes, -1, np.int64)
        entry[self.live] = self.ids
        known = entry[tally.owners] >= 0
        cells = entry[tally.owners[known]] * values + tally.codes[known]
        return self._both(total(cells, tally.counts[known], self.count * values).reshape(self.count, values))

    def spread(self, figures: Counts | Reals) -> Reals:
        """For each of the frame's cuts in this column, the sum of a figure over all neighbours that it parts."""
        weights = np.concatenate([figures, -figures])
        return np.asarray(np.bincount(self._ends, weights, self.width).cumsum()[:-1])

    def _both(self, entries: Figures) -> tuple[Figures, Figures]:
        upto = entries.cumsum(axis=0)
        return upto[self._pair] - (upto - entries)[self._first], upto[self._last] - upto[self._pair]


def tally_of(like: Tally, dense: Counts) -> Tally:
    """A tally of overlapping classes from their histogram, with the distribution of the whole table."""
    owners, codes = np.nonzero(dense)
    counts = dense[owners, codes]
    many = len(dense)
    return replace(like, owners=owners, codes=codes.astype(np.int32), counts=counts, classes=many, whole=like.overall)


# What each cut of the tail would do if it were added to the head, for all of them at once.


Histograms = dict[str, tuple[Counts, Counts]]
Both = tuple[Flags, Flags]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """For each cut of the table, what adding it does; only those of the tail are filled in."""

    lost: Reals
    """Rows that are then suppressed for good."""
    bound: Reals
    """No set of cuts that holds head and cut, within the tail, loses less."""
    loss: Reals
    """The head with this cut loses no less, and just so much if only what fails at first is suppressed."""
    splits: Reals
    """How many groups it parts."""
    worth: Reals
    """How many of these it may be worth to part."""


def sweep(nodes: Nodes, node: Node) -> Swept:
    """Count both sides of every cut of the tail, column by column."""
    nodes.work.spend(node.frame.classes.count * nodes.cuts.columns)
    effects = Swept(**{field.name: np.zeros(len(node.tail)) for field in fields(Swept)})
    now = _Now(nodes, node)
    for column, cuts in enumerate(node.frame.edges):
        if node.tail[cuts].any():
            sides = Sides(node, now.live, column)
            known = now.histograms(sides)
            lasting, failing = now.failing(sides, known)
            effects.lost[cuts] = node.lost + sides.spread(sides.left * lasting[0] + sides.right * lasting[1])
            effects.splits[cuts] = sides.spread(np.ones(len(sides.left)))
            effects.bound[cuts], effects.loss[cuts] = now.bound, now.loss
            if nodes.price is not None and node.least is not None:
                _weigh(effects, cuts, sides, nodes.price, node.least, lasting)
                effects.loss[cuts] += now.change(nodes.price, column, sides, known, failing)
    return effects


def _weigh(effects: Swept, cuts: Places, sides: Sides, price: Price, least: Reals, lasting: Both) -> None:
    """What sides that fail for good add to the bound, and which cuts they spoil."""
    before, behind = sides.parts(least)
    left = np.where(lasting[0], price.rate * sides.left - before, 0.0)
    right = np.where(lasting[1], price.rate * sides.right - behind, 0.0)
    effects.bound[cuts] += sides.spread(left + right)
    spoilt = (lasting[0] | lasting[1]) & price.worthless(sides.left, sides.right)
    effects.worth[cuts] = sides.spread(np.where(spoilt, 0.0, 1.0))


class _Now:
    """A node as it is: what its groups cost, and how that changes by one more cut."""

    def __init__(self, nodes: Nodes, node: Node) -> None:
        self.nodes, self.node, price = nodes, node, nodes.price
        self.live = np.flatnonzero(~node.dead[node.ids])
        self.bound, self.loss = nodes.bound(node), -np.inf
        self.target = None if price is None else price.target
        if price is not None:
            published = price.published(node.frame, node.head, node.ids, node.sizes)
            self.costs = np.where(node.failing, price.rate * node.sizes, published)
            self.loss = float(self.costs.sum())
        if isinstance(price, IntervalPrice):
            self.shown = price.of(node.frame, node.head)
            self.rows = np.where(node.failing[node.ids], 0, node.frame.classes.sizes)
            self.lifts = node.frame.lifts(node.head)

    def histograms(self, sides: Sides) -> Histograms:
        """What models and metric read of both sides, as far as it fits."""
        names = dict.fromkeys([*self.nodes.requirement.columns, *([] if self.target is None else [self.target])])
        histograms = {name: sides.histograms(self.node.frame.classes.tally(name)) for name in names}
        return {name: both for name, both in histograms.items() if both is not None}

    def failing(self, sides: Sides, known: Histograms) -> tuple[Both, Both]:
        """Which sides fail for good, and which fail at all."""
        tally, many = self.node.frame.classes.tally, len(sides.left)
        read = [name for name in self.nodes.requirement.columns if name in known]
        tallies = {name: tally_of(tally(name), np.concatenate(known[name])) for name in read}
        lasting, every = self.nodes.requirement.failing(np.concatenate([sides.left, sides.right]), tallies)
        return (lasting[:many], lasting[many:]), (every[:many], every[many:])

    def change(self, price: Price, column: int, sides: Sides, known: Histograms, fails: Both) -> Reals:
        """By how much each cut of a column changes the loss."""
        gained = np.zeros(sides.width - 1)
        if isinstance(price, IntervalPrice):
            before, behind = sides.parts(self.shown)
            gained = self._narrowed(price, column, sides, fails)
        elif self.target is not None and self.target not in known:
            return np.full(sides.width - 1, -np.inf)
        else:
            counts = (None, None) if self.target is None else known[self.target]
            before, behind = price.of(sides.left, counts[0]), price.of(sides.right, counts[1])
        left = np.where(fails[0], price.rate * sides.left, before)
        right = np.where(fails[1], price.rate * sides.right, behind)
        return np.asarray(sides.spread(left + right - self.costs[sides.owner]) - gained)

    def _narrowed(self, price: IntervalPrice, column: int, sides: Sides, fails: Both) -> Reals:
        """What published rows gain in this column, because a cut makes its interval two narrower ones."""
        node, cuts, inside = self.node, self.nodes.cuts, self.lifts[column]
        upto = np.zeros(sides.width + 1)
        np.bincount(node.frame.classes.keys[column], self.rows, sides.width).cumsum(out=upto[1:])
        first, last = inside.searchsorted(inside[:-1]), inside.searchsorted(inside[1:], side="right")
        was = ~node.failing[sides.owner]
        before = upto[1:-1] - upto[first] + sides.spread(np.where(fails[0], 0, sides.left) - was * sides.left)
        behind = upto[last] - upto[1:-1] + sides.spread(np.where(fails[1], 0, sides.right) - was * sides.right)
        lows, highs = cuts.limits(node.head, column)
        edges = node.frame.edges[column]
        mine = node.tail[edges].nonzero()[0]
        low, place, high = lows[inside[mine]], edges[mine] - cuts.starts[column], highs[inside[mine + 1]]
        whole = price.intervals.costs(column, low, high)
        gained = np.zeros(len(edges))
        gained[mine] += before[mine] * (whole - price.intervals.costs(column, low, place))
        gained[mine] += behind[mine] * (whole - price.intervals.costs(column, place + 1, high))
        return price.share * gained
