"""A good first set of cuts, and the last touch on the best one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from sfumato.ground.work import Work
from sfumato.publish.k_optimize.best import Best
from sfumato.publish.k_optimize.cuts import Flags
from sfumato.publish.k_optimize.nodes import Node, Nodes
from sfumato.publish.k_optimize.sweep import sweep
from sfumato.publish.lattice.result import TIE, below
from sfumato.utility.view import Reals

FEW = 20
"""Over so few cuts the tree is searched faster than pairs of cuts are tried."""


def start(nodes: Nodes, best: Best, work: Work) -> None:
    """Go down greedily from the table without cuts; then take back one cut of the best set, or two, and go down again.

    It ends when no such step finds anything better, or when the time is over.
    """
    root = nodes.at(nodes.none(), ~nodes.none())
    best.offer(root.head, nodes.loss(root))
    descend(nodes, root, best, work)
    widths = (1, 2) if nodes.cuts.count > FEW else (1,)
    while any(_around(nodes, best, work, taken) for width in widths for taken in _choices(best, width)):
        pass


def finest(nodes: Nodes, best: Best, work: Work) -> Flags:
    """The best set with every further cut that costs nothing: nothing is hidden for nothing.

    Cuts that part no group are made together. Others that cost nothing are tried one by one while there is time.
    """
    head, most = np.array(best.head), best.loss + TIE * max(1.0, abs(best.loss))
    while True:
        node = nodes.at(head, ~head)
        found = sweep(nodes, node)
        possible = node.tail & (found.lost <= nodes.requirement.most) & (found.loss <= most)
        more = next(
            (
                one
                for one in _offers(possible, possible & (found.splits == 0), work)
                if nodes.loss(nodes.at(head | one, nodes.none())) <= most
            ),
            None,
        )
        if more is None:
            return head
        head = head | more


def _offers(possible: Flags, idle: Flags, work: Work) -> Iterator[Flags]:
    """All cuts that part nothing, then every possible cut by itself."""
    if idle.any():
        yield idle
    for cut in np.flatnonzero(possible):
        if work.expired:
            return
        yield np.arange(len(possible)) == cut


def _choices(best: Best, width: int) -> Iterator[list[int]]:
    """Each choice of so many cuts of the best set as it is now."""
    if best.head is not None:
        yield from map(list, combinations(np.flatnonzero(best.head).tolist(), width))


def _around(nodes: Nodes, best: Best, work: Work, taken: list[int]) -> bool:
    """Take back some cuts of the best set and go down from there; tells whether that finds something better."""
    if work.expired or best.head is None:
        return False
    known, head = best.loss, best.head.copy()
    head[taken] = False
    descend(nodes, nodes.at(head, ~head), best, work, held=taken[0])
    return best.loss < known


def descend(
    nodes: Nodes,
    node: Node,
    best: Best,
    work: Work,
    *,
    held: int | None = None,
    draws: np.random.Generator | None = None,
) -> Flags:
    """Make the cut that loses least as long as it loses less; tells the head that was reached.

    The cut ``held`` is not the first. With ``draws`` a cut counts for a random part of what it gains.
    """
    value = nodes.loss(node)
    while node.tail.any() and not work.expired:
        promised = _promised(nodes, node, work)
        node = nodes.without(node, ~np.isfinite(promised))
        if held is not None:
            promised[held], held = np.inf, None
        cut = int(np.argmin(promised if draws is None else _blurred(promised, value, draws)))
        if not promised[cut] < below(value):
            break
        child = nodes.added(node, cut)
        found = nodes.loss(child)
        if found < value or not np.isfinite(value):
            node, value = child, found
            best.offer(node.head, value)
        else:
            node = replace(node, tail=node.tail & (np.arange(len(promised)) != cut))
    return node.head


def _blurred(promised: Reals, value: float, draws: np.random.Generator) -> Reals:
    """The losses as if each cut gained only a random part; those that gain nothing as they are."""
    part = 1.0 - 0.5 * draws.random(len(promised))
    gains = np.isfinite(promised) & (promised < value) & np.isfinite(value)
    blurred = promised.copy()
    blurred[gains] = value - (value - promised[gains]) * part[gains]
    return blurred


def _promised(nodes: Nodes, node: Node, work: Work) -> Reals:
    """What the head would lose with each cut of the tail; infinite where that is not feasible."""
    found = sweep(nodes, node)
    possible = node.tail & (found.lost <= nodes.requirement.most)
    if nodes.price is not None:
        return np.where(possible, found.loss, np.inf)
    losses = np.full(len(possible), np.inf)
    for cut in np.flatnonzero(possible):
        if not work.expired:
            losses[cut] = nodes.loss(nodes.added(node, int(cut)))
    return losses
