"""Which nodes over some of the columns are feasible: a breadth-first walk that rolls up from a super-root."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.work import Work
from sfumato.publish.lattice.checker import Checker
from sfumato.publish.lattice.part import raised
from sfumato.publish.lattice.sizes import Sizes
from sfumato.publish.problem import Levels, Problem

Mask = NDArray[np.bool_]
Columns = tuple[int, ...]


class Subsets:
    """Judges nodes over subsets of the columns of a monotone problem, and counts what it did.

    A node over some columns is the node of the whole lattice that has all other columns at the top: they show one label
    and split nothing. So what holds along the lattice holds between subsets, for every model.
    """

    def __init__(self, part: Problem, work: Work) -> None:
        """Nothing is judged yet; the problem must be monotone, as ``monotone_part`` is."""
        self.part = part
        self.work = work
        self.heights: Levels = tuple(h.height for h in part.hierarchies)
        self.nodes = prod(height + 2 for height in self.heights)
        self.checked = 0
        self.tagged = 0
        self.rolled_up = 0

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Levels of each of the columns."""
        return tuple(self.heights[c] + 1 for c in columns)

    def feasible(self, columns: Columns, candidates: Mask) -> Mask:
        """The feasible ones of the candidates; every feasible node over these columns must be among them.

        How: from the lowest candidates up; whatever is coarser than a feasible one is marked without a check. All are
            rolled up from the super-root, the coarsest node that is finer than every candidate.
        """
        marked = np.zeros(candidates.shape, np.bool_)
        nodes = np.argwhere(candidates)
        if not len(nodes):
            return marked
        root = nodes.min(axis=0)
        passes = self._from(columns, root)
        checked = 0
        for node in nodes[np.argsort(nodes.sum(axis=1), kind="stable")]:
            if not marked[tuple(node)]:
                checked += 1
                if passes(self._whole(columns, node - root, 0)):
                    marked[tuple(slice(level, None) for level in node)] = True
        self.checked += checked
        self.tagged += len(nodes) - checked
        self.rolled_up += checked - bool(candidates[tuple(root)])
        self.work.advance("subsets", self.checked + self.tagged, self.nodes)
        return marked

    def _from(self, columns: Columns, root: NDArray[np.int64]) -> Callable[[Levels], bool]:
        """Judges nodes above the super-root, counted from there."""
        above = raised(self.part, self._whole(columns, root, self.heights))
        if Sizes.suffice(above):
            return Sizes(above).passes
        checker = Checker(above)
        return lambda levels: checker.judge(levels).feasible

    def _whole(self, columns: Columns, levels: NDArray[np.int64], others: Levels | int) -> Levels:
        """The levels of all columns: the given ones, and those of ``others`` elsewhere."""
        whole = list(others) if isinstance(others, tuple) else [others] * len(self.heights)
        for column, level in zip(columns, levels, strict=True):
            whole[column] = int(level)
        return tuple(whole)
