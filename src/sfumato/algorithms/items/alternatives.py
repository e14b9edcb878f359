"""Coarser items as alternatives to suppression, and links from items to the sets that have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.items.problem import Cover, ItemProblem, Shown
from sfumato.counts.itemsets import Itemsets
from sfumato.counts.transactions import Holders, Transactions, ragged

# Sets of items with links from every item to the sets that hold it: the MVS-tree and the MFS-tree of the thesis.
#
# A root-to-leaf path of such a tree is a row here, and ``Link_p`` is the list of rows that hold ``p``; the counts on a
# link add up to the number of its living rows, which is kept up to date as rows die.


class Links:
    """Living sets, and how many of them hold each item."""

    def __init__(self, sets: Itemsets, count: int) -> None:
        self.sets = sets
        self.alive = np.ones(sets.count, np.bool_)
        self.counts = np.bincount(sets.codes, minlength=count).astype(np.int64)
        narrow = sets.codes.astype(np.uint16) if count < 2**16 else sets.codes  # sorted by digits, which is quick
        set_of = np.repeat(np.arange(sets.count, dtype=np.int32), np.diff(sets.starts))
        self.linked = set_of[np.argsort(narrow, kind="stable")]
        self.bounds = np.concatenate(([0], np.cumsum(self.counts)))

    @property
    def living(self) -> int:
        """How many sets live."""
        return int(self.alive.sum())

    def holding(self, item: int) -> NDArray[np.int32]:
        """The living sets that hold an item."""
        linked: NDArray[np.int32] = self.linked[self.bounds[item] : self.bounds[item + 1]]
        living: NDArray[np.int32] = linked[self.alive[linked]]
        return living

    def remove(self, sets: NDArray[np.int32]) -> None:
        """Let sets die; the counts of all their items sink."""
        self.alive[sets] = False
        self.counts -= np.bincount(self.items_of(sets), minlength=len(self.counts))

    def items_of(self, sets: NDArray[np.int32]) -> NDArray[np.int32]:
        """The items of some sets, one set behind the other."""
        items: NDArray[np.int32] = self.sets.codes[ragged(self.sets.starts, sets)]
        return items


# Showing an item as something coarser instead of leaving it out: what that would lose, and whether it would do.


LOOKED_AT = 64
"""At most so many violating sets of an item are counted again to see whether a coarser one would do."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Way:
    """One coarser node for an item."""

    node: tuple[int, ...]
    """The node."""
    members: NDArray[np.int64]
    """What is shown now and would be shown as the node."""
    penalty: float
    """The share of the column that the node blurs."""
    loss: float
    """How many maximal frequent sets hold one of them, each counted with the share of the column that is blurred."""


class Alternatives:
    """The coarser nodes of the items of one round."""

    def __init__(
        self,
        problem: ItemProblem,
        cover: Cover,
        recoding: Shown,
        now: Transactions,
        bad: Links,
        frequent: Links,
        owner: NDArray[np.int64],
    ) -> None:
        self.problem, self.cover, self.shown, self.now = problem, cover, recoding, now
        self.bad, self.frequent, self.owner = bad, frequent, owner
        self.stuck, self.share = self._closed_items()

    def _closed_items(self) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Items that can neither be left out nor rise; and the share of a frequent set that is lost with each."""
        stuck, share = np.zeros(self.now.count, np.bool_), np.ones(self.now.count)
        for item in np.flatnonzero(self.shown.closed).tolist():
            up = self._above(item, self.cover.node_of(int(self.shown.first[item])))
            stuck[item] = not up
            share[item] = min((self._penalty(item, node) for node in up), default=1.0)
        return stuck, share

    def best(self, item: int, loss: float) -> Way | None:
        """The coarser node that loses least and does, if it loses fewer than ``loss``.

        An item that cannot be left out rises by the smallest step, and what is left is counted again: leaving out
        something else may be enough then.
        """
        if self.shown.closed[item]:
            return next(iter(self._ways(item)))
        for way in self._ways(item):
            if way.loss >= loss:
                break
            if self._does(item, way):
                return way
        return None

    def next_up(self, item: int) -> list[Way]:
        """The nodes one step above an item."""
        return [self._way(item, up) for up in self._above(item, self.cover.node_of(int(self.shown.first[item])))]

    def mends(self, number: int, way: Way) -> bool:
        """Whether one violating set may stand with the node in place of the items that it covers."""
        return self._stands(number, way, self._covered(way))

    def named(self, item: int, node: tuple[int, ...]) -> str:
        """What a node is called."""
        space = self.cover.spaces[self.cover.space_of(int(self.shown.first[item]))[0]]
        return space.named(np.array(node, np.int32)[:, None])[0]

    def _ways(self, item: int) -> Iterator[Way]:
        """The nodes above an item, those first that lose least."""
        start = self.cover.node_of(int(self.shown.first[item]))
        seen, ways, waiting = {start}, [], [start]
        while waiting:
            for up in self._above(item, waiting.pop()):
                if up not in seen:
                    seen.add(up)
                    waiting.append(up)
                    ways.append(self._way(item, up))
        yield from sorted(ways, key=lambda way: (way.loss, way.penalty, way.node[::-1]))

    def _way(self, item: int, up: tuple[int, ...]) -> Way:
        first = int(self.shown.first[item])
        node, inside = self.cover.raised(first, up)
        space = self.cover.spaces[self.cover.space_of(first)[0]]
        labels = np.unique(self.shown.to[space.begin : space.begin + space.count][inside])
        members = labels[labels >= 0].astype(np.int64)
        penalty = self._penalty(item, node)
        return Way(node=node, members=members, penalty=penalty, loss=self._touched(members) * penalty)

    def _touched(self, members: NDArray[np.int64]) -> int:
        """How many maximal frequent sets hold one of some items."""
        if not self.frequent.sets.count:
            return 0
        return len(np.unique(np.concatenate([self.frequent.holding(member) for member in members.tolist()])))

    def _above(self, item: int, node: tuple[int, ...]) -> list[tuple[int, ...]]:
        return self.cover.spaces[self.cover.space_of(int(self.shown.first[item]))[0]].above(node)

    def _penalty(self, item: int, node: tuple[int, ...]) -> float:
        space = self.cover.spaces[self.cover.space_of(int(self.shown.first[item]))[0]]
        return float(space.penalty(np.array(node, np.int32)[:, None])[0])

    def _does(self, item: int, way: Way) -> bool:
        """Whether the violating sets of the item, or some of many, may stand with the node in its place."""
        rows, sets = self._covered(way), self.bad.holding(item)
        return all(self._stands(number, way, rows) for number in sets[:: max(1, len(sets) // LOOKED_AT)].tolist())

    def _covered(self, way: Way) -> NDArray[np.bool_]:
        """Which rows have an item that the node covers."""
        rows = np.zeros(self.now.rows, np.bool_)
        for member in way.members.tolist():
            rows[self.holders.of(member)] = True
        return rows

    def _stands(self, number: int, way: Way, rows: NDArray[np.bool_]) -> bool:
        model = self.problem.models[self.owner[number]]
        others = np.setdiff1d(self.bad.items_of(np.array([number])), way.members)
        records = self.holders.of_all(others.tolist())
        records = records[rows[records]]
        if not model.columns or not len(records):
            return bool(model.allows(len(records), 0))
        secret = self.problem.secrets[model.columns[0]]
        watched = getattr(model, "values", ())
        tally = np.bincount(secret.codes[records][secret.codes[records] >= 0], minlength=len(secret.values))
        named = [place for place, value in enumerate(secret.values) if not watched or value in watched]
        return bool(model.allows(len(records), int(tally[named].max(initial=0))))

    @cached_property
    def holders(self) -> Holders:
        """Who has what, as it is shown now."""
        return Holders(self.now)
