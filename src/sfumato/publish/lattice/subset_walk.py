"""Which nodes over some of the columns are feasible: a breadth-first walk, and where its frequency sets come from."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.work import Work
from sfumato.publish.lattice.checker import Checker
from sfumato.publish.lattice.cube import Cube
from sfumato.publish.lattice.part import raised
from sfumato.publish.lattice.sizes import Sizes
from sfumato.publish.problem import Levels, Problem

Mask = NDArray[np.bool_]
Columns = tuple[int, ...]
Counts = Literal["super-roots", "cube", "table"]
"""Where frequency sets come from: rolled up from a super-root that is counted from the table, the same from a cube of
all subsets, or each from the table."""


class Subsets:
    """Judges nodes over subsets of the columns of a monotone problem, and counts what it did.

    A node over some columns is the node of the whole lattice that has all other columns at the top: they show one label
    and split nothing. So what holds along the lattice holds between subsets, for every model.
    """

    def __init__(self, part: Problem, work: Work, counts: Counts = "super-roots") -> None:
        """Nothing is judged yet; the problem must be monotone, as ``monotone_part`` is."""
        self.part = part
        self.work = work
        self.cube = Cube(part, work) if counts == "cube" else None
        self.whole = _judging(part) if counts == "table" and Sizes.suffice(part) else None
        self.counts = counts
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
        self.work.spend(checked * self.part.cells.count * len(columns))
        self.checked += checked
        self.tagged += len(nodes) - checked
        self.rolled_up += self._rolled(checked, at_root=bool(candidates[tuple(root)]), whole=columns)
        self.work.advance("subsets", self.checked + self.tagged, self.nodes)
        return marked

    def _rolled(self, checked: int, *, at_root: bool, whole: Columns) -> int:
        """How many of the sets that were judged were not counted from the table."""
        if self.counts == "table":
            return 0
        return checked - (at_root and (self.cube is None or len(whole) == len(self.heights)))

    def _from(self, columns: Columns, root: NDArray[np.int64]) -> Callable[[Levels], bool]:
        """Judges nodes above the super-root, whose levels count from there."""
        if self.cube is not None:
            return _judging(raised(self.cube.at(columns), self._whole(columns, root, 0)))
        low = self._whole(columns, root, self.heights)
        if self.counts == "super-roots":
            return _judging(raised(self.part, low))
        every = self.whole or _counting(self.part)
        return lambda levels: every(tuple(a + b for a, b in zip(low, levels, strict=True)))

    def _whole(self, columns: Columns, levels: NDArray[np.int64], others: Levels | int) -> Levels:
        """The levels of all columns: the given ones, and those of ``others`` elsewhere."""
        whole = list(others) if isinstance(others, tuple) else [others] * len(self.heights)
        for column, level in zip(columns, levels, strict=True):
            whole[column] = int(level)
        return tuple(whole)


def _judging(problem: Problem) -> Callable[[Levels], bool]:
    """Judges nodes of a problem: by class sizes where that is the whole requirement."""
    if Sizes.suffice(problem):
        return Sizes(problem).passes
    checker = Checker(problem)
    return lambda levels: checker.judge(levels).feasible


def _counting(problem: Problem) -> Callable[[Levels], bool]:
    """The same with nothing remembered: each node is counted from the table."""
    return lambda levels: Checker(problem).judge(levels).feasible
