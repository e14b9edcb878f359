"""Depth-first through the set-enumeration tree, past what bounds and laws rule out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.ground.work import Work
from sfumato.publish.k_optimize.best import Best
from sfumato.publish.k_optimize.cuts import Flags
from sfumato.publish.k_optimize.leaps import Leaps
from sfumato.publish.k_optimize.nodes import Node, Nodes
from sfumato.publish.k_optimize.prices import ClassPrice, IntervalPrice
from sfumato.publish.k_optimize.start import FEW
from sfumato.publish.k_optimize.sweep import Swept, sweep

_BEFORE, _BETWEEN = 20, 4
"""So many nodes are visited before the first leap, and between two."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Open:
    """A node that has children left to visit."""

    node: Node
    """The node with the tail that is left."""
    bound: float
    """No set of cuts below it that is left to visit loses less."""


class Search:
    """The way from the root to where the search is, and what it did."""

    def __init__(self, nodes: Nodes, best: Best, work: Work) -> None:
        """Start at the root, which makes no cut and may make all."""
        self.nodes, self.best, self.work = nodes, best, work
        self.visited = self.pruned = self.dropped = 0
        requirement = nodes.requirement
        sure = requirement.plain and nodes.intervals.always_apart
        self._idle = sure and isinstance(nodes.price, ClassPrice)
        self._spoilt = self._idle and requirement.hereditary and not requirement.suppression.starred
        self._free = sure and isinstance(nodes.price, IntervalPrice)
        self.leaps = Leaps(nodes, best, work)
        self._leap_at: float = _BEFORE if nodes.cuts.count > FEW else np.inf
        self._way: list[_Open] = []
        root = nodes.at(nodes.none(), ~nodes.none())
        self._enter(root, nodes.bound(root), -np.inf)

    def run(self) -> None:
        """Visit every node that can still beat the best, or stop when the time is over.

        Where the tree is large, leaps are made between nodes: the tree alone finds better sets very late.
        """
        while self._way and not self.work.expired:
            if self.visited >= self._leap_at:
                self._leap()
            here = self._way[-1]
            found = self._next(here)
            if found is None:
                self._way.pop()
                continue
            cut, promised = found
            child = self.nodes.added(here.node, cut)
            here.node = replace(here.node, tail=child.tail)
            self._enter(child, here.bound, promised)
            self.work.advance("search", self.visited, self.visited + 1)

    def _leap(self) -> None:
        """Leap once, unless many leaps were in vain."""
        self._leap_at = self.visited + _BETWEEN
        if self.leaps.worth_while and self.leaps.leap():
            self.best.after = self.visited

    @property
    def exhausted(self) -> bool:
        """Whether no node is left that could beat the best."""
        return not self._way

    @property
    def lower_bound(self) -> float:
        """No set of cuts loses less than this."""
        return min([self.best.loss, *(one.bound for one in self._way)])

    def _enter(self, node: Node, bound: float, promised: float) -> None:
        """Visit a node, which loses at least what is ``promised``."""
        self.visited += 1
        if promised < self.best.beaten:
            self._offer(node)
        if node.tail.any():
            self._way.append(_Open(node=node, bound=bound))

    def _offer(self, node: Node) -> None:
        self.best.offer(node.head, self.nodes.loss(node, below=self.best.beaten), self.visited)

    def _next(self, here: _Open) -> tuple[int, float] | None:
        """The next cut to make and what it promises, once the tail is pruned; None where nothing can beat the best."""
        while here.node.tail.any():
            here.node = self._tight(here.node)
            here.bound = max(here.bound, self.nodes.bound(here.node))
            if here.bound >= self.best.beaten:
                self.pruned += 1
                return None
            found = sweep(self.nodes, here.node)
            drop, free = self._ruled(here.node, found)
            if not drop.any() and not free.any():
                return _first(here.node, found)
            self.dropped += int(drop.sum())
            here.node = replace(here.node, tail=here.node.tail & ~drop)
            if free.any():
                here.node = self.nodes.at(here.node.head | free, here.node.tail & ~free)
                self._offer(here.node)
        return None

    def _tight(self, node: Node) -> Node:
        """The node with a frame that is cut by its head and its tail only."""
        stale = node.frame.chosen & ~(node.head | node.tail)
        return self.nodes.without(node, stale) if stale.any() else node

    def _ruled(self, node: Node, found: Swept) -> tuple[Flags, Flags]:
        """Which cuts of the tail need not be made, and which may be made at once.

        Not to be made: what cannot beat the best, what loses too many rows; and where the metric adds up classes, what
        parts no group, or spoils every group that it parts. Made at once: where the metric adds up cells, what parts
        no group, for it only makes intervals narrower.
        """
        drop = (found.bound >= self.best.beaten) | (found.lost > self.nodes.requirement.most)
        idle = found.splits == 0
        if self._idle:
            drop |= idle
        if self._spoilt:
            drop |= found.worth == 0
        free = node.tail & idle & ~drop if self._free else np.zeros_like(drop)
        return node.tail & drop, free


def _first(node: Node, found: Swept) -> tuple[int, float]:
    """The cut of the tail that parts most groups, of several the one that promises the least loss."""
    tail = np.flatnonzero(node.tail)
    cut = int(tail[np.lexsort((found.loss[tail], -found.splits[tail]))[0]])
    return cut, float(found.loss[cut])
