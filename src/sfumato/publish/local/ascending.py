"""Nodes of a lattice from the cheapest on, and local recoding along them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.keys import total
from sfumato.publish.local.barren import Barren
from sfumato.publish.local.carve import Carving
from sfumato.publish.local.groups import Groups
from sfumato.publish.problem import Levels, Problem
from sfumato.utility.cell_metrics import LossMetric
from sfumato.utility.view import Reals


def costs_of(problem: Problem) -> list[Reals]:
    """Per column and level, what a node costs; by the loss metric where the problem's own does not add up columns."""
    found = problem.floors()
    if found is not None:
        return found
    counts = [
        total(codes.astype(np.int64), problem.cells.sizes, len(hierarchy.levels[0].labels))
        for codes, hierarchy in zip(problem.cells.keys, problem.hierarchies, strict=True)
    ]
    return LossMetric().floors(problem.hierarchies, counts) or []


def ascending(costs: Sequence[Reals]) -> Iterator[Levels]:
    """Every node of the lattice once, cheapest first; equal ones in lexicographic order.

    >>> import numpy as np
    >>> list(ascending([np.array([0.0, 2.0]), np.array([0.0, 1.0])]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    start = (0,) * len(costs)
    waiting = [(sum(float(c[0]) for c in costs), start)]
    known = {start}
    while waiting:
        cost, node = heappop(waiting)
        yield node
        for column, level in enumerate(node):
            if level + 1 < len(costs[column]):
                above = (*node[:column], level + 1, *node[column + 1 :])
                if above not in known:
                    known.add(above)
                    heappush(waiting, (cost + float(costs[column][level + 1] - costs[column][level]), above))


def ascend(groups: Groups, costs: Sequence[Reals], work: Work) -> int:
    """Place what passes at each node, cheapest node first; tell how many nodes were looked at or ruled out."""
    carving = Carving(groups)
    barren = Barren(groups)
    looked = 0
    for looked, node in enumerate(ascending(costs), start=1):  # noqa: B007  the last number is told
        work.spend(len(groups.left) * len(costs))
        if carving.model is not None or not barren(node):
            ids, count = groups.at(node)
            ids = carving.offered(ids, count)
            if (ids >= 0).any():
                groups.place(ids, count)
        if not len(groups.left) or work.expired:
            break
        if work.due:
            work.advance("place", len(groups.of) - len(groups.left), len(groups.of))
    return looked
